"""The largest gaps between a judge and people as rows, for files, the API and the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from geval.reports.data import ReportData
from geval.reports.gaps import Gaps
from geval.texts.spreadsheets import csv_line

# The default and the largest number of listed gaps.
USUAL_GAPS, MOST_GAPS = 20, 1_000


@dataclass(frozen=True)
class GapRow:
    """An output on which a judge and people differ; the largest gap has rank 1.

    `people` is the human score, `gap` is the score minus people's, in points of the criterion's
    scale; a score on another scale counts as the rating of the same rank.
    """

    rank: int
    criterion: str
    judge: str
    doc_id: str
    system_id: str
    people: float
    score: float
    gap: float
    cause: str
    output: str


COLUMNS = tuple(field.name for field in fields(GapRow))


def gap_rows(
    data: ReportData,
    gaps: Gaps,
    places: Sequence[int],
    names: tuple[str, str],
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
                round(float(gaps.people[place]), 4),
                round(float(gaps.scores[place]), 4),
                round(float(gaps.gap[place]), 4),
                causes.get(pk, ""),
                texts[pk],
            )
        )
    return rows


def gaps_as_csv(rows: list[GapRow]) -> Iterator[str]:
    """Return a header and a line for each gap."""
    yield csv_line(COLUMNS)
    for row in rows:
        yield csv_line(asdict(row).values())
