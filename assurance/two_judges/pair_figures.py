"""What pages about two judges read from a project: numbers, the probabilities that judges
gave to the points of a scale, and what a judge costs and how it answered; the library computes them
(`geval/reports/pair_numbers.py`, `probabilities.py`, `costs.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Avg, Count, Q

from evaluations.models import Criterion, ItemState, Judge, ModelReply, Project, RunItem
from evaluations.models.newest_scores import COUNTS, newest_scores
from evaluations.models.query_arrays import fetch_groups, id_list, ids_of_key, two_ids
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.parts import PageParts, part_of_page
from geval.llm.parsing import Reason
from geval.reports.costs import JudgeAnswers, JudgeCost, PricedJudge
from geval.reports.data import ReportData
from geval.reports.pair_numbers import PairNumbers, first_outputs, pair_numbers
from geval.reports.pairs import PairView, read_pair_view
from geval.reports.probabilities import (
    MOST_POINTS,
    PairProbabilities,
    Probabilities,
    on_scale,
    pair_probabilities,
)
from geval_site.sql import fetch_rows

# Keys of an archive's distribution that are not numbers are not points.
_POINT = r"""CASE WHEN d.key ~ '^-?\d{1,12}(\.\d{1,12})?$' THEN d.key::float8 ELSE 'NaN' END"""
# Shares among the points alone, without that of "n/a".
_SHARE = """CASE WHEN jsonb_typeof(d.value) = 'number' THEN d.value::float8
    / CASE WHEN jsonb_typeof(n.distribution -> 'n/a') = 'number'
        THEN nullif(1 - (n.distribution -> 'n/a')::float8, 0) ELSE 1 END END"""
_OBJECT = "CASE WHEN jsonb_typeof(n.distribution) = 'object' THEN n.distribution END"

_JUDGES_WITH_DISTRIBUTIONS = f"""
    SELECT DISTINCT r.judge_id FROM evaluations_evaluationrun r, LATERAL (
        SELECT s.distribution FROM evaluations_score s WHERE s.run_id = r.id LIMIT 1000
    ) AS few WHERE r.project_id = %s AND few.distribution IS NOT NULL AND {COUNTS}"""
# Number of replies over which the mean response time is taken.
TIMED_REPLIES = 10_000


@dataclass(frozen=True)
class ProbabilityNumbers:
    """The contents of the page of two judges' probabilities, by criterion."""

    criteria: tuple[PairProbabilities, ...]


def judges_with_probabilities(project: Project) -> list[int]:
    """Return the ids of judges with distributions behind their scores. Checks a thousand scores per
    run, because checking all would take seconds for judges without any."""
    return [judge for (judge,) in fetch_rows(_JUDGES_WITH_DISTRIBUTIONS, [project.pk])]


def read_probabilities(
    data: ReportData, criteria: Sequence[Criterion], judge_ids: Sequence[int]
) -> Probabilities:
    """Return the newest distributions of judges, for the outputs in the data."""
    short = {about.pk: about for about in criteria if len(about.scale.points) <= MOST_POINTS}
    newest = newest_scores(
        f"r.judge_id IN ({id_list([*judge_ids])}) AND s.criterion_id IN ({id_list([*short])})"
    )
    groups = fetch_groups(
        two_ids("n.criterion_id", "n.judge_id"),
        ["n.output_id", _POINT, f"coalesce({_SHARE}, 'NaN')"],
        f"FROM ({newest}) AS n CROSS JOIN LATERAL jsonb_each({_OBJECT}) AS d(key, value)"
        " WHERE n.value IS NOT NULL",
    )
    return {
        ids_of_key(key): on_scale(data, short[ids_of_key(key)[0]].scale.points, *columns)
        for key, columns in groups.items()
    }


def probabilities_of_view(project: Project, data: ReportData, view: PairView) -> ProbabilityNumbers:
    """Return the numbers of a view of the page."""
    chosen = data.selected(view.options)
    criteria = [about for about in project.criteria.all() if view.options.shows(about.pk)]
    probabilities = read_probabilities(chosen, criteria, [view.first, view.second])
    return ProbabilityNumbers(
        pair_probabilities(chosen, criteria, probabilities, view.first, view.second)
    )


def seen_by_search(project: Project, judges: Iterable[Judge]) -> dict[str, tuple[str, ...]]:
    """Return, by criterion, the labels of judges whose search has seen documents behind their
    numbers."""
    searches, compared = searches_behind(project), tuple(judges)
    return {about.name: searches.made_among(compared, about.pk) for about in project.criteria.all()}


def _numbers(project: Project, data: ReportData, view: PairView) -> PairNumbers:
    judge_ids = list(project.judges.values_list("pk", flat=True))
    return pair_numbers(data, project.criteria.all(), judge_ids, view)


def priced_judge(judge: Judge, cost: JudgeCost) -> PricedJudge:
    """Return a judge as its price is compared with its agreement."""
    money = None if cost.money is None else float(cost.money)
    return PricedJudge(judge.label, money, judge.request_options)


def answers_of(judge: Judge) -> JudgeAnswers:
    """Return how often and how fast a judge answered, over all its runs."""
    items = RunItem.objects.filter(run__in=judge.runs.counting()).order_by()
    counted = items.filter(state__in=(ItemState.DONE, ItemState.FAILED)).aggregate(
        all=Count("pk"),
        failed=Count("pk", filter=Q(state=ItemState.FAILED)),
        declined=Count("pk", filter=Q(state=ItemState.FAILED, reason=Reason.REFUSAL)),
    )
    replies = items.exclude(reply=None).values("reply")[:TIMED_REPLIES]
    timed = ModelReply.objects.filter(pk__in=replies).aggregate(mean=Avg("seconds"))
    return JudgeAnswers(counted["all"], counted["failed"], counted["declined"], timed["mean"])


PAIR = PageParts(
    "compare",
    "judge_compare",
    read_pair_view,
    part_of_page(PairNumbers, _numbers, first_outputs),
)
PROBABILITIES = PageParts(
    "probabilities",
    "judge_probabilities",
    read_pair_view,
    part_of_page(ProbabilityNumbers, probabilities_of_view),
)
