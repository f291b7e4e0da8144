"""Pearson's r, Spearman's rho and Kendall's tau-b of two vectors or of many pairs of rows, weighted
or not.

Coefficients match scipy's `pearsonr`, `spearmanr` and `kendalltau` (variant b), as tests check.

With weights they are those of a population in which every value occurs as often as its weight says:
an output that was drawn with probability p has the weight 1 / p. Integer weights give the
coefficients of the repeated values. Sums over pairs weigh a pair by the product of its two weights,
which is one over the probability of both where outputs are drawn independently, and nearly so in
samples of a fixed size.

Rows are short and many: columns are compared one at a time for all rows. Vectors are long: they are
sorted. `mixing` has coefficients of many resamples of the same rows.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from geval.statistics.thresholds import TIES_MISLEAD
from geval.statistics.types import FloatArray, IntArray

# Rows with more columns are processed one by one: they have too many pairs of columns.
PAIRWISE_COLUMNS = 200
# Pairs are counted in a table of the values of both sides, if it has no more cells than this, or
# than this times the number of values.
LEAST_TABLE, TABLE_CELLS = 65_536, 16


def of_two_values(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the coefficient of two values each along the last axis (the same for all
    coefficients): 1 or -1; NaN where both values of a side are equal."""
    same_order = np.sign(x[..., 0] - x[..., 1]) * np.sign(y[..., 0] - y[..., 1])
    return np.where(same_order == 0, np.nan, same_order)


def pearson(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return Pearson's r along the last axis, NaN where all values of a side are equal.

    Args:
        x, y: shape (values,) or (rows, columns), NaN at the same places for missing.
        weight: of the same shape; then nothing may be missing.
    """
    if weight is None and (missing := np.isnan(x)).any():
        x, y = (_filled(side, missing) for side in (x, y))
        weight = (~missing).astype(float)
    # Rounding may give equal values a tiny variance, so constancy is decided on the values.
    is_constant = _is_constant(x) | _is_constant(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = None if weight is None else weight / weight.sum(axis=-1, keepdims=True)
        root = None if share is None else np.sqrt(share)
        r = (_standardised(x, share, root) * _standardised(y, share, root)).sum(axis=-1)
    return np.where(is_constant, np.nan, np.clip(r, -1.0, 1.0))


def _filled(rows: FloatArray, missing: np.ndarray) -> FloatArray:
    """Fill missing values with their row's least value, which does not add variation."""
    least = np.where(missing, np.inf, rows).min(axis=-1, keepdims=True)
    return np.where(missing, least, rows)


def _is_constant(values: FloatArray) -> np.ndarray:
    """Return where all values along the last axis are the same."""
    return np.asarray((values == values[..., :1]).all(axis=-1))


def _standardised(
    values: FloatArray, share: FloatArray | None, root: FloatArray | None
) -> FloatArray:
    """Centre values along the last axis, multiply by the roots of their weight shares, and scale to
    length 1."""
    if share is None or root is None:
        centred = values - values.sum(axis=-1, keepdims=True) / values.shape[-1]
    else:
        centred = (values - (values * share).sum(axis=-1, keepdims=True)) * root
    centred /= np.sqrt((centred * centred).sum(axis=-1, keepdims=True))
    return np.asarray(centred)


def ranks(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the rank of each value, from 1; equal ones share the mean of theirs. With weights: the
    weight below each value, plus half of the weight at it.

    Args:
        values, weight: shape (values,), nothing missing.
    """
    order = np.argsort(values)
    ordered = values[order]
    begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    equal = np.diff(np.append(begin, len(values)))
    if weight is None:
        shared = begin + (equal + 1) / 2
    else:
        at_value = np.add.reduceat(weight[order], begin)
        shared = np.cumsum(at_value) - at_value / 2
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(shared, equal)
    return ranks


def rank_rows(rows: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """`ranks` within each row. NaN stays NaN, in rows of at most `PAIRWISE_COLUMNS` without
    weights; elsewhere nothing may be missing.

    Args:
        rows, weight: shape (rows, columns).
    """
    if rows.shape[1] > PAIRWISE_COLUMNS:
        weights = [None] * len(rows) if weight is None else weight
        return np.array(
            [ranks(row, row_weight) for row, row_weight in zip(rows, weights, strict=True)]
        )
    # Sum what is below, and what is not above: each column in turn is compared with all, which
    # needs no table of pairs.
    columns = np.ascontiguousarray(rows.T)
    if weight is not None:
        doubled = np.zeros(columns.shape)
        for column, row_weight in zip(columns, weight.T, strict=True):
            doubled += row_weight * (column < columns)
            doubled += row_weight * (column <= columns)
        return np.asarray(doubled.T / 2)
    twice = np.zeros(columns.shape, dtype=np.int8 if len(columns) < 64 else np.int16)
    for column in columns:
        twice += (column < columns).view(np.int8)
        twice += (column <= columns).view(np.int8)
    return np.where(np.isnan(rows), np.nan, (twice.T + 1) / 2)


def spearman(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Spearman's rho of two vectors; shape (values,) each, nothing missing."""
    return pearson(ranks(x, weight), ranks(y, weight), weight)


def spearman_rows(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return Spearman's rho of each row, undefined as in `pearson`; shape (rows, columns) each."""
    return pearson(rank_rows(x, weight), rank_rows(y, weight), weight)


class Concordance(NamedTuple):
    """Pairs in two vectors: concordant minus discordant pairs, and how many are untied on each
    side. `levels` is the smaller number of distinct values. With weights, a pair counts the product
    of its two weights."""

    surplus: float
    untied_x: float
    untied_y: float
    levels: int

    @property
    def tau_b(self) -> float:
        """NaN where x or y is constant."""
        untied = math.sqrt(self.untied_x) * math.sqrt(self.untied_y)
        if self.levels < 2 or not untied:
            return math.nan
        return min(max(self.surplus / untied, -1.0), 1.0)


def concordance(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> Concordance:
    """Return the pairs of two vectors; shape (values,) each, nothing missing."""
    (of_x, at_x), (of_y, at_y) = (np.unique(side, return_inverse=True) for side in (x, y))
    total = len(x) if weight is None else float(weight.sum())
    tied_x, tied_y = (_squares(np.bincount(index, weight)) for index in (at_x, at_y))
    if len(of_x) * len(of_y) <= max(LEAST_TABLE, TABLE_CELLS * len(x)):
        table = np.bincount(at_x * len(of_y) + at_y, weight, minlength=len(of_x) * len(of_y))
        table = table.reshape(len(of_x), len(of_y))
        below = np.cumsum(np.cumsum(table, axis=0), axis=1)
        concordant = (table[1:, 1:] * below[:-1, :-1]).sum()
        # Pairs that are tied on neither side are in the same order or in opposite ones.
        untied = (total**2 - tied_x - tied_y + _squares(table)) / 2
        surplus = 2 * concordant - untied
    elif weight is None:
        from scipy import stats  # noqa: PLC0415 (takes most of a second)

        tau = stats.kendalltau(at_x, at_y, variant="b").statistic
        surplus = np.round(tau * np.sqrt(total**2 - tied_x) * np.sqrt(total**2 - tied_y) / 2)
    else:
        falling_y = at_y.max() - at_y
        surplus = _pairs_that_rise(at_x, at_y, weight) - _pairs_that_rise(at_x, falling_y, weight)
    return Concordance(
        surplus=float(surplus),
        untied_x=max(0.0, (total**2 - tied_x) / 2),  # rounding may leave weights below 0
        untied_y=max(0.0, (total**2 - tied_y) / 2),
        levels=min(len(of_x), len(of_y)),
    )


def _squares(counts: np.ndarray) -> float:
    """Return how many pairs have equal values, counting both orders and each value with itself."""
    return float((counts**2).sum())


def _pairs_that_rise(x: IntArray, y: IntArray, weight: FloatArray) -> float:
    """Return the weight of pairs whose second value is larger in both x and y.

    Two values of y first differ in some bit: among pairs that agree in all higher bits, those count
    in which the first, in the order of x, lacks the bit and the second has it.

    Args:
        x, y: shape (values,), whole numbers from 0.
    """
    order = np.lexsort((-y, x))  # pairs that are tied in x fall in y, so they do not count
    y, weight = y[order], weight[order]
    rising = 0.0
    for bit in range(int(y.max()).bit_length()):
        together = np.argsort(y >> (bit + 1), kind="stable")
        has = (y[together] >> bit) & 1
        weights = weight[together]
        lacking = np.cumsum(weights * (1 - has))
        group = y[together] >> (bit + 1)
        begins = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        before = np.append(0.0, lacking)[begins]
        size = np.diff(np.append(begins, len(group)))
        rising += float((weights * has * (lacking - np.repeat(before, size))).sum())
    return rising


def kendall(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> float:
    """Kendall's tau-b of two vectors, NaN where one is constant; shape (values,) each."""
    return concordance(x, y, weight).tau_b


def kendall_rows(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Kendall's tau-b of each row, (concordant - discordant) / sqrt(pairs untied in x * pairs
    untied in y); NaN where x or y is constant. Pairs with a missing value count as tied.

    Args:
        x, y: shape (rows, columns).
        weight: of the same shape; a pair counts the product of its two weights.
    """
    columns_x, columns_y = (np.ascontiguousarray(side.T) for side in (x, y))
    surplus, untied_x, untied_y = np.zeros((3, len(x)))
    for column in range(len(columns_x)):  # a column is tied with itself
        order_x, order_y = (_order(side[column], side[column:]) for side in (columns_x, columns_y))
        pair = None if weight is None else weight.T[column] * weight.T[column:]
        surplus += _summed(order_x * order_y, pair)
        untied_x += _summed(order_x != 0, pair)
        untied_y += _summed(order_y != 0, pair)
    with np.errstate(invalid="ignore"):  # 0 / 0 where x or y is constant
        tau = surplus / np.sqrt(untied_x * untied_y)
    return np.asarray(np.clip(tau, -1.0, 1.0))


def _order(column: FloatArray, others: FloatArray) -> np.ndarray:
    """Return how a column compares with others in each row: -1, 0 or 1."""
    return (column > others).view(np.int8) - (column < others).view(np.int8)


def _summed(pairs: np.ndarray, weight: FloatArray | None) -> np.ndarray:
    """Sums over a column's pairs, by row."""
    if weight is None:
        return np.asarray(pairs.sum(axis=0, dtype=np.int16))
    return np.asarray((pairs * weight).sum(axis=0))


@dataclass(frozen=True)
class Concentration:
    """Entropy in bits, share of the most common value, share of tied pairs."""

    entropy_bits: float
    modal_share: float
    tie_rate: float

    @property
    def ties_mislead(self) -> bool:
        """Whether ties are so frequent that tau-b should be read together with pairwise
        accuracy."""
        return self.tie_rate >= TIES_MISLEAD


def concentration(values: FloatArray) -> Concentration | None:
    """Summarise the distribution of values; None for fewer than two."""
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return None
    _, counts = np.unique(values, return_counts=True)
    entropy = float(special.entr(counts / counts.sum()).sum() / np.log(2))
    n = len(values)
    tied = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return Concentration(entropy, float(counts.max() / n), tied)
