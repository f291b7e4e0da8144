"""Decide when a run stops early to save cost: when half of the first items have no score, or many
in a row fail for external reasons. Pure."""

from collections import Counter

from geval.llm.advice import advise
from geval.llm.parsing import Failure, Reason
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.statistics.thresholds import FIRST_ITEMS, FIRST_ITEMS_FAILED


class FirstItems:
    """Counts the outcomes of the first items."""

    def __init__(self, settings: RequestSettings) -> None:
        self._settings = settings
        self._left = FIRST_ITEMS
        self._failed: Counter[Reason] = Counter()

    def note(self, outcome: Scored | Failure) -> str:
        """Count an item; return why to stop before the others, or "" to continue."""
        if not self._left:
            return ""
        self._left -= 1
        if isinstance(outcome, Failure):
            self._failed[outcome.reason] += 1
        if self._left or not self._failed:
            return ""
        failed = self._failed.total()
        if failed < FIRST_ITEMS_FAILED * FIRST_ITEMS:
            return ""
        causes = [
            f"{advise(reason, self._settings, modes=()).cause} ({count})"
            for reason, count in self._failed.most_common()
        ]
        return f"{failed} of the first {FIRST_ITEMS} items have no score. {' '.join(causes)}"


# When this many items in a row fail for external reasons, a person should look.
FAILURES_IN_A_ROW = 20
_NOT_THEIR_OWN = (Reason.ENDPOINT, Reason.UNFORESEEN)


class FailuresInARow:
    """Counts consecutive items that fail for external reasons."""

    def __init__(self) -> None:
        self._count = 0

    def note(self, outcome: Scored | Failure) -> str:
        """Count an item; return why to stop, or "" to continue."""
        if not isinstance(outcome, Failure) or outcome.reason not in _NOT_THEIR_OWN:
            self._count = 0
            return ""
        self._count += 1
        if self._count < FAILURES_IN_A_ROW:
            return ""
        return f"{self._count} items in a row failed, the last one with: {outcome.detail}"
