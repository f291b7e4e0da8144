"""Advice on replies that cannot be read: the cause, and the settings that may help.

Also whether a run stops early to save cost: when half of the first items have no score, or many in
a row fail for external reasons. Pure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geval.llm.parsing import Failure, Reason
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.statistics.thresholds import FIRST_ITEMS, FIRST_ITEMS_FAILED

# Limits to suggest for a reply, in tokens: a rating with a sentence or two, with a long reason,
# with the thought of a reasoning model.
LONGER_REPLIES = (256, 1_024, 4_096)
_MODES = {
    "samples": "Change to samples",
    "direct": "Change to one greedy reply",
}
# Reasons that depend on how ratings are read from replies, and may not occur in another mode.
_OF_THE_MODE = {
    Reason.NO_RATING: "The model explains itself where a rating is asked for.",
    Reason.LOW_COVERAGE: "The model gives most of its probability to words that are no rating.",
    Reason.NO_LOGPROBS: "The endpoint returned no log-probabilities.",
    Reason.SPLIT_NUMBER: "The model writes ratings in several tokens, so they have no probability.",
    Reason.BETWEEN_POINTS: "The model rates between the points of the scale.",
}
_OF_THE_LENGTH = {
    Reason.CUT: "Replies end before their rating, at {tokens:,} tokens.",
    Reason.EMPTY: (
        "Replies are empty after {tokens:,} tokens; a model that thinks first needs more."
    ),
}
_OTHERS = {
    Reason.TWO_RATINGS: (
        "The model gives several ratings where one is asked for. Say in the criterion's definition"
        " that one number is wanted."
    ),
    Reason.SCHEMA: (
        "Replies break the JSON schema of the scale: the endpoint does not hold the model to it."
        " Set the judge's form of replies to text."
    ),
    Reason.OUT_OF_SCALE: (
        "The model rates on another scale than the criterion's. Name the scale in the criterion's"
        " definition."
    ),
    Reason.REFUSAL: (
        "The model refuses. Change the task introduction of the criterion, or use another model."
    ),
}


@dataclass(frozen=True)
class AdvisedChange:
    """A change of a judge's settings; `key` is short and without spaces, `words` label its
    button."""

    key: str
    words: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """Why replies cannot be read, as a sentence, and the changes that may help, best first."""

    cause: str
    changes: tuple[AdvisedChange, ...] = ()

    @property
    def in_words(self) -> str:
        """Return the cause and what to try, as sentences."""
        if not self.changes:
            return self.cause
        first, *others = (change.words for change in self.changes)
        words = [first, *(each[0].lower() + each[1:] for each in others)]
        return f"{self.cause} {' or '.join(words)}."


def advise(reason: Reason, settings: RequestSettings, modes: Sequence[str]) -> Advice:
    """Return advice on items that failed for the same reason.

    Args:
        settings: the settings of the requests.
        modes: the scoring modes that the endpoint and the criteria allow.
    """
    if reason in _OF_THE_LENGTH:
        cause = _OF_THE_LENGTH[reason].format(tokens=settings.max_tokens)
        return Advice(cause, _longer(settings.max_tokens))
    if reason in _OF_THE_MODE:
        return Advice(_OF_THE_MODE[reason], _other_modes(settings.mode, modes))
    return Advice(_OTHERS.get(reason, reason.explanation))


def _longer(tokens: int) -> tuple[AdvisedChange, ...]:
    """Return the next two limits for the length of a reply."""
    lengths = [length for length in LONGER_REPLIES if length >= 2 * tokens][:2]
    return tuple(
        AdvisedChange(f"tokens-{length}", f"Allow {length:,} tokens", {"max_tokens": length})
        for length in lengths
    )


def _other_modes(mode: str, modes: Sequence[str]) -> tuple[AdvisedChange, ...]:
    """Return the modes that read ratings from replies in another way. Token probabilities are never
    suggested: they require more of a reply than the other modes."""
    return tuple(
        AdvisedChange(other, words, {"mode": other})
        for other, words in _MODES.items()
        if other in modes and other != mode
    )


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
