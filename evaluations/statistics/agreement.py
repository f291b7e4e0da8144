"""Agreement of annotators: Krippendorff's alpha, and each annotator compared with the others'
mean."""

import warnings
from dataclasses import dataclass
from typing import Literal

import krippendorff
import numpy as np

from evaluations.statistics.correlation import Coefficient, coefficients_by_document, complete_pairs
from evaluations.statistics.jackknife import LeftOut, mapped, no_interval, within
from evaluations.statistics.pairing import FloatArray, mean_over_raters
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class LeaveOneOut:
    """One annotator's summary-level correlation with the others' mean, and the documents used."""

    estimate: Estimate
    documents_used: int


def krippendorff_alpha(ratings: FloatArray, measurement: Measurement) -> Estimate:
    """Krippendorff's alpha (Krippendorff, 2011) over all outputs.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing; outputs with one rating do not
            count.
    """
    units = ratings.reshape(len(ratings), ratings.shape[1] * ratings.shape[2])
    rated_twice = units[:, (~np.isnan(units)).sum(axis=0) > 1]
    values = rated_twice[~np.isnan(rated_twice)]
    if not values.size:
        return Estimate.undefined("no output has ratings by two annotators")
    if np.ptp(values) == 0:
        return Estimate.undefined(
            "all ratings are the same, so agreement cannot be distinguished from chance"
        )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # raters without a rating among these outputs
        value = krippendorff.alpha(reliability_data=rated_twice, level_of_measurement=measurement)
    return Estimate(float(value))


def alpha_interval(ratings: FloatArray, measurement: Measurement, documents: LeftOut) -> Interval:
    """An interval of alpha over documents, on the logarithm of the disagreement 1 - alpha.

    Each document's share of the coincidence matrix (Krippendorff, 2011) is counted once; without
    some documents, the matrix is the sum of the others'.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.
    """
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) < 2:
        return no_interval("all ratings are the same, or there are none")
    counts = (
        (ratings[..., None] == values).sum(axis=0).astype(float)
    )  # (documents, systems, values)
    raters = counts.sum(axis=2)
    weight = np.where(raters > 1, 1 / np.maximum(raters - 1, 1), 0.0)
    weighted = counts * weight[..., None]
    coincidences = np.einsum("dsc,dsk->dck", weighted, counts, optimize=True)
    coincidences[:, np.arange(len(values)), np.arange(len(values))] -= weighted.sum(axis=1)
    # The last row is everything; the others leave some documents out.
    kept = np.vstack([documents.counts, np.ones(len(coincidences))])
    resampled = (kept @ coincidences.reshape(len(coincidences), -1)).reshape(
        -1, len(values), len(values)
    )
    of_value = resampled.sum(axis=2)
    distance = _squared_distance(values, of_value, measurement)
    total = of_value.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (resampled * distance).sum(axis=(1, 2)) / total
        expected = np.einsum(
            "rc,rck,rk->r", of_value, np.broadcast_to(distance, resampled.shape), of_value
        ) / (total * (total - 1))
        disagreement = np.log(np.where(expected > 0, observed / expected, np.nan))
    counting = int((raters > 1).any(axis=1).sum())
    found = documents.interval(float(disagreement[-1]), disagreement[:-1], counting=counting)
    return mapped(found, lambda end: 1 - np.exp(end))


def _squared_distance(
    values: FloatArray, of_value: FloatArray, measurement: Measurement
) -> FloatArray:
    """Krippendorff's squared differences of values; shape (values, values), or by resample for
    ordinal ones."""
    c, k = values[:, None], values[None, :]
    if measurement == "nominal":
        differs: FloatArray = (c != k).astype(float)
        return differs
    if measurement == "interval":
        return np.asarray((c - k) ** 2)
    if measurement == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num((c - k) / (c + k)) ** 2)
    middle = np.cumsum(of_value, axis=1) - of_value / 2
    return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)


@dataclass(frozen=True)
class Ceiling:
    """The mean of annotators' summary-level correlations with the others' mean, with its
    interval."""

    estimate: Estimate
    interval: Interval
    by_rater: tuple[LeaveOneOut, ...]


def human_ceiling(ratings: FloatArray, coefficient: Coefficient, documents: LeftOut) -> Ceiling:
    """The human ceiling: every annotator compared with the mean of the others, averaged over
    annotators.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.
    """
    if len(ratings) < 2:
        nobody = Estimate.undefined("no two annotators rated the same outputs of a document")
        return Ceiling(nobody, no_interval(nobody.reason), ())
    by_document = [_left_out(ratings, rater, coefficient) for rater in range(len(ratings))]
    each = tuple(_mean_of(row) for row in by_document)
    values = [one.estimate.value for one in each if one.estimate.value is not None]
    if not values:
        nobody = Estimate.undefined("no two annotators rated the same outputs of a document")
        return Ceiling(nobody, no_interval(nobody.reason), each)
    some = np.stack([row for row in by_document if not np.isnan(row).all()])
    interval = documents.interval(
        float(np.mean(values)),
        np.mean([documents.means(row) for row in some], axis=0),
        counting=int((~np.isnan(some)).any(axis=0).sum()),
    )
    return Ceiling(Estimate(float(np.mean(values))), within(interval, -1.0, 1.0), each)


def judge_as_a_rater(
    ratings: FloatArray, judge: FloatArray, coefficient: Coefficient = "spearman"
) -> Estimate:
    """What a judge reaches where it stands in for each annotator in turn: its summary-level
    correlation with the mean of the others, on the outputs that the annotator rated, averaged over
    annotators.

    This is what compares with the human ceiling: both face the mean of the same people. A judge
    compared with everybody's mean faces one more, which alone makes an annotator's equal look
    better than an annotator.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.
        judge: shape (documents, systems), NaN for missing.
    """
    found = []
    for rater in range(len(ratings)):
        others = _mean_of_others(ratings, rater)
        same = np.where(np.isnan(ratings[rater]), np.nan, judge)
        by_document = coefficients_by_document(*complete_pairs(same, others), coefficient)
        if (~np.isnan(by_document)).any():
            found.append(float(np.nanmean(by_document)))
    if not found:
        return Estimate.undefined("no two annotators rated outputs that the judge scored")
    return Estimate(float(np.mean(found)))


def leave_one_out(
    ratings: FloatArray, rater: int, *, coefficient: Coefficient = "spearman"
) -> LeaveOneOut:
    """How a rater ranks a document's outputs compared with the mean of the others: the ceiling for
    a judge.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.
        rater: the one that is left out of the mean.
    """
    return _mean_of(_left_out(ratings, rater, coefficient))


def _mean_of_others(ratings: FloatArray, rater: int) -> FloatArray:
    return mean_over_raters(np.delete(ratings, rater, axis=0))


def _left_out(ratings: FloatArray, rater: int, coefficient: Coefficient) -> FloatArray:
    """By document, a rater's coefficient with the mean of the others; shape (documents,)."""
    others = _mean_of_others(ratings, rater)
    return coefficients_by_document(*complete_pairs(ratings[rater], others), coefficient)


def _mean_of(by_document: FloatArray) -> LeaveOneOut:
    used = by_document[~np.isnan(by_document)]
    if not used.size:
        reason = (
            "in no document do this annotator's ratings and the others' both vary over the same"
            " outputs"
        )
        return LeaveOneOut(Estimate.undefined(reason), 0)
    return LeaveOneOut(Estimate(float(used.mean())), len(used))
