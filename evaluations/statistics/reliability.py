"""Reliability of annotators: intraclass correlations, kappas, and what they allow a judge to
reach."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.results import Estimate

Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of Shrout and Fleiss (1979): one-way, two-way single, two-way mean of
    k raters."""

    icc1: Estimate
    icc2_1: Estimate
    icc2_k: Estimate


def intraclass(ratings: FloatArray) -> Icc:
    """ICC(1), ICC(2,1) and ICC(2,k) over the targets that every rater rated.

    Args:
        ratings: shape (raters, targets), NaN for missing.
    """
    complete = ratings[:, ~np.isnan(ratings).any(axis=0)].T
    n, k = complete.shape
    if n < 2 or k < 2:
        missing = Estimate.undefined(
            "fewer than two raters, or fewer than two outputs that all of them rated"
        )
        return Icc(missing, missing, missing)
    grand = complete.mean()
    targets = k * ((complete.mean(axis=1) - grand) ** 2).sum()
    raters = n * ((complete.mean(axis=0) - grand) ** 2).sum()
    total = ((complete - grand) ** 2).sum()
    between = targets / (n - 1)
    within = (total - targets) / (n * (k - 1))
    judges = raters / (k - 1)
    error = (total - targets - raters) / ((n - 1) * (k - 1))
    reason = "all ratings are the same"
    return Icc(
        _ratio(between - within, between + (k - 1) * within, reason),
        _ratio(between - error, between + (k - 1) * error + k * (judges - error) / n, reason),
        _ratio(between - error, between + (judges - error) / n, reason),
    )


def cohen_kappa(first: FloatArray, second: FloatArray, weights: Weights) -> Estimate:
    """Cohen's kappa of two raters, weighted (Cohen, 1960, 1968), over what both rated.

    Args:
        first, second: shape (outputs,), NaN for missing.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    if not both.any():
        return Estimate.undefined("the two rated nothing in common")
    levels = np.unique(np.concatenate([first[both], second[both]]))
    a, b = np.searchsorted(levels, first[both]), np.searchsorted(levels, second[both])
    observed = np.zeros((len(levels), len(levels)))
    np.add.at(observed, (a, b), 1 / both.sum())
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    distance = np.abs(levels[:, None] - levels[None, :])
    penalty = {"none": (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[
        weights
    ]
    chance = (penalty * expected).sum()
    if chance == 0:
        return Estimate.undefined("both gave every output the same rating")
    return Estimate(float(1 - (penalty * observed).sum() / chance))


def fleiss_kappa(ratings: FloatArray) -> Estimate:
    """Fleiss' kappa (1971) over outputs that as many raters rated as any.

    Args:
        ratings: shape (raters, outputs), NaN for missing.
    """
    count = (~np.isnan(ratings)).sum(axis=0)
    most = int(count.max(initial=0))
    if most < 2:
        return Estimate.undefined("no output was rated twice")
    units = ratings[:, count == most]
    levels = np.unique(units[~np.isnan(units)])
    table = np.stack([(units == level).sum(axis=0) for level in levels], axis=1)
    by_unit = ((table**2).sum(axis=1) - most) / (most * (most - 1))
    chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return _ratio(float(by_unit.mean()) - chance, 1 - chance, "all ratings are the same")


def _ratio(numerator: float, denominator: float, reason: str) -> Estimate:
    return (
        Estimate.undefined(reason)
        if abs(denominator) < 1e-15
        else Estimate(float(numerator / denominator))
    )
