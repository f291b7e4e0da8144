"""Reliability of annotators: intraclass correlations, kappas, and Gwet's AC1 and AC2, which do not
collapse where nearly all ratings are the same.

The chance agreement of Krippendorff's alpha and the kappas approaches 1 if one value prevails, so
that people who agree on nearly everything seem to guess. Gwet (2008), "Computing inter-rater
reliability and its variance in the presence of high agreement", defines chance agreement as that of
raters who cannot decide. AC1 counts only equal ratings; AC2 counts close ones in part, by quadratic
weights (Gwet, 2014, "Handbook of inter-rater reliability", chapters 2 and 3).
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, equal_pairs, mean_of, sums
from geval.statistics.jackknife import LeftOut, mapped, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.scales import short
from geval.statistics.thresholds import EQUAL_VALUES
from geval.statistics.types import Estimate, FloatArray

MANY_VALUES = (
    f"there are more than {EQUAL_VALUES} different ratings, and a few documents decide how many are"
    " equal"
)
SAME = "all ratings are the same"
Credit = Literal["identity", "quadratic"]
UNUSED_ENDS = (
    "nobody gave one of the scale's ends, {} and {}, on which the credit for near ratings depends"
)
NOBODY = "no output has ratings by two annotators"
INDISTINGUISHABLE = "all ratings are the same, so agreement cannot be distinguished from chance"


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of Shrout and Fleiss (1979): one-way, two-way single, two-way mean of
    k raters."""

    icc1: Estimate
    icc2_1: Estimate


def intraclass(ratings: Ratings) -> Icc:
    """ICC(1) over all outputs that were rated twice, whoever rated them; ICC(2,1) over those that
    every rater rated."""
    k = ratings.raters
    rows = next((block.members for block in ratings.blocks if block.size == k), np.empty((0, k)))
    if k < 2 or len(rows) < 2:
        missing = Estimate.undefined(
            "fewer than two raters, or fewer than two outputs that all of them rated"
        )
        return Icc(one_way(ratings), missing)
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


def _ratio(numerator: float, denominator: float, reason: str) -> Estimate:
    return (
        Estimate.undefined(reason)
        if abs(denominator) < 1e-15
        else Estimate(float(numerator / denominator))
    )


@dataclass(frozen=True)
class ChanceCorrected:
    """A coefficient of agreement and its interval over documents."""

    estimate: Estimate
    interval: Interval


@dataclass(frozen=True)
class Gwet:
    """Agreement beyond chance: of equal ratings (AC1), and with credit for close ones (AC2)."""

    ac1: ChanceCorrected
    ac2: ChanceCorrected


def gwet(
    outputs: Outputs, ratings: Ratings, documents: LeftOut, ends: tuple[float, float] | None = None
) -> Gwet:
    """Return AC1 and AC2 over all outputs: agreement from outputs rated twice, frequencies of
    values from all. The categories are the values that occur.

    Intervals are jackknife intervals over documents, on the logarithm of the remaining
    disagreement, 1 - AC. AC2's credit for close ratings depends on the lowest and highest values
    that occur, so its interval is given only where these are the scale's ends: elsewhere other
    documents may change the credit, and the interval covered the true value in 65 to 83 % of
    simulated data sets.

    Args:
        ends: the ends of the scale; None where the ratings' lowest and highest values are the
            scale's ends.
    """
    ac1 = _coefficient(outputs, ratings, documents, "identity")
    ac2 = _coefficient(outputs, ratings, documents, "quadratic")
    values = np.unique(ratings.value)
    if len(values) > EQUAL_VALUES:
        ac1 = replace(ac1, interval=no_interval(MANY_VALUES))
    if ac2.interval.ends and ends and (values[0], values[-1]) != ends:
        ac2 = replace(ac2, interval=no_interval(UNUSED_ENDS.format(*map(short, ends))))
    return Gwet(ac1, ac2)


def _coefficient(
    outputs: Outputs, ratings: Ratings, documents: LeftOut, credit: Credit
) -> ChanceCorrected:
    """Return AC1 (identity) or AC2 (quadratic)."""
    values = np.unique(ratings.value)
    twice = ratings.count > 1
    if not twice.any():
        return ChanceCorrected(Estimate.undefined(NOBODY), no_interval(NOBODY))
    if len(values) < 2:
        return ChanceCorrected(
            Estimate.undefined(INDISTINGUISHABLE), no_interval(INDISTINGUISHABLE)
        )
    observed = _disagreement(outputs, ratings, documents, credit)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = observed / (1 - _chance(outputs, ratings, documents, credit))
        logs = np.log(rest)
    counting = int(outputs.documents_with(twice).sum())
    interval = (
        mapped(
            documents.interval(float(logs[-1]), logs[:-1], counting=counting),
            lambda end: 1 - np.exp(end),
        )
        if rest[-1] > 1e-12
        else no_interval("annotators never differ, so nothing is known of how much it varies")
    )
    return ChanceCorrected(Estimate(float(1 - rest[-1])), interval)


def _disagreement(
    outputs: Outputs, ratings: Ratings, documents: LeftOut, credit: Credit
) -> FloatArray:
    """Return the mean over outputs of the disagreement of two ratings of an output, from 0 to 1
    (the share of unequal pairs, or the squared difference as a share of the largest), without each
    group of documents and last with all; shape (groups + 1,)."""
    wide = float(np.ptp(ratings.value))
    differing = np.zeros(ratings.outputs)
    for block in ratings.blocks:
        if block.size < 2:
            continue
        rows, pairs = ratings.value[block.members], block.size * (block.size - 1) / 2
        if credit == "identity":
            differing[block.groups] = 1 - equal_pairs(np.sort(rows, axis=1)) / pairs
        else:  # the sum over pairs of squared distances is size times that from the mean
            squared = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            differing[block.groups] = block.size * squared / (pairs * wide**2)
    twice = ratings.count > 1
    group = documents.group[outputs.document[twice]]
    total = sums(group, differing[twice], documents.groups)
    return mean_of(_without(total), _without(sums(group, None, documents.groups)))


def _chance(outputs: Outputs, ratings: Ratings, documents: LeftOut, credit: Credit) -> FloatArray:
    """Return the chance agreement without each group, and last with all; shape (groups + 1,)."""
    values, code = np.unique(ratings.value, return_inverse=True)
    group = documents.group[outputs.document]
    shape = (documents.groups, len(values))
    indexes = group[ratings.output] * shape[1] + code
    share = sums(indexes, 1 / ratings.count[ratings.output], shape[0] * shape[1]).reshape(shape)
    rated = sums(group[ratings.count > 0], None, documents.groups)
    common = mean_of(_without(share), _without(rated)[:, None])
    number = len(values)
    credits = float(number)
    if credit == "quadratic":
        apart = 2 * (number * (values**2).sum() - values.sum() ** 2) / np.ptp(values) ** 2
        credits = number**2 - float(apart)
    chance: FloatArray = credits / (number * (number - 1)) * (common * (1 - common)).sum(axis=1)
    return chance


def _without(by_group: FloatArray) -> FloatArray:
    """Return sums over groups without each, and last over all; shape (groups + 1, ...)."""
    total = by_group.sum(axis=0)
    return np.concatenate([total - by_group, total[None]])
