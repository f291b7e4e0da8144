"""The list of outputs, ranked by the gap between a judge and people: for the page, and as rows for
files, the API and the terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from geval.reports.data import ReportData
from geval.reports.drawings.forest import Axis
from geval.reports.gap_view import EVERY, LOOKED_AT, OPEN, GapView
from geval.reports.gaps import Gaps, cell_of, in_words
from geval.statistics.scales import Scale
from geval.statistics.types import IntArray
from geval.texts.numbers import signed
from geval.texts.spreadsheets import csv_line

# The default and the largest number of listed gaps.
USUAL_GAPS, MOST_GAPS = 20, 1_000


@dataclass(frozen=True)
class Entry:
    """An output in the list; `people` and `judge` are places on the drawn scale, "" for labels
    without an order, whose `gap` is both labels."""

    pk: int
    rank: int
    begins: str
    gap: str
    system: str
    words: int
    people: str
    judge: str
    cause: str
    is_open: bool


def index_of(ids: IntArray, pk: int) -> int:
    """Return the index of an id; -1 if it is missing."""
    places = np.flatnonzero(ids == pk)
    return int(places[0]) if len(places) else -1


def least_gap(scale: Scale) -> float:
    """Return the gap above which a score differs from people's: of pass or fail half of the scale,
    so that the verdicts differ."""
    return (scale.highest - scale.lowest) / 2 if scale.is_pass_fail else 0.0


def listed_outputs(
    view: GapView,
    data: ReportData,
    gaps: Gaps,
    ids: IntArray,
    here: Mapping[int, str],
    has_cause: np.ndarray,
    scale: Scale,
) -> np.ndarray:
    """Return a mask of the ranked outputs that the list shows.

    Args:
        ids: of all ranked outputs, in their order.
        here: causes by output.
        has_cause: mask of `ids` with a cause.
    """
    listed = np.ones(len(ids), dtype=bool)
    system = data.system_ids[gaps.outputs.system][gaps.order] if len(ids) else ids
    if view.system:
        listed &= system == view.system
    if view.side:
        gap = gaps.gap[gaps.order]
        least = least_gap(scale)
        listed &= gap > least if view.side == "higher" else gap < -least
    if view.cell and not scale.is_ordered:
        pairs = zip(gaps.people[gaps.order].tolist(), gaps.scores[gaps.order].tolist(), strict=True)
        listed &= np.array([cell_of(scale, *pair) == view.cell for pair in pairs], dtype=bool)
    if view.cause == OPEN:
        listed &= ~has_cause
    elif view.cause == LOOKED_AT:
        listed &= has_cause
    elif view.cause != EVERY:
        with_it = [pk for pk, cause in here.items() if cause == view.cause]
        listed &= np.isin(ids, np.array(with_it, dtype=np.int64))
    return listed


def list_entries(
    data: ReportData,
    gaps: Gaps,
    ids: IntArray,
    here: Mapping[int, str],
    scale: Scale,
    begins: Mapping[int, str],
    open_: int,
) -> tuple[Entry, ...]:
    """Return a part of the list.

    Args:
        ids: of all ranked outputs, in their order.
        here: causes by output.
        begins: the beginnings of the shown outputs' texts, in order.
        open_: the open output.
    """
    width = scale.highest - scale.lowest
    axis = Axis(scale.lowest - 0.1 * width, scale.highest + 0.1 * width)
    entries = []
    for pk, text in begins.items():
        rank = index_of(ids, pk)
        place = int(gaps.order[rank])
        people, gap = float(gaps.people[place]), float(gaps.gap[place])
        entries.append(
            Entry(
                pk=pk,
                rank=rank + 1,
                begins=text,
                gap=signed(gap)
                if scale.is_ordered
                else in_words(scale, people, float(gaps.scores[place])),
                system=data.system_names[gaps.outputs.system[place]],
                words=int(data.words[gaps.at[place]]),
                people=axis.at(people) if scale.is_ordered else "",
                judge=axis.at(people + gap) if scale.is_ordered else "",
                cause=here.get(pk, ""),
                is_open=pk == open_,
            )
        )
    return tuple(entries)


@dataclass(frozen=True)
class GapRow:
    """An output on which a judge and people differ; the largest gap has rank 1.

    `people` is the human score, `gap` is the score minus people's, in points of the criterion's
    scale; a score on another scale counts as the rating of the same rank. Labels without an order
    are words, and their gap is 1.
    """

    rank: int
    criterion: str
    judge: str
    doc_id: str
    system_id: str
    people: float | str
    score: float | str
    gap: float
    cause: str
    output: str


GAP_COLUMNS = tuple(field.name for field in fields(GapRow))


def gap_rows(
    data: ReportData,
    gaps: Gaps,
    places: Sequence[int],
    names: tuple[str, str],
    scale: Scale,
    *,
    causes: Mapping[int, str],
    texts: Mapping[int, str],
) -> list[GapRow]:
    """Return some gaps as rows, the largest first.

    Args:
        places: their positions in the arrays of `gaps`.
        names: names of the criterion and the judge.
        causes, texts: by the output's id.
    """
    rows = []

    def shown(value: float) -> float | str:
        return scale.label_at(value) or round(value, 4)

    for rank, place in enumerate(places, start=1):
        index = int(gaps.at[place])
        pk = int(data.output_ids[index])
        doc_id, system = data.name_of(index)
        rows.append(
            GapRow(
                rank,
                *names,
                doc_id,
                system,
                shown(float(gaps.people[place])),
                shown(float(gaps.scores[place])),
                round(float(gaps.gap[place]), 4),
                causes.get(pk, ""),
                texts[pk],
            )
        )
    return rows


def gaps_as_csv(rows: list[GapRow]) -> Iterator[str]:
    """Return a header and a line for each gap."""
    yield csv_line(GAP_COLUMNS)
    for row in rows:
        yield csv_line(asdict(row).values())
