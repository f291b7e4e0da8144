"""Coefficients of a sample whose outputs stand for different numbers of others.

An output that was drawn with probability p stands for 1 / p outputs. The coefficients here are
those of a population in which every output occurs as often as it stands for: with whole weights
they equal Pearson's r, Spearman's rho (mean ranks) and Kendall's tau-b of the repeated values, as
tests check. Sums over pairs weigh a pair by the product of its two weights, which is one by the
probability of both where outputs are drawn one independently of another, and nearly so in samples
of a fixed size.
"""

import numpy as np

from geval.statistics.types import FloatArray, IntArray


def weighted_mean(values: FloatArray, weight: FloatArray) -> float:
    """Hájek's mean (1971): the weighted sum by the sum of weights."""
    return float((values * weight).sum() / weight.sum())


def kish(weight: FloatArray) -> float:
    """How many equal weights tell as much as these (Kish, 1965)."""
    if not weight.any():
        return 0.0
    share = weight / weight.max()  # squares of weights may be too large for floats
    return float(share.sum()) ** 2 / float((share**2).sum())


def freedom_share(weight: FloatArray | None) -> float:
    """Degrees of freedom of the variance of a weighted mean, as a share of those of equal weights.

    Of values that vary normally and alike, whatever they weigh, those of the mean have the kurtosis
    of squared weights, and 2 / (kurtosis - 1) degrees of freedom each (Satterthwaite, 1946).

    Args:
        weight: shape (units,), not negative, some positive; None where all count alike.
    """
    if weight is None:
        return 1.0
    counted = weight[weight > 0]
    if not len(counted):
        return 1.0
    return 2 / (3 * len(counted) / kish(counted**2) - 1)


def weighted_pearson(x: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """Pearson's r of two vectors that vary; shape (values,) each."""
    x, y = (side - weighted_mean(side, weight) for side in (x, y))
    r = (weight * x * y).sum() / np.sqrt((weight * x * x).sum() * (weight * y * y).sum())
    return float(np.clip(r, -1.0, 1.0))


def weighted_ranks(values: FloatArray, weight: FloatArray) -> FloatArray:
    """The weight below each value, and half of that at it; shape (values,)."""
    _, at = np.unique(values, return_inverse=True)
    total = np.bincount(at, weight)
    ranks: FloatArray = (np.cumsum(total) - total / 2)[at]
    return ranks


def weighted_spearman(x: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    return weighted_pearson(weighted_ranks(x, weight), weighted_ranks(y, weight), weight)


def weighted_kendall(x: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """Kendall's tau-b of two vectors that vary: the weight of concordant pairs less that of
    discordant ones, by the geometric mean of those untied on each side."""
    at_x, at_y = (np.unique(side, return_inverse=True)[1] for side in (x, y))
    surplus = surplus_of(x, y, weight)
    all_pairs = weight.sum() ** 2
    untied = [(all_pairs - (np.bincount(at, weight) ** 2).sum()) / 2 for at in (at_x, at_y)]
    return float(np.clip(surplus / np.sqrt(untied[0] * untied[1]), -1.0, 1.0))


def surplus_of(x: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """The weight of concordant pairs less that of discordant ones."""
    at_x, at_y = (np.unique(side, return_inverse=True)[1] for side in (x, y))
    return _pairs_that_rise(at_x, at_y, weight) - _pairs_that_rise(at_x, at_y.max() - at_y, weight)


def _pairs_that_rise(x: IntArray, y: IntArray, weight: FloatArray) -> float:
    """The weight of pairs whose second has both the larger x and the larger y.

    Two values of y differ first in one of their bits: of the pairs that agree in all higher bits,
    those count in which the first, in the order of x, lacks the bit and the second has it.

    Args:
        x, y: shape (values,), whole numbers from 0.
    """
    order = np.lexsort((-y, x))  # pairs that are tied in x fall in y, and do not count
    y, weight = y[order], weight[order]
    found = 0.0
    for bit in range(int(y.max()).bit_length()):
        together = np.argsort(y >> (bit + 1), kind="stable")
        has = (y[together] >> bit) & 1
        own = weight[together]
        lacking = np.cumsum(own * (1 - has))
        group = y[together] >> (bit + 1)
        begins = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        before = np.append(0.0, lacking)[begins]
        size = np.diff(np.append(begins, len(group)))
        found += float((own * has * (lacking - np.repeat(before, size))).sum())
    return found


def rows_pearson(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Pearson's r of each row, NaN where all values of a side are the same; shape (rows,) of
    (rows, columns), complete."""
    total = weight.sum(axis=1, keepdims=True)
    x, y = (side - (side * weight).sum(axis=1, keepdims=True) / total for side in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (weight * x * y).sum(axis=1) / np.sqrt(
            (weight * x * x).sum(axis=1) * (weight * y * y).sum(axis=1)
        )
    clipped: FloatArray = np.clip(r, -1.0, 1.0)
    return clipped


def rows_ranks(rows: FloatArray, weight: FloatArray) -> FloatArray:
    """`weighted_ranks` of each row; shape (rows, columns)."""
    ranks = np.zeros(rows.shape)
    for column in range(rows.shape[1]):
        other, own = rows[:, column : column + 1], weight[:, column : column + 1]
        ranks += own * ((other < rows) + (other == rows) / 2)
    return ranks


def rows_spearman(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    return rows_pearson(rows_ranks(x, weight), rows_ranks(y, weight), weight)


def rows_kendall(x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    surplus, untied_x, untied_y = np.zeros((3, len(x)))
    for column in range(x.shape[1] - 1):
        pair = weight[:, column, None] * weight[:, column + 1 :]
        order_x, order_y = (np.sign(s[:, column, None] - s[:, column + 1 :]) for s in (x, y))
        surplus += (pair * order_x * order_y).sum(axis=1)
        untied_x += (pair * (order_x != 0)).sum(axis=1)
        untied_y += (pair * (order_y != 0)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: FloatArray = np.clip(surplus / np.sqrt(untied_x * untied_y), -1.0, 1.0)
    return tau


OF_VALUES = {
    "pearson": weighted_pearson,
    "spearman": weighted_spearman,
    "kendall": weighted_kendall,
}
OF_ROWS = {"pearson": rows_pearson, "spearman": rows_spearman, "kendall": rows_kendall}
