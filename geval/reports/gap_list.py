"""The list of outputs, ranked by the gap between a judge and people."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.reports.drawings.forest import Axis
from geval.reports.gap_view import EVERY, LOOKED_AT, OPEN, GapView
from geval.reports.gaps import Gaps
from geval.statistics.scales import Scale
from geval.statistics.types import IntArray
from geval.texts.numbers import signed


@dataclass(frozen=True)
class Entry:
    """An output in the list."""

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


def listed_outputs(
    view: GapView,
    data: ReportData,
    gaps: Gaps,
    ids: IntArray,
    here: Mapping[int, str],
    has_cause: np.ndarray,
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
    if view.without:
        listed &= system != view.without
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
                gap=signed(gap),
                system=data.system_names[gaps.outputs.system[place]],
                words=int(data.words[gaps.at[place]]),
                people=axis.at(people),
                judge=axis.at(people + gap),
                cause=here.get(pk, ""),
                is_open=pk == open_,
            )
        )
    return tuple(entries)
