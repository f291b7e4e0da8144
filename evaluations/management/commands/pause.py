"""`manage.py pause PROJECT RUN`: pause a run."""

from typing import Any

from django.core.management.base import CommandError

from evaluations.judging.runs.lifecycle import pause_by_person
from evaluations.management.run_commands import TERMINAL, RunCommand, items_scored
from geval.texts.program import command


class Command(RunCommand):
    help = "Pause a run, by its number or by its judge. Its scores are kept; it can be resumed."

    def handle(self, *_args: Any, **options: Any) -> None:
        run = self.run_of(options)
        if not pause_by_person(run.pk, TERMINAL):
            raise CommandError(
                f"Run {run.pk} of {run.judge} is {run.get_state_display().lower()}, so there is"
                " nothing to pause."
            )
        resume = command(f"resume {run.project.slug} {run.pk}")
        self.stdout.write(
            f"Run {run.pk} of {run.judge} is paused; {items_scored(run)}. Resume it: `{resume}`."
        )
