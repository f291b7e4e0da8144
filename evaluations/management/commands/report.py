"""`manage.py report PROJECT`: how well judges agree with people, in the terminal or as a file."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.models import Criterion, Judge, Project
from evaluations.reports.data import rounds_of, usual_options
from evaluations.reports.report import build_report, selected_data
from geval.reports.downloads.formats import BY_WORD
from geval.reports.downloads.latex import as_latex
from geval.reports.marks import marks_against
from geval.reports.options import EPSILON_HELP, HUMAN_SCORE_HELP, MEAN, WORDS, ReportOptions


class Command(SiteCommand):
    help = (
        "Print how judges agree with people. Correlations are at summary, system and dataset level."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--format", choices=BY_WORD, default="text")
        parser.add_argument(
            "--judge",
            action="append",
            metavar="J",
            help="only this judge; can be repeated",
        )
        parser.add_argument(
            "--criterion", action="append", metavar="C", help="only this criterion; can be repeated"
        )

        parser.add_argument(
            "--level",
            choices=WORDS["level"],
            help="of LaTeX and the view's interval (default: summary; dataset where documents have"
            " one output each)",
        )
        parser.add_argument(
            "--coefficient", choices=WORDS["coefficient"], default="spearman", help="of the view"
        )
        parser.add_argument(
            "--over",
            choices=WORDS["over"],
            default="documents",
            help="what intervals leave out and tests swap",
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
        parser.add_argument(
            "--round",
            metavar="CAMPAIGN",
            help="count only what people answered in this campaign; otherwise each person's newest"
            " answer counts",
        )
        parser.add_argument(
            "--marks",
            metavar="J",
            help="with --format latex: mark judges that agree better with people than this one, †"
            " for p <= 0.05 and ‡ for p <= 0.01 by the paired bootstrap over documents",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        names = options["judge"]
        judges = [find_judge(project, name) for name in names] if names else None
        criteria = find_criteria(project, options["criterion"])
        view = ReportOptions(
            options["level"] or usual_options(project).level,
            options["coefficient"],
            options["over"],
            options["epsilon"],
            options["human_score"],
            **_round_fields(project, options["round"]),
        )
        if options["marks"]:
            if options["format"] != "latex" or options["over"] != "documents":
                raise CommandError(
                    "--marks is for --format latex, and by resamples of documents: leave out"
                    " --over."
                )
            written = self._marked(project, judges, criteria, view, options["marks"])
        else:
            report = build_report(project, judges=judges, criteria=criteria, options=view)
            written = BY_WORD[options["format"]].write(report)
        self.stdout.write(written.rstrip("\n"))

    def _marked(
        self,
        project: Project,
        judges: list[Judge] | None,
        criteria: list[Criterion],
        view: ReportOptions,
        name: str,
    ) -> str:
        """Return the LaTeX table with marks against a judge, which need not be in the table."""
        baseline = find_judge(project, name)
        shown = list(project.judges.all()) if judges is None else judges
        data = selected_data(project, {*shown, baseline}, criteria, view)
        report = build_report(project, judges=shown, criteria=criteria, options=view, data=data)
        return as_latex(report, marks_against(baseline, shown, criteria, data, view))


def _round_fields(project: Project, name: str | None) -> dict[str, Any]:
    """Return the round of a view, by its campaign's name.

    Raises:
        CommandError: there is no campaign with this name; the message lists existing ones.
    """
    if not name:
        return {}
    rounds = {name.lower(): (pk, name) for pk, name in rounds_of(project.pk).items()}
    if name.lower() not in rounds:
        existing = ", ".join(name for _pk, name in rounds.values()) or "fewer than two campaigns"
        raise CommandError(f"Project {project.slug} has no round {name!r} (rounds: {existing}).")
    pk, title = rounds[name.lower()]
    return {"round": pk, "round_name": title}
