"""Null judges: what judges that do not read the texts would reach on the same ratings.

A claim about a judge is meaningful only where none of these meets it too: the best constant, the
judge's scores shuffled, the length of the texts, and on a pass/fail criterion the majority's
verdict.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from geval.statistics.thresholds import NULL_CHANCE
from geval.statistics.types import FloatArray

NullName = Literal["constant", "majority", "shuffled", "length"]
NULL_NAMES: tuple[NullName, ...] = ("constant", "majority", "shuffled", "length")
# The more ratings, the less shuffles differ; this many ratings over all shuffles suffice.
MOST_SHUFFLES, LEAST_SHUFFLES = 20, 4
ENOUGH_RATINGS = 20_000


def is_met(draws: Sequence[bool]) -> bool:
    """Return whether a null judge meets a claim more often than by chance; `draws` says whether
    each of its draws does."""
    return sum(draws) > NULL_CHANCE * len(draws)


def shuffles_of(ratings: int) -> int:
    """Return how often to shuffle scores, by the number of ratings that they are compared with."""
    return int(np.clip(ENOUGH_RATINGS // max(1, ratings), LEAST_SHUFFLES, MOST_SHUFFLES))


def constant_scores(scores: FloatArray, value: float) -> FloatArray:
    """Return a score for each output that the judge scored, always the same; shape (outputs,)."""
    return np.where(np.isnan(scores), np.nan, value)


def shuffled_scores(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the judge's scores in random order; shape (outputs,), NaN where it has none."""
    dealt = scores.copy()
    present = ~np.isnan(scores)
    dealt[present] = rng.permutation(scores[present])
    return dealt


def length_scores(scores: FloatArray, words: FloatArray) -> FloatArray:
    """Return the judge's scores in the order of length: the longest text gets the highest score.

    Texts of equal length get the mean of their scores.

    Args:
        scores: shape (outputs,), NaN where the judge has none.
        words: shape (outputs,), the length of each text.
    """
    dealt = np.full(len(scores), np.nan)
    present = np.flatnonzero(~np.isnan(scores))
    _lengths, place, count = np.unique(words[present], return_inverse=True, return_counts=True)
    ordered = np.sort(scores[present])
    ends = np.cumsum(count)
    begins = ends - count
    totals = np.append(0.0, np.cumsum(ordered))
    means = (totals[ends] - totals[begins]) / count
    dealt[present] = means[place]
    return dealt
