"""Map a judge's scores to the human scale, and compare their distributions.

Outputs that were drawn with different probabilities count by their weights: maps, errors and means
are those of a population in which each output occurs as often as its weight.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, complete
from geval.statistics.jackknife import LeftOut, counting_by
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray, IntArray
from geval.statistics.weighted import weighted_mean


@dataclass(frozen=True)
class Isotonic:
    """A monotonic map: at each distinct score `x` the calibrated value `fit`."""

    x: FloatArray
    fit: FloatArray

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Calibrated scores, by linear interpolation; constant beyond the ends."""
        return np.interp(scores, self.x, self.fit)

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """Each score with its calibrated value."""
        return tuple(zip(self.x.tolist(), self.fit.tolist(), strict=True))


@dataclass(frozen=True)
class CalibrationError:
    """Mean absolute distance to people before and after the isotonic map, and that of the best
    constant score; by cross-validation over documents."""

    before: float
    after: float
    folds: int
    constant: float | None = None

    @property
    def is_worth_a_map(self) -> bool:
        """Whether the isotonic map is closer to people than the best constant: otherwise it only
        draws scores towards the middle."""
        return self.constant is None or self.after < self.constant


def isotonic(judge: FloatArray, human: FloatArray, weight: FloatArray | None = None) -> Isotonic:
    """Return the monotonic map closest to the ratings (pool adjacent violators; Barlow et al.,
    1972), equal scores pooled.

    Args:
        judge, human: shape (n,), complete.
        weight: shape (n,), the sampling weights.
    """
    x, place = np.unique(judge, return_inverse=True)
    count = np.bincount(place, weight)
    mean = np.bincount(place, human if weight is None else human * weight) / count
    return _monotonic(x, mean, count)


def _monotonic(x: FloatArray, mean: FloatArray, count: FloatArray | IntArray) -> Isotonic:
    """Return the monotonic map closest to mean ratings; `count` outputs have a score of `x`."""
    return Isotonic(x, _pooled(mean.tolist(), count.tolist()))


def _pooled(mean: list[float], count: list[float]) -> FloatArray:
    """Pool adjacent violators into rising means. It sums in the order of scipy's
    `isotonic_regression`, with identical results; scipy's takes a third of a second to import."""
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    position, last = 0, len(mean)
    while position < last:
        value, weight, size = mean[position], count[position], 1
        position += 1
        if means and means[-1] >= value:
            before = weights.pop()
            total = before * means.pop() + weight * value
            weight += before
            value = total / weight
            size += sizes.pop()
            while position < last and value >= mean[position]:
                total += count[position] * mean[position]
                weight += count[position]
                value = total / weight
                size, position = size + 1, position + 1
            while means and means[-1] >= value:
                before = weights.pop()
                total += before * means.pop()
                weight += before
                value = total / weight
                size += sizes.pop()
        means.append(value)
        weights.append(weight)
        sizes.append(size)
    return np.repeat(means, sizes)


def cross_validated_error(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    *,
    folds: int = 5,
    rng: np.random.Generator,
) -> CalibrationError | None:
    """Compute the distance of scores from people before and after calibration, cross-validated over
    documents.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    documents = np.flatnonzero(outputs.documents_with())
    folds = min(folds, len(documents))
    if folds < 2:
        return None
    fold = np.full(outputs.documents, -1)
    for number, held_out in enumerate(np.array_split(rng.permutation(documents), folds)):
        fold[held_out] = number
    # Sorted once; folds are tables of how often each score occurs in them.
    scores, place = np.unique(judge, return_inverse=True)
    of_output = fold[outputs.document]
    cell = of_output * len(scores) + place
    weights = outputs.weight
    count, total = (
        np.bincount(cell, values, folds * len(scores)).reshape(folds, -1).astype(float)
        for values in (weights, human if weights is None else human * weights)
    )
    by_rating = np.argsort(human)
    rating, fold_of_rating = human[by_rating], of_output[by_rating]
    of_rating = None if weights is None else weights[by_rating]
    after = np.empty((folds, len(scores)))
    constant = np.empty(folds)
    for number in range(folds):
        others = np.arange(folds) != number
        kept, sum_of = count[others].sum(axis=0), total[others].sum(axis=0)
        occurring = kept > 0
        x, kept, sum_of = scores[occurring], kept[occurring], sum_of[occurring]
        after[number] = _monotonic(x, sum_of / kept, kept)(scores)
        rest = fold_of_rating != number
        weight = None if of_rating is None else of_rating[rest]
        constant[number] = nearest_to_all(rating[rest], weight)
    before, mapped, same = (
        outputs.mean(np.abs(scores - human))
        for scores in (judge, after.ravel()[cell], constant[of_output])
    )
    return CalibrationError(before, mapped, folds, same)


def nearest_to_all(ratings: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the best constant: the rating with the smallest mean absolute distance from all
    ratings, which is the lower median.

    Args:
        ratings: shape (n,), complete, at least one.
        weight: shape (n,), the sampling weights.
    """
    order = np.argsort(ratings)
    below = np.arange(1, len(order) + 1) if weight is None else np.cumsum(weight[order])
    return float(ratings[order[np.searchsorted(below, below[-1] / 2)]])


def equipercentile(
    judge: FloatArray, human: FloatArray, weight: FloatArray | None = None
) -> Isotonic:
    """Return the ordinal map: a score becomes the rating with the same percentile rank.

    Equipercentile linking (Kolen and Brennan, 2014). It uses only the order of scores and keeps the
    spread of ratings, while the isotonic map moves outputs that the judge cannot distinguish
    towards the middle.

    Args:
        judge, human: shape (n,), complete.
        weight: shape (n,), the sampling weights.
    """
    if weight is None:
        x, counts = np.unique(judge, return_counts=True)
        return _linked(x, counts, np.sort(human))
    x, place = np.unique(judge, return_inverse=True)
    order = np.argsort(human)
    return _linked(x, np.bincount(place, weight), human[order], weight[order])


def _linked(
    x: FloatArray,
    count: FloatArray | IntArray,
    ratings: FloatArray,
    weight: FloatArray | None = None,
) -> Isotonic:
    """Return the ordinal map of scores `x`, which `count` outputs have, to the sorted ratings of
    these outputs with their weights."""
    if weight is not None:
        below: FloatArray = np.cumsum(count, dtype=float) - count / 2
        return Isotonic(x, _hazen(below, ratings, weight))
    # Hazen's quantiles; numpy's take quadratic time in the number of quantiles.
    rank = np.clip(np.cumsum(count) - count / 2 - 0.5, 0, len(ratings) - 1)
    low = np.floor(rank).astype(np.int64)
    high = np.minimum(low + 1, len(ratings) - 1)
    return Isotonic(x, ratings[low] + (ratings[high] - ratings[low]) * (rank - low))


def _hazen(at: FloatArray, ratings: FloatArray, weight: FloatArray) -> FloatArray:
    """Return Hazen's quantiles of weighted ratings: between the middles of the first and the last
    of equal ratings they are constant.

    Args:
        at: shape (quantiles,), how many ratings lie below.
        ratings: shape (n,), ascending.
    """
    above = np.cumsum(weight)
    half = np.minimum(weight / 2, 0.5)
    knots = np.stack([above - weight + half, above - half], axis=1).ravel()
    return np.interp(at, knots, np.repeat(ratings, 2))


@dataclass(frozen=True)
class ReliabilityBin:
    """Outputs with similar scores: mean score, mean rating, and number."""

    score: float
    rating: float
    outputs: int


def reliability_intervals(
    outputs: Outputs, judge: FloatArray, human: FloatArray, *, bins: int = 10
) -> tuple[tuple[ReliabilityBin, Interval], ...]:
    """Return people's ratings of outputs with similar scores, in bins with about equal numbers of
    rated outputs (equal scores stay together; for a judge with few values, one bin each), each with
    the 95 % interval of its mean rating over documents.

    Outputs of a document are correlated, so whole documents are left out: the delete-one-group
    jackknife with Student's t (Efron and Tibshirani, 1993), from ten documents up.

    Args:
        judge, human: shape (outputs,), NaN for missing.
    """
    outputs, (judge, human) = complete(outputs, judge, human)
    place = bins_of(judge, bins)
    return tuple(
        (
            _bin(judge, human, outputs.weight, place == index),
            _mean_interval(outputs.part(place == index), human[place == index]),
        )
        for index in np.unique(place)
    )


def bins_of(judge: FloatArray, bins: int) -> IntArray:
    """Return the bin of each score; shape (n,)."""
    edges = np.unique(judge)
    if len(edges) > bins:
        edges = np.unique(np.quantile(judge, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.searchsorted(edges, judge, side="right")


def _bin(
    judge: FloatArray, human: FloatArray, weight: FloatArray | None, inside: np.ndarray
) -> ReliabilityBin:
    weights = None if weight is None else weight[inside]
    mean_score, mean_rating = (
        float(side[inside].mean()) if weights is None else weighted_mean(side[inside], weights)
        for side in (judge, human)
    )
    return ReliabilityBin(mean_score, mean_rating, int(inside.sum()))


def _mean_interval(outputs: Outputs, human: FloatArray) -> Interval:
    """Return the interval over documents of the mean rating of some outputs."""
    documents, place = np.unique(outputs.document, return_inverse=True)
    weights, of_documents = outputs.weight, outputs.document_weight
    totals = np.bincount(place, human if weights is None else human * weights)
    counts = np.bincount(place, weights)
    rest = counts.sum() - counts
    with np.errstate(invalid="ignore"):
        left_out = (totals.sum() - totals) / np.where(rest, rest, np.nan)
    mean = float(totals.sum() / counts.sum())
    counting = counting_by(
        np.ones(len(documents), dtype=bool),
        None if of_documents is None else of_documents[documents],
    )
    group = None if outputs.group is None else outputs.group[documents]
    return LeftOut.of(len(documents), group).interval(mean, left_out, counting=counting)
