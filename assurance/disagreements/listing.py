"""The largest gaps between a judge and people, with texts and causes."""

from evaluations.models import CandidateOutput, GapCause, Project
from geval.reports.gap_list import USUAL_GAPS, GapRow, gap_rows
from geval.reports.gap_numbers import GapNumbers


def largest_gaps_as_rows(
    project: Project, numbers: GapNumbers, most: int = USUAL_GAPS
) -> list[GapRow]:
    """Return the largest gaps of a judge on a criterion, with texts and the causes that members
    gave; empty if there is no judge or criterion."""
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
    names = (criterion.name, judge.label)
    return gap_rows(data, gaps, order, names, causes=causes, texts=texts)
