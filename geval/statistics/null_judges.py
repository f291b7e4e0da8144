"""Null judges: what reading nothing would earn on the same ratings.

A claim about a judge is worth something only where none of these gets it too: the best constant,
the judge's own scores dealt out again at random, the length of the texts, and on a criterion that
outputs pass or fail the verdict that most of them have from people.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from geval.statistics.thresholds import NULL_CHANCE
from geval.statistics.types import FloatArray

NullName = Literal["constant", "majority", "shuffled", "length"]
NULL_NAMES: tuple[NullName, ...] = ("constant", "majority", "shuffled", "length")
# Shuffles differ the less the more ratings there are; so many ratings together suffice.
MOST_SHUFFLES, LEAST_SHUFFLES = 20, 4
ENOUGH_RATINGS = 20_000


def is_met(draws: Sequence[bool]) -> bool:
    """Whether a judge that reads nothing meets a claim more often than by chance, by whether each
    of its draws does."""
    return sum(draws) > NULL_CHANCE * len(draws)


def shuffles_of(ratings: int) -> int:
    """How often scores are shuffled, by how many ratings they are compared with."""
    return int(np.clip(ENOUGH_RATINGS // max(1, ratings), LEAST_SHUFFLES, MOST_SHUFFLES))


def constant_scores(scores: FloatArray, value: float) -> FloatArray:
    """A score for each output that the judge scored, always the same; shape (outputs,)."""
    return np.where(np.isnan(scores), np.nan, value)


def shuffled_scores(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The judge's own scores, each of another output; shape (outputs,), NaN where it has none."""
    dealt = scores.copy()
    present = ~np.isnan(scores)
    dealt[present] = rng.permutation(scores[present])
    return dealt


def length_scores(scores: FloatArray, words: FloatArray) -> FloatArray:
    """The judge's own scores in the order of length: the longest text gets its highest score.

    Texts of the same length get the mean of their scores.

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
