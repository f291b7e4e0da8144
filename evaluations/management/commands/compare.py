"""`manage.py compare PROJECT FIRST SECOND`: which of two judges orders pairs more like people."""

from argparse import ArgumentParser
from typing import Any

import numpy as np

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.reports.data import load_data
from evaluations.reports.withheld import without_withheld
from evaluations.statistics.accuracy_tests import (
    ORDERINGS,
    SIGNS,
    AccuracyTest,
    documents_that_count,
    soft_pairwise_test,
    tie_calibrated_test,
)


class Command(SiteCommand):
    help = (
        "Compare two judges by soft pairwise accuracy and by tie-calibrated pairwise accuracy, with"
        " permutation tests; on documents with ratings and both scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("first", help="a judge")
        parser.add_argument("second", help="another judge")
        parser.add_argument("--criterion", action="append", metavar="C", help="(default: all)")
        parser.add_argument("--seed", type=int, default=0, help="of the random orderings")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        both = [find_judge(project, options[name]) for name in ("first", "second")]
        criteria = find_criteria(project, options["criterion"])
        data = without_withheld(load_data(project, both, criteria), project)
        rng = np.random.default_rng(options["seed"])
        for criterion in criteria:
            sides = [data.judges.get((criterion.pk, judge.pk)) for judge in both]
            human = data.humans[criterion.pk].mean
            if sides[0] is None or sides[1] is None:
                self.stdout.write(f"{criterion}: one of them has no scores.")
                continue
            first, second = sides[0], sides[1]
            documents = documents_that_count(data.outputs, human, first, second)
            signs = rng.choice((1.0, -1.0), (SIGNS, documents))
            size = (ORDERINGS, documents, data.outputs.systems)
            swaps = rng.integers(0, 2, size, dtype=np.int8).astype(bool)
            soft = soft_pairwise_test(data.outputs, human, first, second, signs=signs, swaps=swaps)
            calibrated = tie_calibrated_test(data.outputs, human, first, second, rng=rng)
            for name, found in (("soft pairwise", soft), ("tie-calibrated", calibrated)):
                self.stdout.write(f"{criterion}, {name} accuracy: {_in_words(found)}")


def _in_words(found: AccuracyTest) -> str:
    if found.first is None or found.second is None or found.p is None:
        return f"–, {found.reason}"
    return (
        f"{found.first:.3f} and {found.second:.3f}, difference {found.difference:+.3f}, p"
        f" {found.p:.3f} (one-sided {found.p_better:.3f})"
    )
