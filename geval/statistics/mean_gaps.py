"""The mean gap between a judge's scores and people's mean ratings, how far raters are apart, and
the effect of a randomised treatment."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import LeftOut, interval_of_mean, no_interval, t_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import INTERVAL_DOCUMENTS
from geval.statistics.types import FloatArray, IntArray


@dataclass(frozen=True)
class MeanGap:
    """The mean over outputs with its interval over documents. A judge whose mean gap is below 0 is
    strict."""

    mean: float
    interval: Interval
    outputs: int

    @property
    def is_clear(self) -> bool:
        """Whether the whole interval is on one side of 0."""
        return self.interval.leaves_out_zero


def mean_gap(outputs: Outputs, gaps: FloatArray) -> MeanGap:
    """Return the weighted mean of some outputs' gaps, with its jackknife interval over documents.

    Args:
        gaps: shape (outputs,), complete, one at least.
    """
    interval = interval_of_mean(outputs, gaps, LeftOut.of(outputs.documents, outputs.group))
    return MeanGap(outputs.mean(gaps), interval, len(gaps))


def spreads(ratings: Ratings) -> FloatArray:
    """Return the difference between each output's highest and lowest rating; 0 with fewer than two;
    shape (outputs,)."""
    high, low = (np.full(ratings.outputs, end) for end in (-np.inf, np.inf))
    np.maximum.at(high, ratings.output, ratings.value)
    np.minimum.at(low, ratings.output, ratings.value)
    return np.where(ratings.count > 1, high - low, 0.0)


@dataclass(frozen=True)
class ArmDifference:
    """The mean of the treated minus that of the others, and the number of values of each; None
    where one has no values."""

    value: float | None
    interval: Interval
    treated: int
    others: int


def difference_of_arms(
    values: FloatArray, is_treated: np.ndarray, cluster: IntArray
) -> ArmDifference:
    """Return the average effect of a treatment that was assigned at random.

    Use it where each value was treated with the same probability. Do not use it where people chose
    the treatment themselves. Values of a cluster may be correlated: the interval is that of the
    difference of two ratio means over clusters, linearised (Cochran 1977, section 6), with
    Student's t on as many degrees of freedom as there are clusters, less one.

    Args:
        values: shape (values,).
        is_treated: bool, shape (values,).
        cluster: shape (values,); equal for values that may be correlated, such as those of a
            document.
    """
    treated, others = int(is_treated.sum()), int((~is_treated).sum())
    if not treated or not others:
        return ArmDifference(None, no_interval("one of the two has no values"), treated, others)
    means = values[is_treated].mean(), values[~is_treated].mean()
    value = float(means[0] - means[1])
    _, number = np.unique(cluster, return_inverse=True)
    count = int(number.max()) + 1
    if count < INTERVAL_DOCUMENTS:
        interval = no_interval(f"fewer than {INTERVAL_DOCUMENTS} documents")
        return ArmDifference(value, interval, treated, others)
    pull = np.where(is_treated, (values - means[0]) / treated, -(values - means[1]) / others)
    by_cluster = np.bincount(number, pull)
    variance = float(count / (count - 1) * (by_cluster**2).sum())
    return ArmDifference(value, t_interval(value, variance, count - 1), treated, others)
