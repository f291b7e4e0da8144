"""The mean gap between a judge's scores and people's mean ratings, and how far raters are apart."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import LeftOut, interval_of_mean
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray


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
