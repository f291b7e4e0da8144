"""A judge's repeatability on a criterion, as a table and as JSON."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from geval.reports.downloads.json_values import estimate_json
from geval.reports.human_scores import HumanScores
from geval.reports.samples import about_asking
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.repeatability import Repeatability, repeatability
from geval.statistics.types import Estimate, IntArray
from geval.texts.numbers import shown, thin, whole_percent

# Alternative numbers of replies per score, next to the actual number.
REPLIES = (1, 5, 20)
# Document, output, and the values of its replies.
ItemRow = tuple[int, int, Sequence[float]]


@dataclass(frozen=True)
class Steadiness:
    """A judge's repeatability on one criterion.

    `asked_at` is when a study asked it again, whose scores then count as replies; None where stored
    replies are used. `sample` says which outputs the correlations with people describe, where these
    are not all outputs.
    """

    criterion: str
    found: Repeatability
    asked_at: datetime | None = None
    replies_of_score: int = 1
    sample: tuple[str, ...] = ()

    @property
    def score_error(self) -> Estimate:
        """The standard error of the judge's scores."""
        if self.asked_at is None or self.found.reply_error.value is None:
            return self.found.score_error
        return Estimate(self.found.reply_error.value / math.sqrt(self.replies_of_score))


# A row of the table: its title, glossary term, and a text for each criterion.
Row = tuple[str, str, list[str]]


def rows_of(criteria: Sequence[Steadiness]) -> list[Row]:
    """Return the table of a page: statistics as rows, criteria as columns."""
    values = [criterion.found for criterion in criteria]
    rows: list[Row] = [
        ("Items", "", [thin(value.items) for value in values]),
        ("Replies to each", "", [f"{round(value.replies, 1):g}" for value in values]),
        ("Reliability of one reply", "reply_reliability", [shown(value.icc) for value in values]),
        (
            "Error of a reply, in points",
            "reply_error",
            [shown(value.reply_error) for value in values],
        ),
        (
            "Error of a score, in points",
            "",
            [shown(criterion.score_error) for criterion in criteria],
        ),
        ("Two replies differ", "replies_differ", [_percent(value.differ) for value in values]),
        ("Orders flip", "order_flips", [_percent(value.flips) for value in values]),
    ]
    for replies in REPLIES:
        of = "one reply" if replies == 1 else f"{replies} replies"
        name = f"Pearson's r with people over all outputs, {of}"
        term = "more_replies" if replies == 1 else ""
        rows.append((name, term, [shown(value.pearson_with(replies)) for value in values]))
    return rows


def steadiness_json(steadiness: Steadiness) -> dict[str, Any]:
    """Return a criterion's figures; an undefined one is null with its reason."""
    value = steadiness.found
    return {
        "items": value.items,
        "replies": value.replies,
        "reply_reliability": estimate_json(value.icc),
        "reply_error": estimate_json(value.reply_error),
        "asked_at": steadiness.asked_at,
        "score_error": estimate_json(steadiness.score_error),
        "replies_differ": estimate_json(value.differ),
        "orders_flip": estimate_json(value.flips),
        "pearson_with_replies": {
            str(replies): estimate_json(value.pearson_with(replies)) for replies in REPLIES
        },
        **({"what_numbers_speak_of": list(steadiness.sample)} if steadiness.sample else {}),
    }


def _percent(share: Estimate) -> str:
    return shown(share) if share.value is None else whole_percent(share.value)


def replies_repeated(
    rows: Sequence[ItemRow],
    people: Callable[[IntArray], HumanScores],
    *,
    is_ordered: bool = True,
) -> tuple[Repeatability, tuple[str, ...]] | None:
    """Return the replies' repeatability, and in sentences which outputs their correlation with
    people describes; None without replies.

    Args:
        people: people's ratings of outputs, by ascending ids.
        is_ordered: False for labels, of which only differences are counted.
    """
    if not rows:
        return None
    document, output, values = zip(*sorted(rows), strict=True)
    documents, at_document = np.unique(document, return_inverse=True)
    replies = Ratings(
        np.repeat(np.arange(len(rows)), [len(each) for each in values]),
        np.concatenate([np.arange(len(each)) for each in values]),
        np.concatenate([np.array(each) for each in values]),
        len(rows),
        max(len(each) for each in values),
    )
    # Which system wrote an output does not matter here.
    outputs = Outputs(at_document, np.arange(len(rows)), len(documents), len(rows))
    ids = np.sort(np.array(output, dtype=np.int64))
    human = people(ids)
    means = human.mean[np.searchsorted(ids, output)]
    result = repeatability(replies, outputs, means)
    if not is_ordered:
        return result.of_labels, ()
    return result, about_asking(human)
