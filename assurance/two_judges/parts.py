"""Numbers and tests of two judges in a project, and a judge's price in relation to its agreement,
as parts of pages; the library computes them (`geval/reports/pair_numbers.py`, `pair_tests.py`).
"""

from collections.abc import Iterable

from django.db.models import Avg, Count, Q

from assurance.two_judges.probabilities import ProbabilityNumbers, probabilities_of_view
from evaluations.models import ItemState, Judge, ModelReply, Project, RunItem
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.parts import PageParts, part_of_page
from geval.llm.parsing import Reason
from geval.reports.costs import JudgeAnswers, JudgeCost
from geval.reports.data import ReportData
from geval.reports.dearer import PricedJudge
from geval.reports.pair_numbers import PairNumbers, first_outputs, pair_numbers
from geval.reports.pair_tests import PairTests, pair_tests
from geval.reports.pair_view import PairView, read_pair_view


def seen_by_search(project: Project, judges: Iterable[Judge]) -> dict[str, tuple[str, ...]]:
    """Return, by criterion, the labels of judges whose search has seen documents behind their
    numbers."""
    searches, both = searches_behind(project), tuple(judges)
    return {about.name: searches.made_among(both, about.pk) for about in project.criteria.all()}


def _numbers(project: Project, data: ReportData, view: PairView) -> PairNumbers:
    judge_ids = list(project.judges.values_list("pk", flat=True))
    return pair_numbers(data, project.criteria.all(), judge_ids, view)


def _tests(project: Project, data: ReportData, view: PairView) -> PairTests:
    options = view.options
    criteria = [about for about in project.criteria.all() if options.shows(about.pk)]
    return PairTests(tuple(pair_tests(data.selected(options), criteria, view.first, view.second)))


PAIR = part_of_page(PairNumbers, _numbers, first_outputs)
PROBABILITIES = part_of_page(ProbabilityNumbers, probabilities_of_view)
TESTS = part_of_page(PairTests, _tests)
PAGES = (
    PageParts("compare", "judge_compare", read_pair_view, (PAIR,)),
    PageParts("probabilities", "judge_probabilities", read_pair_view, (PROBABILITIES,)),
    PageParts("pair-tests", "judge_compare", read_pair_view, (TESTS,), is_slow=True),
)


# Number of replies over which the mean response time is taken.
TIMED_REPLIES = 10_000


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
