"""`manage.py disagreements PROJECT`: the outputs on which a judge and people differ most."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from textwrap import shorten
from typing import Any

from assurance.disagreements.numbers import gap_numbers, largest_gaps_as_rows
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.reports.data import load_data
from geval.reports.gap_list import MOST_GAPS, USUAL_GAPS, GapRow, gaps_as_csv
from geval.reports.gap_view import BASES, GapView
from geval.reports.options import ReportOptions
from geval.texts.numbers import label_or_number, signed

_LINE_LETTERS = 72


class Command(SiteCommand):
    help = "Print the outputs on which a judge and people differ most."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument(
            "--judge", metavar="J", help="(default: the best one, as the report has it)"
        )
        parser.add_argument("--criterion", metavar="C", help="(default: the first with a judge)")
        parser.add_argument("--by", choices=BASES, default="gap", help="what they are ranked by")
        parser.add_argument(
            "--most",
            type=int,
            default=USUAL_GAPS,
            choices=range(1, MOST_GAPS + 1),
            metavar="N",
            help=f"how many are listed, 1 to {MOST_GAPS} (default {USUAL_GAPS})",
        )
        parser.add_argument("--format", choices=("text", "csv", "json"), default="text")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"]).pk if options["judge"] else 0
        name = options["criterion"]
        criterion = find_criteria(project, [name])[0].pk if name else 0
        view = GapView(ReportOptions(), criterion=criterion, judge=judge, by=options["by"])
        data = load_data(
            project, list(project.judges.all()), list(project.criteria.all()), with_labels=True
        )
        numbers = gap_numbers(project, data, view)
        rows = largest_gaps_as_rows(project, numbers, options["most"])
        self.stdout.write(_written(rows, options["format"]).rstrip("\n"))


def _written(rows: list[GapRow], form: str) -> str:
    if form == "csv":
        return "".join(gaps_as_csv(rows))
    if form == "json":
        return json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False)
    if not rows:
        return "No output has both a rating and a score here. Choose another judge or criterion."
    head = f"{rows[0].judge} and people on {rows[0].criterion}: {len(rows)} largest gaps"
    lines = (
        f"{row.rank:>4} {signed(row.gap):>7}  people {label_or_number(row.people)}"
        f"  judge {label_or_number(row.score)}  {row.system_id} on {row.doc_id}"
        f"{f' ({row.cause})' if row.cause else ''}\n"
        f"{'':14}{shorten(row.output, _LINE_LETTERS, placeholder=' …')}"
        for row in rows
    )
    return "\n".join((head, *lines))
