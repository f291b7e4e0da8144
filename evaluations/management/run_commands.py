"""Commands about one run, identified by its number or its judge."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_judge, find_project
from evaluations.models import EvaluationRun, ItemState, Project
from geval.texts.program import command

# The person named in the message of a run.
TERMINAL = "a command in the terminal"


class RunCommand(SiteCommand):
    """A command that acts on one run of a project."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("run", nargs="?", type=int, help="number of the run")
        which.add_argument("--judge", metavar="NAME", help="the last run of this judge")

    def run_of(self, options: dict[str, Any]) -> EvaluationRun:
        """Return the run that the options name.

        Raises:
            CommandError: there is no such run.
        """
        project = find_project(options["project"])
        runs = runs_of(project)
        if options["judge"]:
            judge = find_judge(project, options["judge"])
            run = runs.filter(judge=judge).first()
            if run is None:
                raise CommandError(f"{judge} has no run yet; {see_runs(project)}.")
            return run
        run = runs.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(
                f"Project {project.slug} has no run {options['run']}; {see_runs(project)}."
            )
        return run


def runs_of(project: Project) -> QuerySet[EvaluationRun]:
    """Return the runs that a project's pages list, newest first."""
    runs = EvaluationRun.objects.filter(project=project).counting().of_judges_that_run()
    return runs.select_related("judge", "project")


def see_runs(project: Project) -> str:
    return f"`{command(f'runs {project.slug}')}` lists its runs"


def items_scored(run: EvaluationRun) -> str:
    """Format a count such as “12 of 72 items are scored”."""
    counts = run.items.counts()
    if not any(counts.values()):
        return "no item is scored yet"
    return f"{counts[ItemState.DONE]} of {sum(counts.values())} items are scored"
