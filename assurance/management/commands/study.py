"""`manage.py study PROJECT KIND --judge J --criterion C`: start a study of a judge, or say what the
last one found."""

import sys
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from assurance.instrument.page import ShownStudy, shown
from assurance.instrument.sensitivity import sensitivity_of
from assurance.instrument.studies import StudyError, make_study, stop
from evaluations.management.base import GateCommand
from evaluations.management.projects import find_criterion, find_judge, find_project
from evaluations.models import StudyKind
from evaluations.reports.report import ShownFinding
from evaluations.reports.steadiness import steadiness
from geval.reports.steadiness import Row, rows_of
from geval.texts.numbers import in_brackets, thin, two_decimals
from geval.texts.program import command

NOTHING, FOUND, CANNOT_SAY = 0, 1, 2


class Command(GateCommand):
    help = (
        "Ask a judge again, or probe it; workers do the asking. Exits with 0 if nothing was found,"
        " 1 if something was, 2 if it is too early to say."
    )
    REFUSALS = (StudyError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("kind", choices=StudyKind.values)
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--criterion", required=True, metavar="C")
        parser.add_argument("--start", action="store_true", help="start a new one")
        parser.add_argument("--stop", action="store_true", help="stop the last one")
        parser.add_argument("--items", type=int, metavar="N", help="how many outputs")
        parser.add_argument("--replies", type=int, metavar="K", help="how many scores of each")
        parser.add_argument("--budget", type=Decimal, metavar="MONEY", help="of each run")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"])
        criterion = find_criterion(project, options["criterion"])
        kind = options["kind"]
        if options["start"]:
            study = make_study(
                judge, criterion, kind, items=options["items"], replies=options["replies"],
                budget=options["budget"],
            )  # fmt: skip
        else:
            last = judge.studies.filter(criterion=criterion, kind=kind).first()
            if last is None:
                again = command(f"study {project.slug} {kind} … --start")
                raise CommandError(f"{judge} has no such study on {criterion}: `{again}`.")
            study = last
            if options["stop"]:
                stop(study)
                study.refresh_from_db()
        shown_study = shown(study)
        sentence = f"{study}: {shown_study.state}."
        self.stdout.write(sentence[0].upper() + sentence[1:])
        for line in lines_of(shown_study):
            self.stdout.write(line)
        sys.exit(code_of(shown_study))


def lines_of(study_shown: ShownStudy) -> list[str]:
    """Return what a study found, line by line."""
    study = study_shown.study
    lines = [f"{thin(study_shown.items)} outputs, {study_shown.parts} askings recorded."]
    if text := study.message or study_shown.waits_for:
        lines.append(text)
    if study_shown.is_done and study.kind == StudyKind.PROBES:
        lines += [_in_words(finding) for finding in sensitivity_of(study).findings]
    if study_shown.is_done and study.kind == StudyKind.AGAIN:
        lines += [f"{name}: {', '.join(cells)}" for name, _term, cells in rows_of_last(study_shown)]
    return lines


def _in_words(probe: ShownFinding) -> str:
    finding = probe.found
    if finding.value is None:
        return f"{probe.title}: –, {finding.reason}"
    interval = in_brackets(finding.interval) if finding.interval else ""
    value = f"{two_decimals(finding.value)} {interval}".rstrip()
    if finding.p is None:
        return f"{probe.title}: {value}"
    outcome = "found" if finding.is_found else "not found"
    return f"{probe.title}: {value}, {outcome}"


def rows_of_last(shown_study: ShownStudy) -> list[Row]:
    """Return what repeating a judge's questions showed on the study's criterion."""
    findings = steadiness(shown_study.study.judge)
    return rows_of(
        [finding for finding in findings if finding.criterion == shown_study.study.criterion.name]
    )


def code_of(shown_study: ShownStudy) -> int:
    """Return the exit code: nothing found, something found, or cannot say."""
    if not shown_study.is_done:
        return CANNOT_SAY
    if shown_study.study.kind != StudyKind.PROBES:
        return NOTHING
    sensitivity = sensitivity_of(shown_study.study)
    if sensitivity.wrong:
        return FOUND
    return NOTHING if sensitivity.says_anything else CANNOT_SAY
