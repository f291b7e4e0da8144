"""`manage.py resume PROJECT RUN`: resume a paused run, or retry failed items."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from evaluations.judging.runs.lifecycle import RunError, resume_run
from evaluations.management.run_commands import RunCommand, items_scored
from evaluations.models import WorkerHeartbeat
from geval.texts.program import command
from geval_site.queues import RUNS


class Command(RunCommand):
    help = (
        "Have workers resume a paused run, by its number or by its judge; it does not wait for"
        f" them. `{command('judge')}` resumes a run and follows it."
    )
    REFUSALS = (RunError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--retry", action="store_true", help="also ask about failed items again"
        )
        parser.add_argument(
            "--budget", type=Decimal, help="a new one, for a run that its budget paused"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        run = self.run_of(options)
        is_resumed = resume_run(run, retry_failed=options["retry"], budget=options["budget"])
        if not is_resumed:
            raise CommandError(
                f"Run {run.pk} of {run.judge} is {run.get_state_display().lower()}, so there is"
                " nothing to resume. --retry asks about failed items again."
            )
        self.stdout.write(f"Run {run.pk} of {run.judge} is resumed; {items_scored(run)}.")
        if not WorkerHeartbeat.objects.doing(RUNS, project=run.project.slug).exists():
            judge = command(f"judge {run.project.slug} --judge '{run.judge.name}'")
            self.stdout.write(
                f"No worker is running, so nothing is judged yet: `{judge}` starts one and shows"
                f" the progress; `{command('serve')}` starts one with the site."
            )
