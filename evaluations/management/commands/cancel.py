"""`manage.py cancel PROJECT RUN`: cancel a run for good."""

from typing import Any

from django.core.management.base import CommandError

from evaluations.judging.runs.lifecycle import cancel_run
from evaluations.management.run_commands import TERMINAL, RunCommand, items_scored


class Command(RunCommand):
    help = "Cancel a run for good, by its number or by its judge. Its scores are kept."

    def handle(self, *_args: Any, **options: Any) -> None:
        run = self.run_of(options)
        if not cancel_run(run.pk, f"Cancelled by {TERMINAL}."):
            raise CommandError(
                f"Run {run.pk} of {run.judge} is {run.get_state_display().lower()} already, so"
                " there is nothing to cancel."
            )
        self.stdout.write(f"Run {run.pk} of {run.judge} is cancelled; {items_scored(run)}.")
