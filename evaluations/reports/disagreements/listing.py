"""The largest gaps between a judge and people as rows, for files, the API and the terminal."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from evaluations.models import CandidateOutput, GapCause, Project
from geval.reports.gap_numbers import GapNumbers
from geval.texts.spreadsheets import csv_line

# How many are listed where nothing else is asked for, and at most.
USUAL_GAPS, MOST_GAPS = 20, 1_000


@dataclass(frozen=True)
class GapRow:
    """An output on which a judge and people differ; the largest gap has rank 1.

    `people` is the human score, `gap` score less people in points of the criterion's scale; a score
    on another scale counts as the rating of the same rank.
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


def largest_gaps_as_rows(
    project: Project, numbers: GapNumbers, most: int = USUAL_GAPS
) -> list[GapRow]:
    """The largest gaps of a judge on a criterion, with their texts and the causes that members
    gave; empty where the judge or the criterion has none."""
    if numbers.gaps is None:
        return []
    gaps, data = numbers.gaps, numbers.data
    order = gaps.order[:most].tolist()
    ids = data.output_ids[gaps.at[order]].tolist()
    texts = dict(CandidateOutput.objects.filter(pk__in=ids).values_list("pk", "text"))
    criterion = project.criteria.get(pk=numbers.criterion)
    judge = project.judges.get(pk=numbers.judge)
    causes = dict(
        GapCause.objects.of_project(project)
        .filter(judge=judge, criterion=criterion, output__in=ids)
        .values_list("output", "cause")
    )
    rows = []
    for rank, (place, pk) in enumerate(zip(order, ids, strict=True), start=1):
        doc_id, system = data.name_of(int(gaps.at[place]))
        rows.append(
            GapRow(
                rank,
                criterion.name,
                judge.label,
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
    """A header and a line for each gap."""
    yield csv_line(COLUMNS)
    for row in rows:
        yield csv_line(asdict(row).values())
