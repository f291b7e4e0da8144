"""Weighted kappa of a judge's scores with people's (Cohen, 1968), with squared distances: one minus
the mean squared distance by what chance would give. Scores between points need no rounding; it is
then Lin's concordance (1989), and on two points Cohen's kappa (1960).

Its interval over documents is by Fisher's z, which holds where kappa is high and ratings are
skewed, with the jackknife's standard error of kappa. Where all agree, nothing tells how far the
next error would be off: it counts as a rating by chance, and the interval is that of a share.
"""

import math
from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, complete
from geval.statistics.jackknife import (
    LeftOut,
    documents_counting,
    no_interval,
    t_quantile,
)
from geval.statistics.resampling import Interval
from geval.statistics.shares import WithLowerEnd, wilson
from geval.statistics.thresholds import (
    CONFIDENCE,
    EXPERT_LABELS,
    INTERVAL_DOCUMENTS,
)
from geval.statistics.types import Estimate, FloatArray

CONSTANT = "people or the judge gave every output the same score"
_FEW = f"it takes {EXPERT_LABELS} outputs with ratings and scores"
# Where agreement is perfect, Fisher's z is infinite.
HIGHEST = 1 - 1e-9


@dataclass(frozen=True)
class KappaEstimate(WithLowerEnd):
    """Weighted kappa over `outputs` with its 95 % interval; `error` is the standard error of
    Fisher's z, with `freedom` degrees of freedom, 0 without an interval."""

    estimate: Estimate
    interval: Interval
    outputs: int
    error: float = 0.0
    freedom: float = 0.0

    def ends_at(self, confidence: float) -> tuple[float, float] | None:
        if self.estimate.value is None or not self.error:
            return None
        half = t_quantile(self.freedom, confidence) * self.error
        middle = float(_z(self.estimate.value))
        return math.tanh(middle - half), math.tanh(middle + half)

    def outputs_for(self, value: float, least: float, error: float) -> float:
        half = t_quantile(self.freedom, 1 - 2 * error) * self.error
        return self.outputs * float(half / (_z(value) - _z(least))) ** 2


def weighted_kappa(outputs: Outputs, human: FloatArray, judge: FloatArray) -> KappaEstimate:
    """Return the weighted kappa of the outputs that both rated.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    common, (rated, scored) = complete(outputs, human, judge)
    documents = LeftOut.of(outputs.documents, outputs.group)
    return kappa_estimate(common, *_with_each_left_out(common, rated, scored, documents), documents)


def kappa_estimate(
    common: Outputs, value: float, left_out: FloatArray, documents: LeftOut
) -> KappaEstimate:
    """Return a kappa with its interval over documents.

    Args:
        common: the outputs that both rated.
        left_out: the value with each document or group left out.
    """
    count = len(common)
    if not math.isfinite(value):
        return KappaEstimate(Estimate.undefined(CONSTANT), no_interval(CONSTANT), count)
    if count < EXPERT_LABELS:
        return KappaEstimate(Estimate(value), no_interval(_FEW), count)
    counting = documents_counting(common)
    interval = documents.interval(value, left_out, counting=counting)
    freedom = float(documents.freedom(counting))
    if value > HIGHEST and counting >= INTERVAL_DOCUMENTS:
        low, _high = wilson(1.0, counting, freedom, CONFIDENCE)
        error = float(_z(HIGHEST) - _z(low)) / t_quantile(freedom)
        return KappaEstimate(Estimate(value), Interval(low, 1.0), count, error, freedom)
    if interval.ends is None:
        return KappaEstimate(Estimate(value), interval, count)
    of_z = math.sqrt(documents.variance(left_out)) / (1 - value**2)
    half = t_quantile(freedom) * of_z
    ends = Interval(math.tanh(_z(value) - half), math.tanh(_z(value) + half))
    return KappaEstimate(Estimate(value), ends, count, of_z, freedom)


def kappa_lead(
    outputs: Outputs, human: FloatArray, judge: FloatArray, other: FloatArray
) -> Interval:
    """Return the interval over documents of how much higher a judge's weighted kappa is than
    another's, over the outputs that all rated.

    Args:
        human, judge, other: shape (outputs,), NaN for missing.
    """
    common, (rated, first, second) = complete(outputs, human, judge, other)
    documents = LeftOut.of(outputs.documents, outputs.group)
    own, own_left_out = _with_each_left_out(common, rated, first, documents)
    its, its_left_out = _with_each_left_out(common, rated, second, documents)
    if not math.isfinite(own - its):
        return no_interval(CONSTANT)
    return documents.interval(
        own - its, own_left_out - its_left_out, counting=documents_counting(common)
    )


def _z(kappa: FloatArray | float) -> FloatArray:
    return np.asarray(np.arctanh(np.clip(kappa, -HIGHEST, HIGHEST)))


def _with_each_left_out(
    common: Outputs, rated: FloatArray, scored: FloatArray, documents: LeftOut
) -> tuple[float, FloatArray]:
    """Return kappa, and with each document or group left out; NaN where undefined."""
    # Less the middle, so that squares lose no digits.
    middle = float(np.mean(rated)) if len(rated) else 0.0
    people, judge = rated - middle, scored - middle
    parts = (None, people, judge, people**2, judge**2, people * judge)
    sums = [common.weighing(part) for part in parts]
    kappa = _kappa(np.array([part.sum() for part in sums]))
    return float(kappa), _kappa(np.array([documents.sums(part) for part in sums]))


def _kappa(sums: FloatArray) -> FloatArray:
    """Return kappa from sums of shape (6, ...): weights, both sides, their squares and products."""
    with np.errstate(invalid="ignore", divide="ignore"):
        people, judge, people_2, judge_2, product = sums[1:] / sums[0]
        chance = people_2 - people**2 + judge_2 - judge**2 + (people - judge) ** 2
        return np.asarray(2 * (product - people * judge) / np.where(chance > 1e-12, chance, np.nan))
