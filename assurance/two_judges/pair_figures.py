"""What pages about two judges read from a project: numbers, and what a judge costs; the library
computes them (`geval/reports/pair_numbers.py`, `costs.py`).
"""

from collections.abc import Iterable

from evaluations.models import Judge, Project
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.parts import PageParts, part_of_page
from geval.reports.costs import JudgeCost, PricedJudge
from geval.reports.data import ReportData
from geval.reports.pair_numbers import PairNumbers, first_outputs, pair_numbers
from geval.reports.pairs import PairView, read_pair_view


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


PAIR = PageParts(
    "compare",
    "judge_compare",
    read_pair_view,
    part_of_page(PairNumbers, _numbers, first_outputs),
)
