"""The run that a command asks for: an existing run of that kind is continued, or a new one
started."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.judging.runs.lifecycle import RunError, resume_run
from evaluations.judging.runs.starting import RunRequest
from evaluations.models import Criterion, EvaluationRun, Judge
from evaluations.people.waking import wake_for_runs


@dataclass(frozen=True)
class WantedRun:
    """A run as the command's options describe it; see `start_run`."""

    judge: Judge
    criteria: Sequence[Criterion]
    request: RunRequest

    def unfinished(self) -> EvaluationRun | None:
        """Return the judge's active or last run if it matches and was interrupted or paused; None
        if a new one can be started.

        Raises:
            RunError: the judge is busy with another run.
        """
        active = self.judge.runs.active().counting().first()
        run = active or last_run(self.judge)
        if run is None or not (run.is_active or _has_open_items(run)):
            return None
        difference = self._difference(run)
        if not difference:
            return run
        if run.is_active:
            raise RunError(
                f"Run {run.pk} of {self.judge} is not finished, and it is another one:"
                f" {difference}. Start it with the same options to continue it, or pause or"
                " cancel it on its page."
            )
        return None

    def _difference(self, run: EvaluationRun) -> str:
        """Return how a run differs from what is wanted; empty if it does not."""
        frozen, wanted = run.frozen, self.request
        criteria = set(run.judged_criteria())
        if criteria and criteria != set(self.criteria):
            return f"it judges {', '.join(sorted(criterion.name for criterion in criteria))}"
        if frozen.pilot != wanted.pilot:
            return f"it judges {frozen.pilot or 'all'} documents"
        if frozen.trial != wanted.trial:
            return f"it judges {frozen.trial} items" if frozen.trial else "it judges all items"
        if frozen.fresh != wanted.fresh:
            return "it judges everything again" if frozen.fresh else "it fills in missing scores"
        if run.transport != wanted.transport:
            return f"it is sent {run.get_transport_display().lower()}"
        if (run.goal_width, run.goal_rival) != (wanted.goal_width, wanted.goal_rival):
            return f"it ends when {run.goal_in_words}" if run.has_goal else "it has no goal"
        return ""


def last_run(judge: Judge) -> EvaluationRun | None:
    """Return the last run of a judge, without those of searches and studies."""
    return judge.runs.counting().select_related("judge", "project", "goal_rival").first()


def _has_open_items(run: EvaluationRun) -> bool:
    """Whether a paused run has anything left to judge; a run that only waits for a decision about
    items that are too long has not."""
    is_paused = EvaluationRun.objects.unfinished().filter(pk=run.pk).exists()
    return is_paused and run.has_open_items


def continue_run(run: EvaluationRun, *, retry_failed: bool, budget: Decimal | None) -> bool:
    """Make workers continue a run, whether it was paused or lost its workers; return False if there
    is nothing to do.

    Raises:
        RunError: as `resume_run`.
    """
    if run.is_active:
        wake_for_runs(run.project.slug)
        return True
    is_resumed = resume_run(run, retry_failed=retry_failed, budget=budget)
    run.refresh_from_db()
    return is_resumed
