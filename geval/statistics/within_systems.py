"""Ratings and scores within systems: less their system's mean, so that what is left is what reading
a text adds to knowing who wrote it.

Whoever knows how good a system's other outputs were found ranks its new ones well across systems,
and not at all within one.
"""

from functools import lru_cache

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.correlation import Level
from geval.statistics.thresholds import WITHIN_OUTPUTS, WITHIN_SYSTEMS
from geval.statistics.types import DIGITS, FloatArray, IntArray


def outputs_within(outputs: Outputs, human: FloatArray, scores: FloatArray) -> np.ndarray | None:
    """Return a mask of the rated and scored outputs of systems with enough of these; shape
    (outputs,). None where fewer than `WITHIN_SYSTEMS` systems have `WITHIN_OUTPUTS` each.

    Args:
        human, scores: shape (outputs,), NaN for missing.
    """
    complete = ~np.isnan(human + scores)
    enough = sums(outputs.system[complete], None, outputs.systems) >= WITHIN_OUTPUTS
    if enough.sum() < WITHIN_SYSTEMS:
        return None
    return complete & enough[outputs.system]


def level_within(outputs: Outputs, counting: np.ndarray, points: int = 0) -> Level:
    """Return the level at which outputs are ranked within systems: the summary level, where a
    document has several of those that count. On a scale of two points most outputs of a document
    are tied, and less their systems' means they would be in the order of these: all outputs are
    taken at once there, with Pearson's r, which does not rank.

    Args:
        counting: a mask of shape (outputs,).
        points: of the scale, where that is known.
    """
    if points == 2:
        return "dataset"
    several = outputs.by_document(counting.astype(float)).max(initial=0) > 1
    return "summary" if several else "dataset"


def less_system_means(outputs: Outputs, values: FloatArray) -> FloatArray:
    """Return each value less the mean of its system's values; shape (outputs,), NaN for missing."""
    present = ~np.isnan(values)
    less = np.full(len(values), np.nan)
    less[present] = _less_group_means(outputs.system[present], values[present], outputs.systems)
    return less


@lru_cache(maxsize=4)
def ratings_within_systems(outputs: Outputs, ratings: Ratings) -> Ratings:
    """Return each rating less the mean of the rater's ratings of its system. It is cached for all
    judges on a criterion."""
    group = ratings.rater * np.int64(outputs.systems) + outputs.system[ratings.output]
    less = _less_group_means(group, ratings.value, ratings.raters * outputs.systems)
    return Ratings(ratings.output, ratings.rater, less, ratings.outputs, ratings.raters)


def _less_group_means(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    means = mean_of(sums(group, values, groups), sums(group, None, groups))
    return np.round(values - means[group], DIGITS)
