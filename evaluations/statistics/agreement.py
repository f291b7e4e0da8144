"""How far annotators agree with each other: Krippendorff's alpha, and each annotator against the mean of the others."""

import warnings
from dataclasses import dataclass
from typing import Literal

import krippendorff
import numpy as np

from evaluations.statistics.correlation import Coefficient, coefficients_by_document, complete_pairs
from evaluations.statistics.pairing import FloatArray, mean_over_raters
from evaluations.statistics.results import Estimate

Measurement = Literal["nominal", "ordinal", "interval"]
MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class LeaveOneOut:
    """One annotator's summary-level correlation with the mean of the others, and the documents it stands on."""

    estimate: Estimate
    documents_used: int


def krippendorff_alpha(ratings: FloatArray, measurement: Measurement) -> Estimate:
    """Krippendorff's alpha (Krippendorff, 2011) over all outputs.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing; outputs with one rating do not count.
    """
    units = ratings.reshape(len(ratings), ratings.shape[1] * ratings.shape[2])
    rated_twice = units[:, (~np.isnan(units)).sum(axis=0) > 1]
    values = rated_twice[~np.isnan(rated_twice)]
    if not values.size:
        return Estimate.undefined("no output has ratings by two annotators")
    if np.ptp(values) == 0:
        return Estimate.undefined("all ratings are the same, so agreement by chance cannot be told apart")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # raters without a rating among these outputs
        value = krippendorff.alpha(reliability_data=rated_twice, level_of_measurement=measurement)
    return Estimate(float(value))


def leave_one_out(ratings: FloatArray, rater: int, *, coefficient: Coefficient = "spearman") -> LeaveOneOut:
    """How a rater ranks a document's outputs compared with the mean of the others: the ceiling for a judge.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.
        rater: which of them is left out of the mean.
    """
    others = mean_over_raters(np.delete(ratings, rater, axis=0))
    by_document = coefficients_by_document(*complete_pairs(ratings[rater], others), coefficient)
    used = by_document[~np.isnan(by_document)]
    if not used.size:
        reason = "in no document do this annotator's ratings and the others' both vary over the same outputs"
        return LeaveOneOut(Estimate.undefined(reason), 0)
    return LeaveOneOut(Estimate(float(used.mean())), len(used))
