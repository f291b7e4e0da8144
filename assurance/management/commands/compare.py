"""`manage.py compare PROJECT FIRST SECOND`: which of two judges ranks outputs more like people,
whose probabilities are right, and what each costs."""

from argparse import ArgumentParser
from typing import Any

from assurance.two_judges.pair_figures import (
    answers_of,
    judges_with_probabilities,
    priced_judge,
    read_probabilities,
    seen_by_search,
)
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.reports.data import load_data
from evaluations.reports.judge_costs import costs_of
from geval.reports.costs import AgreementGap, compare_prices, cost_in_words
from geval.reports.pairs import Pair, pair_on
from geval.reports.probabilities import lines_in_words, pair_probabilities
from geval.reports.samples import about_searches, marked
from geval.reports.words import SYMBOLS
from geval.statistics.jackknife import interval_of_difference
from geval.statistics.same_documents import on_same_documents


class Command(SiteCommand):
    help = (
        "Compare two judges on the same documents. First by the difference of their correlations"
        " with people, with its interval; then by the probabilities that they gave to"
        " points, where both did, and by price, speed and missing scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("first", help="a judge")
        parser.add_argument("second", help="another judge")
        parser.add_argument("--criterion", action="append", metavar="C", help="(default: all)")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judges = [find_judge(project, options[name]) for name in ("first", "second")]
        criteria = find_criteria(project, options["criterion"])
        data = load_data(project, judges, criteria)
        first, second = (judge.pk for judge in judges)
        seen = seen_by_search(project, judges)
        pairs = [pair_on(data, criterion, first, second) for criterion in criteria]
        gaps = [_gap(pair, is_seen=bool(seen[pair.criterion.name])) for pair in pairs if pair]
        for gap in gaps:
            self.stdout.write(
                f"{judges[0].label} less {judges[1].label}: {SYMBOLS['spearman']} {gap.in_words(1)}"
            )
        if {first, second} <= {*judges_with_probabilities(project)}:
            probabilities = read_probabilities(data, criteria, [first, second])
            names = (judges[0].label, judges[1].label)
            for pair in pair_probabilities(data, criteria, probabilities, first, second):
                lines = "\n".join(lines_in_words(pair, names))
                self.stdout.write(f"{lines}{about_searches(seen[pair.name])}")
        costs = costs_of(judges)
        for judge, cost in zip(judges, costs, strict=True):
            self.stdout.write(cost_in_words(cost, answers_of(judge)))
        priced = [priced_judge(*each) for each in zip(judges, costs, strict=True)]
        if dearer := compare_prices(priced[0], priced[1], gaps, SYMBOLS["spearman"]):
            self.stdout.write(dearer)


def _gap(pair: Pair, *, is_seen: bool) -> AgreementGap:
    """Return the difference in correlation with people, as on the page of two judges."""
    same = on_same_documents(pair.outputs, pair.human, pair.first, pair.second)
    of_first, of_second = same.means
    name = marked(pair.criterion.name, is_seen=is_seen)
    return AgreementGap(name, of_first - of_second, interval_of_difference(same).ends)
