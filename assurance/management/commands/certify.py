"""`manage.py certify PROJECT --judge J --criterion C --require R…`: whether a judge meets what a
pipeline requires; ends with 0 (met), 1 (not met) or 2 (cannot say)."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError

from assurance.certifying.certificates import certify, in_words, read_requirements
from assurance.certifying.sealed import badge
from evaluations.management.base import GateCommand
from evaluations.management.projects import find_criterion, find_judge, find_project
from geval.reports.options import EPSILON_HELP, HUMAN_SCORE_HELP, MEAN, WORDS
from geval.reports.requirements import RequirementError, RequirementOutcome
from geval.reports.words import left_out_in_words, unseen_in_words

EXIT = {RequirementOutcome.MET: 0, RequirementOutcome.NOT_MET: 1, RequirementOutcome.CANNOT_SAY: 2}


class Command(GateCommand):
    help = (
        "Check whether a judge meets requirements on a criterion, and write a certificate. Exits"
        " with 0 if they are met, 1 if not, 2 if it is too early to say."
    )
    REFUSALS = (RequirementError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--criterion", required=True, metavar="C")
        parser.add_argument(
            "--require",
            action="append",
            required=True,
            metavar="R",
            help="such as spearman.summary.low>=0.45 or alt_test.passed; can be repeated",
        )
        parser.add_argument(
            "--epsilon",
            choices=WORDS["epsilon"],
            default="0.2",
            help=EPSILON_HELP,
        )
        parser.add_argument(
            "--human-score", choices=WORDS["human_score"], default=MEAN, help=HUMAN_SCORE_HELP
        )
        parser.add_argument("--out", type=Path, metavar="FILE", help="the certificate, as JSON")
        parser.add_argument("--badge", type=Path, metavar="FILE", help="a badge, as SVG")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"])
        criterion = find_criterion(project, options["criterion"])
        requirements = read_requirements(options["require"])
        made = certify(
            judge,
            criterion,
            requirements,
            epsilon=options["epsilon"],
            human_score=options["human_score"],
        )
        for entry in made.requirements:
            self.stdout.write(in_words(entry))
        for sentence in made.content.get("what_numbers_speak_of", ()):
            self.stdout.write(sentence)
        if unseen := made.content.get("unseen_documents"):
            self.stdout.write(unseen_in_words(unseen))
        if hidden := left_out_in_words(made.content.get("withheld_documents", 0)):
            self.stdout.write(hidden)
        self.stdout.write(f"{judge} on {criterion}: {made.outcome} (certificate {made.pk}).")
        _write(options["out"], orjson.dumps(made.content, option=orjson.OPT_INDENT_2) + b"\n")
        _write(options["badge"], badge(judge.label, criterion.name, made.outcome).encode())
        sys.exit(EXIT[RequirementOutcome(made.outcome)])


def _write(path: Path | None, content: bytes) -> None:
    if path is None:
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
