"""`manage.py runs [PROJECT]`: list runs with their progress, rate and cost."""

from argparse import ArgumentParser
from typing import Any

import orjson

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.management.run_commands import runs_of
from evaluations.models import EvaluationRun, Project, RunState, WorkerHeartbeat
from evaluations.models.runs import ACTIVE_STATES
from evaluations.pages.runs.progress import RunProgress, run_progress
from geval.texts.numbers import in_time
from geval.texts.program import command
from geval_site.queues import RUNS

# About a terminal's height.
LISTED = 20
HEADER = ("run", "project", "judge", "state", "items", "failed", "per minute", "cost", "left")


class Command(SiteCommand):
    help = "List runs of judges with their state, progress, rate and cost, the newest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", nargs="?", help="short name of a project; without it, of all projects"
        )
        parser.add_argument(
            "--unfinished", action="store_true", help="only those that run or are paused"
        )
        parser.add_argument(
            "--last", type=int, default=LISTED, metavar="N", help="so many of each project at most"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def handle(self, *_args: Any, **options: Any) -> None:
        named = options["project"]
        projects = [find_project(named)] if named else list(Project.objects.order_by("slug"))
        runs = []
        for project in projects:
            listed = runs_of(project)
            if options["unfinished"]:
                listed = listed.filter(state__in=(*ACTIVE_STATES, RunState.PAUSED))
            runs += list(listed[: options["last"]])
        rows = [(run, run_progress(run)) for run in runs]
        if options["json"]:
            for run, progress in rows:
                self.stdout.write(orjson.dumps(as_json(run, progress)).decode())
            return
        if not rows:
            self.stdout.write("There are no runs.")
            return
        self.stdout.write(in_columns([HEADER, *(as_cells(*row) for row in rows)]))
        waiting = set(EvaluationRun.objects.waiting().values_list("pk", flat=True))
        for run, _progress in rows:
            if run.message:
                self.stdout.write(f"{run.pk}: {run.message}")
            elif run.pk in waiting:
                self.stdout.write(f"{run.pk}: {why_waiting(run)}")


def why_waiting(run: EvaluationRun) -> str:
    """Return why an active run without a slot waits."""
    if WorkerHeartbeat.objects.doing(RUNS, project=run.project.slug).exists():
        return "waits for a free worker."
    return f"waits, as no worker is alive. Start one: {command('worker')}, or {command('serve')}."


def as_cells(run: EvaluationRun, progress: RunProgress) -> tuple[str, ...]:
    """Return a run as cells of the table."""
    left = progress.left if run.is_active else None
    return (
        str(run.pk),
        run.project.slug,
        run.judge.label,
        run.state,
        f"{progress.done} of {progress.total}",
        str(progress.failed),
        f"{progress.rate:.0f}" if progress.rate else "–",
        "–" if progress.cost is None else f"{progress.cost:.4f}",
        in_time(left.total_seconds()) if left else "–",
    )


def as_json(run: EvaluationRun, progress: RunProgress) -> dict[str, Any]:
    """Return a run as JSON; `rate` is in items per minute, `seconds_left` None if unknown."""
    return {
        "run": run.pk,
        "project": run.project.slug,
        "judge": run.judge.label,
        "state": run.state,
        "message": run.message,
        "items": progress.total,
        "done": progress.done,
        "failed": progress.failed,
        "rate": progress.rate,
        "cost": None if progress.cost is None else str(progress.cost),
        "seconds_left": progress.left.total_seconds() if progress.left else None,
    }


def in_columns(rows: list[tuple[str, ...]]) -> str:
    """Align rows in columns, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
