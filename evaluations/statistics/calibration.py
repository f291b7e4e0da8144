"""Map a judge's scores to the human scale, and compare their distributions."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from evaluations.statistics.jackknife import LeftOut
from evaluations.statistics.layout import Outputs, complete
from evaluations.statistics.pairing import FloatArray, IntArray
from evaluations.statistics.resampling import Interval


@dataclass(frozen=True)
class Isotonic:
    """A monotonic map: at each distinct score `x` the calibrated value `fit`."""

    x: FloatArray
    fit: FloatArray

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Calibrated scores, by linear interpolation; constant beyond the ends."""
        return np.interp(scores, self.x, self.fit)


@dataclass(frozen=True)
class CalibrationError:
    """Mean absolute distance to people before, after the isotonic, and after the ordinal map, by
    cross-validation over documents."""

    before: float
    after: float
    folds: int
    ordinal: float | None = None


def isotonic(judge: FloatArray, human: FloatArray) -> Isotonic:
    """The monotonic map closest to the ratings (pool adjacent violators; Barlow et al., 1972),
    equal scores pooled.

    Args:
        judge, human: shape (n,), complete.
    """
    x, place, count = np.unique(judge, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=human) / count
    return _monotonic(x, mean, count)


def _monotonic(x: FloatArray, mean: FloatArray, count: FloatArray | IntArray) -> Isotonic:
    """The monotonic map closest to mean ratings, each of so many outputs with a score of `x`."""
    return Isotonic(x, np.asarray(optimize.isotonic_regression(mean, weights=count).x))


def cross_validated_error(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    *,
    folds: int = 5,
    rng: np.random.Generator,
) -> CalibrationError | None:
    """Distance of scores from people before and after calibration, cross-validated over documents.

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
    # Sorted once; the folds are told apart in tables of how often each score occurs in them.
    scores, place = np.unique(judge, return_inverse=True)
    of_output = fold[outputs.document]
    cell = of_output * len(scores) + place
    count, total = (
        np.bincount(cell, weights, folds * len(scores)).reshape(folds, -1).astype(float)
        for weights in (None, human)
    )
    by_rating = np.argsort(human)
    rating, fold_of_rating = human[by_rating], of_output[by_rating]
    after, ordinal = np.empty((folds, len(scores))), np.empty((folds, len(scores)))
    for number in range(folds):
        others = np.arange(folds) != number
        kept, sum_of = count[others].sum(axis=0), total[others].sum(axis=0)
        there = kept > 0
        x, kept, sum_of = scores[there], kept[there], sum_of[there]
        after[number] = _monotonic(x, sum_of / kept, kept)(scores)
        ordinal[number] = _linked(x, kept, rating[fold_of_rating != number])(scores)
    after, ordinal = after.ravel()[cell], ordinal.ravel()[cell]
    first, second, third = (
        float(np.abs(scores - human).mean()) for scores in (judge, after, ordinal)
    )
    return CalibrationError(first, second, folds, third)


def equipercentile(judge: FloatArray, human: FloatArray) -> Isotonic:
    """The ordinal map: a score becomes the rating with the same percentile rank.

    Equipercentile linking (Kolen and Brennan, 2014). It uses the order of scores only and keeps the
    spread of ratings, while the isotonic map moves outputs that the judge cannot distinguish
    towards the middle.

    Args:
        judge, human: shape (n,), complete.
    """
    x, count = np.unique(judge, return_counts=True)
    return _linked(x, count, np.sort(human))


def _linked(x: FloatArray, count: FloatArray | IntArray, ratings: FloatArray) -> Isotonic:
    """The ordinal map of scores `x`, which so many outputs have, to the sorted ratings of these
    outputs."""
    # Hazen's quantiles; numpy's own take time with the square of how many are asked for.
    at = np.clip(np.cumsum(count) - count / 2 - 0.5, 0, len(ratings) - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, len(ratings) - 1)
    return Isotonic(x, ratings[low] + (ratings[high] - ratings[low]) * (at - low))


@dataclass(frozen=True)
class ReliabilityBin:
    """Outputs with similar scores: their mean score, their mean rating, and how many there are."""

    score: float
    rating: float
    outputs: int


def reliability(
    judge: FloatArray, human: FloatArray, *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """People's ratings of outputs with similar scores, in bins of similar size (equal scores
    together).

    Args:
        judge, human: shape (n,), complete.
    """
    place = _bins(judge, bins)
    return tuple(_bin(judge, human, place == at) for at in np.unique(place))


def reliability_intervals(
    outputs: Outputs, judge: FloatArray, human: FloatArray, *, bins: int = 10
) -> tuple[tuple[ReliabilityBin, Interval], ...]:
    """The same bins, each with the 95 % interval of its mean rating over documents.

    Outputs of one document are alike, so documents are what is left out: the delete-one-group
    jackknife with Student's t (Efron and Tibshirani, 1993), from ten documents up.

    Args:
        judge, human: shape (outputs,), NaN for missing.
    """
    outputs, (judge, human) = complete(outputs, judge, human)
    place = _bins(judge, bins)
    return tuple(
        (_bin(judge, human, place == at), _mean_interval(outputs.document, human, place == at))
        for at in np.unique(place)
    )


def _bins(judge: FloatArray, bins: int) -> IntArray:
    """The bin of each score; shape (n,)."""
    if not len(judge):
        return np.empty(0, dtype=np.int64)
    edges = np.unique(np.quantile(judge, np.linspace(0, 1, bins + 1)))
    place = np.searchsorted(edges, judge, side="right") - 1
    return np.clip(place, 0, max(0, len(edges) - 2))


def _bin(judge: FloatArray, human: FloatArray, inside: np.ndarray) -> ReliabilityBin:
    mean_score, mean_rating = float(judge[inside].mean()), float(human[inside].mean())
    return ReliabilityBin(mean_score, mean_rating, int(inside.sum()))


def _mean_interval(document: IntArray, human: FloatArray, inside: np.ndarray) -> Interval:
    """The interval over documents of the mean rating of some outputs."""
    found, place = np.unique(document[inside], return_inverse=True)
    totals, counts = np.bincount(place, weights=human[inside]), np.bincount(place)
    rest = counts.sum() - counts
    with np.errstate(invalid="ignore"):
        left_out = (totals.sum() - totals) / np.where(rest, rest, np.nan)
    mean = float(totals.sum() / counts.sum())
    return LeftOut.each(len(found)).interval(mean, left_out, counting=len(found))
