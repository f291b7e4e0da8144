"""The gaps between a judge's scores and people's mean ratings: their mean, and their relation to
length."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import LeftOut, interval_of_mean
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray

# The mean gap of a smaller bin would be noisy.
BINS = 4


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


@dataclass(frozen=True)
class LengthBin:
    """Outputs of similar length, from `shortest` to `longest` words, and their gap."""

    shortest: int
    longest: int
    gap: MeanGap


def mean_gap(outputs: Outputs, gaps: FloatArray) -> MeanGap:
    """Return the weighted mean of some outputs' gaps, with its jackknife interval over documents.

    Args:
        gaps: shape (outputs,), complete, one at least.
    """
    interval = interval_of_mean(outputs, gaps, LeftOut.each(outputs.documents))
    return MeanGap(outputs.mean(gaps), interval, len(gaps))


def gaps_by_length(
    outputs: Outputs, gaps: FloatArray, words: FloatArray, *, bins: int = BINS
) -> tuple[LengthBin, ...]:
    """Return mean gaps of outputs of similar length, in bins with about equal numbers of rated
    outputs; equal lengths stay together.

    Args:
        gaps, words: shape (outputs,), complete.
    """
    if not len(words):
        return ()
    edges = np.unique(np.quantile(words, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, words, side="right") - 1, 0, max(0, len(edges) - 2))
    length_bins = []
    for index in np.unique(place):
        in_bin = place == index
        gap = mean_gap(outputs.part(in_bin), gaps[in_bin])
        length_bins.append(LengthBin(int(words[in_bin].min()), int(words[in_bin].max()), gap))
    return tuple(length_bins)


def spreads(ratings: Ratings) -> FloatArray:
    """Return the difference between each output's highest and lowest rating; 0 with fewer than two;
    shape (outputs,)."""
    high, low = (np.full(ratings.outputs, end) for end in (-np.inf, np.inf))
    np.maximum.at(high, ratings.output, ratings.value)
    np.minimum.at(low, ratings.output, ratings.value)
    return np.where(ratings.count > 1, high - low, 0.0)
