"""Reliability of annotators: intraclass correlations and kappas."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from geval.statistics.arrays import Ratings, mean_of
from geval.statistics.types import Estimate, FloatArray

Weights = Literal["none", "linear", "quadratic"]
SAME = "all ratings are the same"


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of Shrout and Fleiss (1979): one-way, two-way single, two-way mean of
    k raters."""

    icc1: Estimate
    icc2_1: Estimate
    icc2_k: Estimate


def intraclass(ratings: Ratings) -> Icc:
    """ICC(1) over all outputs that were rated twice, whoever rated them; ICC(2,1) and ICC(2,k) over
    those that every rater rated."""
    k = ratings.raters
    rows = next((block.members for block in ratings.blocks if block.size == k), np.empty((0, k)))
    if k < 2 or len(rows) < 2:
        missing = Estimate.undefined(
            "fewer than two raters, or fewer than two outputs that all of them rated"
        )
        return Icc(one_way(ratings), missing, missing)
    # Raters of an output come in any order.
    order = np.argsort(ratings.rater[rows], axis=1)
    given = np.take_along_axis(ratings.value[rows], order, axis=1)
    n = len(given)
    grand = given.mean()
    targets = k * ((given.mean(axis=1) - grand) ** 2).sum()
    raters = n * ((given.mean(axis=0) - grand) ** 2).sum()
    total = ((given - grand) ** 2).sum()
    between = targets / (n - 1)
    judges = raters / (k - 1)
    error = (total - targets - raters) / ((n - 1) * (k - 1))
    return Icc(
        one_way(ratings),
        _ratio(between - error, between + (k - 1) * error + k * (judges - error) / n, SAME),
        _ratio(between - error, between + (judges - error) / n, SAME),
    )


def one_way(ratings: Ratings) -> Estimate:
    """ICC(1) from a one-way analysis of variance, which is valid for any number of ratings per
    output (Donner, 1986)."""
    twice = ratings.count > 1
    outputs, count = int(twice.sum()), ratings.count[twice]
    if outputs < 2:
        return Estimate.undefined("fewer than two outputs were rated twice")
    repeated = twice[ratings.output]
    value, output = ratings.value[repeated], ratings.output[repeated]
    means = mean_of(ratings.total, ratings.count)
    n = len(value)
    within = float(((value - means[output]) ** 2).sum()) / (n - outputs)
    between = float((count * (means[twice] - value.mean()) ** 2).sum()) / (outputs - 1)
    # The effective number of ratings per output of an incomplete design.
    each = (n - (count**2).sum() / n) / (outputs - 1)
    return _ratio(between - within, between + (each - 1) * within, SAME)


def cohen_kappa(first: FloatArray, second: FloatArray, weights: Weights) -> Estimate:
    """Cohen's kappa of two raters, weighted (Cohen, 1960, 1968), over what both rated.

    Args:
        first, second: shape (outputs,), NaN for missing.
    """
    rated_twice = ~np.isnan(first) & ~np.isnan(second)
    if not rated_twice.any():
        return Estimate.undefined("the two rated nothing in common")
    levels = np.unique(np.concatenate([first[rated_twice], second[rated_twice]]))
    a, b = np.searchsorted(levels, first[rated_twice]), np.searchsorted(levels, second[rated_twice])
    observed = np.zeros((len(levels), len(levels)))
    np.add.at(observed, (a, b), 1 / rated_twice.sum())
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    distance = np.abs(levels[:, None] - levels[None, :])
    penalty = {"none": (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[
        weights
    ]
    chance = (penalty * expected).sum()
    if chance == 0:
        return Estimate.undefined("both gave every output the same rating")
    return Estimate(float(1 - (penalty * observed).sum() / chance))


def fleiss_kappa(ratings: Ratings) -> Estimate:
    """Return Fleiss' kappa (1971) over the outputs with the most raters."""
    if not (ratings.count > 1).any():
        return Estimate.undefined("no output was rated twice")
    most = int(ratings.count.max())
    units = ratings.value[ratings.blocks[-1].members]  # the largest are last
    agreeing, chance = np.zeros(len(units)), 0.0
    for level in np.unique(units):
        given = (units == level).sum(axis=1)
        agreeing += given**2
        chance += (float(given.sum()) / units.size) ** 2
    by_unit = (agreeing - most) / (most * (most - 1))
    return _ratio(float(by_unit.mean()) - chance, 1 - chance, SAME)


def _ratio(numerator: float, denominator: float, reason: str) -> Estimate:
    return (
        Estimate.undefined(reason)
        if abs(denominator) < 1e-15
        else Estimate(float(numerator / denominator))
    )
