"""Numbers and tests of two judges in a project; the library computes them
(`geval/reports/pair_numbers.py`, `pair_tests.py`)."""

from collections.abc import Iterable

from evaluations.models import Judge, Project
from evaluations.reports.searched import searches_behind
from geval.reports.data import ReportData
from geval.reports.pair_numbers import PairNumbers, pair_numbers
from geval.reports.pair_tests import PairTests, pair_tests
from geval.reports.pair_view import PairView


def seen_by_search(project: Project, judges: Iterable[Judge]) -> dict[str, tuple[str, ...]]:
    """By criterion, the labels of judges whose search has seen documents behind their numbers."""
    searches, both = searches_behind(project), tuple(judges)
    return {about.name: searches.made_among(both, about.pk) for about in project.criteria.all()}


def numbers_of_view(project: Project, data: ReportData, view: PairView) -> PairNumbers:
    """What a page shows of two judges, beside their tests."""
    judge_ids = list(project.judges.values_list("pk", flat=True))
    return pair_numbers(data, project.criteria.all(), judge_ids, view)


def tests_of_view(project: Project, data: ReportData, view: PairView) -> PairTests:
    """The tests that a page shows."""
    options = view.options
    criteria = [about for about in project.criteria.all() if options.shows(about.pk)]
    return PairTests(tuple(pair_tests(data.selected(options), criteria, view.first, view.second)))
