"""Check whether a judge's probabilities of the points are calibrated against people's single
ratings.

Each rating of an output counts as one draw from the distribution of people, so a judge is compared
with the variation among people, and not only with their mean. Ratings of an output share its
weight.

- Brier score (Brier, 1950): the squared distance between the probabilities and a rating, over all
  points; 0 to 2, lower is better. It is best on average for the true distribution.
- Gain: the score minus that of guessing from the frequencies of points, without reading. Below 0 is
  better than guessing. The frequencies are those of the same ratings, so that no constant guess is
  better on them: a judge that gives every output the same probabilities has no gain.
- Calibration error (ECE): class-wise (Kull et al., 2019), in bins of equal mass, root mean square.
  The usual mean of absolute distances is above 0 even for calibrated probabilities, and more so
  with few outputs. The square has an unbiased estimate, from products of different documents only
  (Kumar, Liang and Ma, 2019; Sun, Song and Hero, 2024); its root is given.
- Overconfidence: the probability of the likeliest point, less the share of ratings that gave it. It
  needs no bins and is 0 on average for calibrated probabilities. Too high on some systems and too
  low on others, it is 0 as well, so the root mean square over systems, and over the shorter and the
  longer half of texts, is estimated like the calibration error.

Intervals leave out documents (jackknife, Student's t); `make bench-coverage` measures them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.calibration import ReliabilityBin, bins_of, reliability_intervals
from geval.statistics.jackknife import LeftOut, documents_counting, interval_of_mean, mapped, within
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import CALIBRATION_DOCUMENTS, CALIBRATION_OUTPUTS, CONFIDENCE
from geval.statistics.types import FloatArray, IntArray

# Usual in reliability diagrams; finer bins would have few ratings each.
BINS = 10
# A rating lies on a point if it is within this distance.
NEAR = 1e-6


@dataclass(frozen=True)
class Measured:
    """A value, its 95 % interval, and the wider joint interval, with which a report's sentences
    together err in at most 5 % of reports."""

    value: float
    interval: Interval
    joint: Interval


@dataclass(frozen=True)
class ProbabilityCalibration:
    """A judge's probabilities against single ratings.

    `error` is the calibration error, `over` the overconfidence: `confidence`, the mean probability
    of the likeliest point, less `right`, the share of ratings that gave it. `parts` has its root
    mean square over the parts of outputs, by what divides them ("system", "length"). `curve` is the
    reliability diagram: probabilities of all points, and the share of ratings that gave them.
    """

    brier: Measured
    gain: Measured
    error: Measured
    over: Measured
    confidence: float
    right: float
    curve: tuple[tuple[ReliabilityBin, Interval], ...]
    parts: dict[str, Measured] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadNothing:
    """Brier scores to compare with: of guessing from the frequencies of points, of equal
    probabilities, and of people's own distribution, which nothing beats on average (None where no
    output has two ratings)."""

    marginal: float
    uniform: float
    people: float | None


def shares_of_ratings(ratings: Ratings, points: tuple[float, ...]) -> FloatArray:
    """Return the share of an output's ratings that gave each point; shape (outputs, points), NaN
    for outputs without a rating on a point. Ratings between points are left out."""
    counts = counts_of_ratings(ratings, points)
    return mean_of(counts, counts.sum(axis=1, keepdims=True))


def counts_of_ratings(ratings: Ratings, points: tuple[float, ...]) -> FloatArray:
    """Return how many ratings gave each point; shape (outputs, points)."""
    scale = np.array(points)
    nearest = np.abs(ratings.value[:, None] - scale).argmin(axis=1)
    on = np.abs(ratings.value - scale[nearest]) <= NEAR
    cell = ratings.output[on] * len(scale) + nearest[on]
    return sums(cell, None, ratings.outputs * len(scale)).reshape(-1, len(scale))


def why_too_few(outputs: Outputs) -> str:
    """Return why there are too few outputs to assess probabilities; empty if there are enough.

    Args:
        outputs: the outputs with probabilities and ratings.
    """
    if len(outputs) < CALIBRATION_OUTPUTS:
        return f"fewer than {CALIBRATION_OUTPUTS} outputs have probabilities and single ratings"
    if documents_counting(outputs) < CALIBRATION_DOCUMENTS:
        return f"fewer than {CALIBRATION_DOCUMENTS} documents have probabilities and single ratings"
    return ""


def brier_of_each(judge: FloatArray, people: FloatArray) -> FloatArray:
    """Return the Brier score of each output: the mean over its ratings; shape (outputs,).

    Args:
        judge, people: shape (outputs, points), rows that add up to 1.
    """
    each: FloatArray = (judge**2).sum(axis=1) - 2 * (judge * people).sum(axis=1) + 1
    return each


def brier_of_guessing(outputs: Outputs, people: FloatArray) -> FloatArray:
    """Return the Brier score of each output for the points' frequencies over all outputs as
    probabilities; shape (outputs,)."""
    often = np.array([outputs.mean(share) for share in people.T])
    return brier_of_each(often[None, :], people)


def read_nothing(outputs: Outputs, people: FloatArray, counts: FloatArray) -> ReadNothing:
    """Return the Brier scores to compare judges with.

    Args:
        people: shape (outputs, points), shares of ratings.
        counts: the same as numbers of ratings.
    """
    points = people.shape[1]
    raters = counts.sum(axis=1)
    several = raters > 1
    differ = 1 - mean_of((counts * (counts - 1)).sum(axis=1), raters * (raters - 1))
    return ReadNothing(
        marginal=outputs.mean(brier_of_guessing(outputs, people)),
        uniform=1 - 1 / points,
        people=outputs.part(several).mean(differ[several]) if several.any() else None,
    )


def probability_calibration(
    outputs: Outputs,
    judge: FloatArray,
    people: FloatArray,
    *,
    words: FloatArray | None = None,
    joint: float = CONFIDENCE,
) -> ProbabilityCalibration:
    """Compare a judge's probabilities with single ratings.

    Args:
        outputs: as `why_too_few` asks.
        judge, people: shape (outputs, points), rows that add up to 1.
        words: shape (outputs,), the length of each text, NaN for missing.
        joint: the confidence of the wider intervals.
    """
    measured = _measuring(outputs, joint)
    brier = brier_of_each(judge, people)
    confidence, right = _likeliest(judge, people)
    return ProbabilityCalibration(
        brier=measured(brier),
        gain=measured(brier - brier_of_guessing(outputs, people)),
        error=_rooted(squared_calibration_error(outputs, judge, people, joint=joint)),
        over=measured(confidence - right),
        confidence=outputs.mean(confidence),
        right=outputs.mean(right),
        curve=_curve(outputs, judge, people),
        parts={
            name: _rooted(
                squared_calibration_error(
                    outputs, confidence[:, None], right[:, None], part[:, None], joint=joint
                )
            )
            for name, part in _parts_of(outputs, words).items()
        },
    )


def _parts_of(outputs: Outputs, words: FloatArray | None) -> dict[str, IntArray]:
    """Return the system of each output, and whether its text is longer than half of them; shape
    (outputs,) each. What does not divide outputs is left out."""
    parts = {"system": np.unique(outputs.system, return_inverse=True)[1]}
    if words is not None and not np.isnan(words).all():
        parts["length"] = (words > np.nanmedian(words)).astype(np.int64)
    return {name: part for name, part in parts.items() if len(np.unique(part)) > 1}


def brier_difference(
    outputs: Outputs,
    first: FloatArray,
    second: FloatArray,
    people: FloatArray,
    *,
    joint: float = CONFIDENCE,
) -> Measured:
    """Return the first judge's Brier score minus the second's, on the same ratings: below 0 the
    first has the better probabilities.

    Args:
        first, second, people: shape (outputs, points), rows that add up to 1.
    """
    measured = _measuring(outputs, joint)
    return measured(brier_of_each(first, people) - brier_of_each(second, people))


def _measuring(outputs: Outputs, joint: float) -> Callable[[FloatArray], Measured]:
    documents = LeftOut.of(outputs.documents, outputs.group)
    return lambda values: Measured(
        outputs.mean(values),
        interval_of_mean(outputs, values, documents),
        interval_of_mean(outputs, values, documents, confidence=joint),
    )


def _likeliest(judge: FloatArray, people: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability of each output's likeliest point, and the share of ratings that gave
    it; of several equally likely ones, their mean. Shape (outputs,) each."""
    most = judge.max(axis=1)
    likeliest = judge >= most[:, None] - 1e-9
    return most, (likeliest * people).sum(axis=1) / likeliest.sum(axis=1)


def _curve(
    outputs: Outputs, judge: FloatArray, people: FloatArray
) -> tuple[tuple[ReliabilityBin, Interval], ...]:
    """Return the reliability diagram over all points together."""
    points = judge.shape[1]
    each = Outputs(
        np.repeat(outputs.document, points),
        np.repeat(outputs.system, points),
        outputs.documents,
        outputs.systems,
        None if outputs.weight is None else np.repeat(outputs.weight, points),
        outputs.group,
    )
    curve = reliability_intervals(each, judge.ravel(), people.ravel(), bins=BINS)
    return tuple((bin_, within(interval, 0.0, 1.0)) for bin_, interval in curve)


def squared_calibration_error(
    outputs: Outputs,
    judge: FloatArray,
    people: FloatArray,
    bins: IntArray | None = None,
    *,
    joint: float = CONFIDENCE,
) -> Measured:
    """Return the mean over points of the squared distance in bins, without bias, so that it can be
    below 0 by chance.

    A bin's squared sum of distances uses only products of different documents (groups of them, if
    there are many): products of a document with itself are noise.

    Args:
        judge, people: shape (outputs, points), rows that add up to 1.
        bins: the bin of each output and point, of the same shape; of equal mass by default.
    """
    documents = LeftOut.of(outputs.documents, outputs.group)
    cells = _cells(judge) if bins is None else bins
    number = int(cells.max()) + 1
    weight = np.ones(len(outputs)) if outputs.weight is None else outputs.weight
    place = (documents.group[outputs.document][:, None] * number + cells).ravel()
    apart, mass = (
        sums(place, values.ravel(), documents.groups * number).reshape(-1, number)
        for values in ((judge - people) * weight[:, None], weight.repeat(judge.shape[1]))
    )
    squared = _from_different(apart, mass)
    left_out = np.array(
        [
            _from_different(np.delete(apart, index, 0), np.delete(mass, index, 0))
            for index in range(documents.groups)
        ]
    )
    interval, wide = (
        documents.interval(
            squared, left_out, counting=documents_counting(outputs), confidence=confidence
        )
        for confidence in (CONFIDENCE, joint)
    )
    return Measured(squared, interval, wide)


def _rooted(squared: Measured) -> Measured:
    return Measured(
        _root(squared.value), mapped(squared.interval, _root), mapped(squared.joint, _root)
    )


def _cells(judge: FloatArray) -> IntArray:
    """Return the bin of each output and point, bins of different points apart; shape (outputs,
    points)."""
    cells = np.empty(judge.shape, dtype=np.int64)
    first = 0
    for point in range(judge.shape[1]):
        _, cells[:, point] = np.unique(bins_of(judge[:, point], BINS), return_inverse=True)
        cells[:, point] += first
        first = int(cells[:, point].max()) + 1
    return cells


def _from_different(apart: FloatArray, mass: FloatArray) -> float:
    """Estimate bins' squared sums from different groups; `apart` and `mass`, shape (groups, bins),
    are sums of distances and of weights. A bin with a single group does not count."""
    groups = (mass > 0).sum(axis=0)
    is_usable = groups > 1
    apart, groups, of_bin = apart[:, is_usable], groups[is_usable], mass.sum(axis=0)[is_usable]
    products = (apart.sum(axis=0) ** 2 - (apart**2).sum(axis=0)) * groups / (groups - 1)
    return float((products / of_bin).sum() / mass.sum())


def _root(squared: float) -> float:
    return float(np.sqrt(max(0.0, squared)))
