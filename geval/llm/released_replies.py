"""A judge's raw replies from a published data set, parsed and counted like ours. Pure."""

from collections.abc import Callable, Sequence

from geval.llm.parsing import Failure, Rating, parse_rating
from geval.llm.replies import ReplyChoice
from geval.llm.scoring import Scored, score_by_samples
from geval.llm.thoughts import without_thoughts
from geval.statistics.scales import Scale

Read = Callable[[ReplyChoice], Rating | Failure]


def score_replies(
    replies: Sequence[str], *, scale: Scale, criterion: str, read: Read | None = None
) -> tuple[Scored | Failure, int]:
    """Return the score of the readable replies, and how many cannot be read; these never count as
    0.

    The coverage is the share of readable replies.

    Args:
        read: a rule to use instead of our parser.
    """
    outcomes = [
        (read(choice) if read else parse_rating(choice, scale=scale, criterion=criterion))
        for choice in map(without_thoughts, map(ReplyChoice, replies))
    ]
    values = [rating.value for rating in outcomes if isinstance(rating, Rating)]
    failures = [failure for failure in outcomes if isinstance(failure, Failure)]
    if not values:
        return failures[0], len(failures)
    counted = score_by_samples(values)
    note = (
        f"{len(failures)} of {len(replies)} replies contain no rating: {failures[0].detail}"
        if failures
        else ""
    )
    return Scored(counted.value, counted.distribution, len(values) / len(replies), note), len(
        failures
    )
