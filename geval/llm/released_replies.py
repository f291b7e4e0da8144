"""A judge's raw replies from a published data set, parsed and counted like ours. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from geval.llm.parsing import Failure, Rating, Reason, parse_rating
from geval.llm.replies import ReplyChoice
from geval.llm.scoring import Scored, score_by_samples
from geval.llm.thoughts import without_thoughts
from geval.statistics.scales import EXPECTED_SCALES, RARE, WORDS_IN_PAIRS, Scale

Read = Callable[[ReplyChoice], Rating | Failure]
# Enough replies to see their scale by.
MOST_LOOKED_AT = 200


@dataclass(frozen=True)
class RepliesScore:
    """The score of the readable replies; how many contain no rating, and how many one off the
    scale. Neither ever counts as 0."""

    outcome: Scored | Failure
    unread: int = 0
    off_scale: int = 0


def score_replies(
    replies: Sequence[str], *, scale: Scale, criterion: str, read: Read | None = None
) -> RepliesScore:
    """Score an output by a judge's raw replies. The coverage is the share of readable replies.

    Args:
        read: a rule to use instead of our parser.
    """
    by_words = _by_words(scale)
    outcomes = [
        (read(choice) if read else parse_rating(choice, scale=by_words, criterion=criterion))
        for choice in map(without_thoughts, map(ReplyChoice, replies))
    ]
    values = [rating.value for rating in outcomes if isinstance(rating, Rating)]
    failures = [failure for failure in outcomes if isinstance(failure, Failure)]
    off_scale = sum(failure.reason == Reason.OUT_OF_SCALE for failure in failures)
    unread = len(failures) - off_scale
    if not values:
        return RepliesScore(failures[0], unread, off_scale)
    counted = score_by_samples(values)
    if not scale.is_ordered:
        vote, _count = Counter(values).most_common(1)[0]
        counted = replace(counted, value=vote)
    counts = [(unread, "contain no rating"), (off_scale, f"are off the scale {scale}")]
    parts = [f"{count} of {len(replies)} replies {what}" for count, what in counts if count]
    note = f"{' and '.join(parts)}: {failures[0].detail}" if failures else ""
    scored = replace(counted, coverage=len(values) / len(replies), note=note)
    return RepliesScore(scored, unread, off_scale)


def _by_words(scale: Scale) -> Scale:
    """Return a scale whose points replies may name: without an order by the labels, from 0 to 1 by
    words such as pass and fail."""
    if (scale.lowest, scale.highest) == (0, 1) and not scale.labels:
        return replace(scale, labels=WORDS_IN_PAIRS)
    return scale if scale.is_ordered else replace(scale, is_ordered=True)


def scale_of_replies(
    replies: Sequence[str], *, criterion: str, holds: tuple[float, float]
) -> Scale | None:
    """Return the first usual scale on which nearly all ratings in raw replies are; None if there
    are none.

    Args:
        holds: the lowest and the highest value that the scale has to hold.
    """
    scales = [Scale(lowest, highest) for lowest, highest in EXPECTED_SCALES]
    scales = [scale for scale in scales if scale.spans(*holds)]
    choices = [without_thoughts(ReplyChoice(reply)) for reply in replies[:MOST_LOOKED_AT]]
    counts: Counter[int] = Counter()
    for number, scale in enumerate(scales):
        read = (parse_rating(choice, scale=scale, criterion=criterion) for choice in choices)
        counts[number] = sum(isinstance(rating, Rating) for rating in read)
    most = max(counts.values(), default=0)
    enough = (n for n, _ in enumerate(scales) if counts[n] >= (1 - RARE) * most)
    return scales[next(enough)] if most else None
