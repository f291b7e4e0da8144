"""Combine several scores of an item into one; a failure of one fails the item."""

from collections.abc import Callable, Sequence

from geval.evaluators.base import Outcome
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored


def combined(outcomes: Sequence[Outcome], how: Callable[[list[float]], float]) -> Outcome:
    """Combine scores into one with all their notes; return the first failure if there is one."""
    failure = next((outcome for outcome in outcomes if isinstance(outcome, Failure)), None)
    if failure:
        return failure
    scores = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    notes = " ".join(dict.fromkeys(score.note for score in scores if score.note))
    return Scored.plain(float(how([score.value for score in scores])), notes)


def regrouped(outcomes: Sequence[Outcome], sizes: Sequence[int]) -> list[list[Outcome]]:
    """Split a list into groups of given sizes."""
    groups, begin = [], 0
    for size in sizes:
        groups.append(list(outcomes[begin : begin + size]))
        begin += size
    return groups
