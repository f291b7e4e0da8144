"""Shares of outputs with Wilson's interval (1927) at their effective number, which documents whose
outputs are alike make smaller (Kish, 1965), with Student's t over documents.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, sums
from geval.statistics.jackknife import TOO_FEW, counting_by, no_interval, t_quantile
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import (
    AFFORDABLE_DOCUMENTS,
    CONFIDENCE,
    INTERVAL_DOCUMENTS,
    PASS_FAIL_DOCUMENTS,
)
from geval.statistics.types import Estimate, FloatArray


class WithEnds(ABC):
    """A figure with an interval at any confidence."""

    estimate: Estimate
    interval: Interval

    @abstractmethod
    def ends_at(self, confidence: float) -> tuple[float, float] | None:
        """Return the ends of the interval at a confidence; None without an interval."""

    def low(self, error: float) -> float | None:
        """Return the lower end that is above the true value with at most this probability; None
        without an interval."""
        ends = self.ends_at(1 - 2 * error)
        return None if ends is None else ends[0]


class WithLowerEnd(WithEnds):
    """A figure of `outputs` of which a lower end is required."""

    outputs: int

    @abstractmethod
    def outputs_for(self, value: float, least: float, error: float) -> float:
        """Return with how many outputs the lower end of a value would be the least."""

    def more_for(self, least: float, error: float) -> int | None:
        """Return how many more outputs bring the lower end to a value, if the estimate stays as it
        is; 0 if it is there, None if no affordable number does."""
        value, low = self.estimate.value, self.low(error)
        if low is None or value is None or value <= least:
            return None
        if low >= least:
            return 0
        more = math.ceil(self.outputs_for(value, least, error)) - self.outputs
        return max(1, more) if more <= AFFORDABLE_DOCUMENTS else None


@dataclass(frozen=True)
class ShareEstimate(WithLowerEnd):
    """A share with its 95 % interval.

    Of a share of `outputs`, `effective` is their effective number, and `freedom` the degrees of
    freedom over documents; 0 where there is no interval, or another kind of it.
    """

    estimate: Estimate
    interval: Interval
    outputs: int = 0
    effective: float = 0.0
    freedom: float = 0.0

    def ends_at(self, confidence: float) -> tuple[float, float] | None:
        if self.estimate.value is None or not self.effective:
            return None
        return wilson(self.estimate.value, self.effective, self.freedom, confidence)

    def outputs_for(self, value: float, least: float, error: float) -> float:
        quantile = t_quantile(self.freedom, 1 - 2 * error)
        # Wilson's lower end is the share that lies this many standard errors below the estimate.
        effective = least * (1 - least) * (quantile / (value - least)) ** 2
        return effective * self.outputs / self.effective


def wilson(share: float, count: float, freedom: float, confidence: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval (1927) of a share of a number of outputs, with Student's
    t in place of the normal quantile."""
    squared = t_quantile(freedom, confidence) ** 2
    middle = share + squared / (2 * count)
    half = math.sqrt(squared * share * (1 - share) / count + (squared / (2 * count)) ** 2)
    low, high = ((middle + side) / (1 + squared / count) for side in (-half, half))
    return max(0.0, low), min(1.0, high)


def without_share(reason: str) -> ShareEstimate:
    """Return a share without a value."""
    return ShareEstimate(Estimate.undefined(reason), no_interval(reason))


# A value, the ends of its interval, and its weight in a sum.
WeightedEnds = tuple[float, tuple[float, float], float]


def ends_of_sum(
    first: WeightedEnds, second: WeightedEnds, together: float = 0.0
) -> tuple[float, float]:
    """Return the interval of a weighted sum of two values from their own intervals and correlation
    (the method of variance estimates recovery: Zou and Donner, 2008): where a share is near 1, its
    errors to either side differ.

    Args:
        second: of a difference, with a negative weight.
    """
    (value, ends, weight), (other, others, by) = first, second
    middle = weight * value + by * other
    # The lower end of the sum has the upper end of what is subtracted.
    sides = [
        (weight * (ends[side] - value), by * (others[side if by > 0 else 1 - side] - other))
        for side in (0, 1)
    ]
    low, high = (
        math.sqrt(max(0.0, one**2 + two**2 + 2 * math.copysign(together, by) * abs(one * two)))
        for one, two in sides
    )
    return middle - low, middle + high


def share_of_outputs(
    outputs: Outputs,
    hits: np.ndarray,
    among: np.ndarray,
    *,
    redrawn: FloatArray | None = None,
    unit: str = "documents",
) -> ShareEstimate:
    """Return a share of outputs with Wilson's interval at their effective number.

    Args:
        hits, among: masks of shape (outputs,), the first within the second.
        redrawn: shape (draws,), the share in each resample, where thresholds were chosen.
        unit: what documents are, for reasons.
    """
    if not among.any():
        return without_share("no output counts")
    sample = sample_of(outputs, hits, among, redrawn)
    # Where outputs are alike, a standard error over few documents is too uncertain.
    least = INTERVAL_DOCUMENTS if sample.documents == sample.count else PASS_FAIL_DOCUMENTS
    if sample.documents < least:
        few = no_interval(TOO_FEW.format(least, unit))
        return ShareEstimate(Estimate(sample.share), few, sample.count)
    low, high = sample.ends
    estimate, interval = Estimate(sample.share), Interval(low, high)
    return ShareEstimate(estimate, interval, sample.count, sample.effective, sample.freedom)


@dataclass(frozen=True)
class ShareSample:
    """A share of `count` outputs of `documents`, their effective number, and the degrees of freedom
    of the interval."""

    share: float
    count: int
    documents: int
    effective: float
    freedom: float

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the 95 % interval."""
        return wilson(self.share, self.effective, self.freedom, CONFIDENCE)


def sample_of(
    outputs: Outputs, hits: np.ndarray, among: np.ndarray, redrawn: FloatArray | None = None
) -> ShareSample:
    """
    Args:
        hits, among: masks of shape (outputs,), the first within the second, which is not empty.
        redrawn: shape (draws,), the share in each resample, where thresholds were chosen.
    """
    weight = np.ones(len(hits)) if outputs.weight is None else outputs.weight
    count, total = int(among.sum()), float(weight[among].sum())
    share = float(weight[hits].sum()) / total
    with_any = np.isin(np.arange(outputs.documents), outputs.document[among])
    documents = counting_by(with_any, outputs.document_weight)
    binomial = share * (1 - share) / max(1, count - 1)
    # Of few documents nothing tells how much more alike the outputs of one are than others.
    effective = float(documents)
    if binomial and documents >= INTERVAL_DOCUMENTS:
        left = sums(outputs.document, weight * (hits - share * among), outputs.documents)
        variance = float((left**2).sum()) / total**2
        if redrawn is not None:
            variance = float(np.nanvar(redrawn))
        effective = count / max(1.0, variance * documents / (documents - 1) / binomial)
    # With one output a document nothing but the share itself is estimated.
    freedom = math.inf if documents == count else max(1, documents - 1)
    return ShareSample(share, count, documents, effective, freedom)
