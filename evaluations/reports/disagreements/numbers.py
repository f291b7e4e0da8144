"""The numbers of the page of disagreements: which outputs are ranked, and what they have in
common."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluations.models import EvaluationRun, Project
from evaluations.models.noted_changes import state_of
from evaluations.reports.data import fill_judges
from evaluations.reports.disagreements.topic_words import topic_words
from geval.reports.data import ReportData
from geval.reports.gap_patterns import Patterns, patterns_of
from geval.reports.gap_view import GapView, first_of
from geval.reports.gaps import (
    Gaps,
    gaps_of,
    judges_on,
    strongest,
)
from geval.reports.memo import remembered, remembered_as
from geval.reports.samples import about_sample
from geval.statistics.correlation import mean_by_document
from geval.statistics.scales import short

# Of a large project so many outputs are listed.
MOST_LISTED = 10_000


@dataclass(frozen=True, eq=False)
class GapNumbers:
    """What a page shows of a judge on a criterion (both 0 where there is none), of the scores of a
    run (0: the newest).

    `criteria` are those that have a judge, `judges` those with scores on this one. `outputs` counts
    those with a gap, of which `gaps` may hold only the largest; `data` has what is needed of them.
    `sample` says which outputs the numbers describe, where these are not all outputs alike; `rho`
    is Spearman's, averaged over documents.
    """

    criterion: int
    judge: int
    run: int
    criteria: tuple[int, ...]
    judges: tuple[int, ...]
    data: ReportData
    gaps: Gaps | None = None
    outputs: int = 0
    large: int = 0
    shift: str = ""
    patterns: Patterns | None = None
    sample: tuple[str, ...] = ()
    rho: float | None = None


def rated_outputs(numbers: GapNumbers, output_ids: Collection[int]) -> dict[int, float]:
    """What people gave outputs that have a gap, by id; others are left out."""
    if numbers.gaps is None:
        return {}
    gaps = numbers.gaps
    ids = numbers.data.output_ids[gaps.at]
    places = np.flatnonzero(np.isin(ids, np.fromiter(output_ids, dtype=np.int64)))
    return dict(zip(ids[places].tolist(), gaps.people[places].tolist(), strict=True))


def largest_gaps(numbers: GapNumbers) -> GapNumbers:
    """What a worker stores of a large project's view: the largest gaps alone."""
    if numbers.gaps is None:
        return replace(numbers, data=numbers.data.only(np.zeros(len(numbers.data.outputs), bool)))
    wanted = {
        key: scores
        for key, scores in numbers.data.judges.items()
        if key[0] == numbers.criterion or key[1] == numbers.judge
    }
    few, gaps = strongest(replace(numbers.data, judges=wanted), numbers.gaps, MOST_LISTED)
    return replace(numbers, data=few, gaps=gaps)


def gap_numbers(project: Project, everything: ReportData, view: GapView) -> GapNumbers:
    """The numbers of a view; what it does not name is chosen: the first criterion with a judge, and
    the judge that ranks outputs most like people."""
    criteria = {one.pk: one for one in project.criteria.all()}
    judge_ids = list(project.judges.values_list("pk", flat=True))
    data = everything.selected(view.options)
    judged = tuple(pk for pk in criteria if any(on == pk for on, _judge in data.judges))
    chosen = first_of(view.criterion, criteria, (judged or (0,))[0])
    ranked = [pk for pk in (judges_on(data, chosen) if chosen else ()) if pk in judge_ids]
    judge = first_of(view.judge, judge_ids, (ranked or [0])[0])
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
        large=int(gaps.large.sum()),
        shift=_shift(gaps),
        patterns=project_patterns(project, data, gaps, chosen),
        sample=about_sample(data.humans[chosen]),
        rho=_rho(data, chosen, judge),
    )


def project_patterns(project: Project, data: ReportData, gaps: Gaps, criterion: int) -> Patterns:
    """What the large gaps of a judge on a criterion have in common; found once for the same
    numbers, as every case's page says it."""
    human = data.humans[criterion]
    names = hash((data.system_names, human.annotators))
    parts = (
        *(project.pk, state_of(project.pk).get((None, None)), names, data.document_ids),
        *(gaps.outputs, gaps.at, gaps.gap, gaps.strength, gaps.scores, human.ratings, data.words),
    )
    return remembered_as(
        "gap patterns",
        parts,
        lambda: patterns_of(data, gaps, criterion, partial(topic_words, project)),
    )


def scores_of_run(data: ReportData, run: EvaluationRun, criterion: int) -> ReportData:
    """The data with the scores that one run gave, in place of its judge's newest."""
    alone = replace(data, judges={})
    fill_judges(alone, [run.judge_id], [criterion], run=run)
    key = (criterion, run.judge_id)
    others = {one: scores for one, scores in data.judges.items() if one != key}
    return replace(data, judges=others | alone.judges)


def _rho(data: ReportData, criterion: int, judge: int) -> float | None:
    scores = data.judges.get((criterion, judge))
    if scores is None:
        return None
    human = data.humans[criterion].mean
    rho = float(remembered(mean_by_document, data.units_on(criterion), human, scores))
    return None if np.isnan(rho) else rho


def _shift(gaps: Gaps) -> str:
    """How much the judge is stricter or milder than people, where that is clear."""
    if gaps.shift is None or gaps.mapped or not gaps.shift.is_clear:
        return ""
    word = "strict" if gaps.shift.mean < 0 else "mild"
    return f"{word} by {short(round(abs(gaps.shift.mean), 2))}"
