"""The first items of a run: if most of them fail alike, it pauses before all are paid for; if none
has a score, it has failed."""

from collections import Counter

from evaluations.models import EvaluationRun, ItemState
from geval.llm.advice import advise
from geval.llm.parsing import Failure, Reason
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.thresholds import FIRST_ITEMS, FIRST_ITEMS_FAILED


class FirstItems:
    """What became of the first items that a worker judges; for one worker of a run that begins."""

    def __init__(self, settings: RequestSettings) -> None:
        self._settings = settings
        self._left = FIRST_ITEMS
        self._failed: Counter[Reason] = Counter()

    def note(self, outcome: Scored | Failure) -> str:
        """Count an item; why the run should pause, empty if it should not (yet)."""
        if not self._left:
            return ""
        self._left -= 1
        if isinstance(outcome, Failure):
            self._failed[outcome.reason] += 1
        if self._left or not self._failed:
            return ""
        reason, count = self._failed.most_common(1)[0]
        if count <= FIRST_ITEMS_FAILED * FIRST_ITEMS:
            return ""
        return (
            f"{count} of the first {FIRST_ITEMS} items failed for one reason."
            f" {advise(reason, self._settings, modes=()).cause} Change the judge, retry, or resume"
            " the run to judge the others all the same."
        )


def first_items_of(run: EvaluationRun, settings: RequestSettings) -> FirstItems | None:
    """What watches the first items of a run.

    None for a run that has no others, for one whose first items are judged, so that it goes on when
    somebody resumes it, and for those of searches and studies, which report failures themselves.
    """
    if not run.counts or run.items.all()[: FIRST_ITEMS + 1].count() <= FIRST_ITEMS:
        return None
    finished = run.items.filter(state__in=(ItemState.DONE, ItemState.FAILED))
    return None if finished[:FIRST_ITEMS].count() >= FIRST_ITEMS else FirstItems(settings)
