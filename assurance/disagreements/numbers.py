"""The numbers of the page of disagreements: the ranked outputs, with texts and causes."""

from collections.abc import Mapping
from dataclasses import replace

from evaluations.models import CandidateOutput, Criterion, EvaluationRun, GapCause, Judge, Project
from evaluations.reports.data import fill_judges
from evaluations.reports.report import criterion_result
from evaluations.reports.serving.parts import PageParts, part_of_page
from geval.reports.data import ReportData
from geval.reports.gap_list import USUAL_GAPS, GapRow, gap_rows
from geval.reports.gap_view import GapView, first_of, read_gap_view
from geval.reports.gaps import (
    GapNumbers,
    gaps_of,
    judges_on,
    largest_gaps,
    rho_on,
    shift_in_words,
)
from geval.reports.label_results import labels_result
from geval.reports.samples import about_sample


def gap_numbers(project: Project, everything: ReportData, view: GapView) -> GapNumbers:
    """Return the numbers of a view. Defaults are the first criterion with a judge, and the best
    judge on it, as its report has it."""
    criteria = {record.pk: record for record in project.criteria.all()}
    judges = {record.pk: record for record in project.judges.all()}
    data = everything.selected(view.options)
    judged = tuple(pk for pk in criteria if any(on == pk for on, _judge in data.judges))
    chosen = first_of(view.criterion, criteria, (judged or (0,))[0])
    ranked = _judges_on(criteria.get(chosen), judges, data)
    judge = first_of(view.judge, judges)
    is_ordered = bool(chosen) and criteria[chosen].scale.is_ordered
    if not judge and ranked:
        judge = ranked[0]
        if is_ordered:
            result = criterion_result(
                project, criteria[chosen], options=view.options, data=data, probed=()
            )
            judge = result.best.pk if result.best else judge
    runs = project.runs.counting().filter(judge=judge, pk=view.run) if judge else ()
    run = next(iter(runs), None)
    listed = tuple(sorted({*ranked, *([judge] if judge and ranked else [])}))
    numbers = GapNumbers(chosen, judge, run.pk if run else 0, judged, listed, data)
    if not chosen or not judge:
        return numbers
    if run is not None:
        data = scores_of_run(everything, run, chosen).selected(view.options)
    gaps = gaps_of(data, criteria[chosen], judge, by=view.by)
    return replace(
        numbers,
        data=data,
        gaps=gaps,
        outputs=len(gaps.at),
        shift=shift_in_words(gaps),
        sample=about_sample(data.humans[chosen]),
        rho=rho_on(data, chosen, judge) if is_ordered else None,
    )


def _judges_on(
    criterion: Criterion | None, judges: Mapping[int, Judge], data: ReportData
) -> list[int]:
    """Return the judges of a criterion, the one that agrees best with people first."""
    if criterion is None:
        return []
    if not criterion.scale.is_ordered:
        return [own.pk for own in labels_result(criterion, list(judges.values()), data).judges]
    return [pk for pk in judges_on(data, criterion.pk) if pk in judges]


def scores_of_run(data: ReportData, run: EvaluationRun, criterion: int) -> ReportData:
    """Return the data with one run's scores in place of its judge's newest."""
    alone = replace(data, judges={})
    fill_judges(alone, [run.judge_id], [criterion], run=run)
    key = (criterion, run.judge_id)
    others = {pk: scores for pk, scores in data.judges.items() if pk != key}
    return replace(data, judges=others | alone.judges)


GAPS = PageParts(
    "disagreements",
    "disagreement_list",
    read_gap_view,
    part_of_page(GapNumbers, gap_numbers, largest_gaps, has_labels=True),
)


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
    return gap_rows(data, gaps, order, names, criterion.scale, causes=causes, texts=texts)
