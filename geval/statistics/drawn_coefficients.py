"""Coefficients of many resamples of systems at once.

Drawing systems repeats columns, so that ranks and pair orders are sums over systems: with the signs
of differences stored as a matrix per document, a thousand resamples are a single matrix product.
The centred rank of a value is half the sum of its signs against all others, ties counting 0.
"""

import numpy as np

from geval.statistics.correlation import Coefficient
from geval.statistics.types import FloatArray

# The sums of squares of equal values are not exactly 0 as floats.
_LEAST = 1e-9


def _signs(rows: FloatArray) -> FloatArray:
    """Return the sign of each value minus each of the others, 0 where one is missing; shape
    (documents, systems, systems)."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.sign(rows[:, :, None] - rows[:, None, :]))


def drawn_coefficients(
    human: FloatArray, judge: FloatArray, counts: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """Return a coefficient for each document and each resample of systems.

    Args:
        human, judge: shape (documents, systems), NaN at the same cells.
        counts: shape (resamples, systems), how often each system was drawn.

    Returns:
        Shape (documents, resamples), NaN where either is constant.
    """
    if coefficient == "pearson":
        return _drawn_pearson(human, judge, counts)
    weights = counts[None, :, :] * (~np.isnan(human)).astype(float)[:, None, :]
    x, y = _signs(human), _signs(judge)
    if coefficient == "spearman":
        ranks = [np.matmul(counts[None], np.swapaxes(side, 1, 2)) for side in (x, y)]
        products = [
            (weights * a * b).sum(axis=2)
            for a, b in ((ranks[0], ranks[1]), (ranks[0],) * 2, (ranks[1],) * 2)
        ]
    else:
        products = [
            (np.matmul(counts[None], matrix) * counts[None]).sum(axis=2)
            for matrix in (x * y, np.abs(x), np.abs(y))
        ]
    return _ratio(products[0], products[1], products[2])


def _drawn_pearson(human: FloatArray, judge: FloatArray, counts: FloatArray) -> FloatArray:
    present = (~np.isnan(human)).astype(float)
    # Values are centred first, so that sums of squares keep their precision.
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (
            np.where(
                present > 0, side - (np.nansum(side, axis=1) / present.sum(axis=1))[:, None], 0.0
            )
            for side in (human, judge)
        )
        n = present @ counts.T
        tables = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
        sums = {name: table @ counts.T for name, table in tables.items()}
        products = [
            sums[a + b] - sums[a] * sums[b] / n for a, b in (("x", "y"), ("x", "x"), ("y", "y"))
        ]
    return _ratio(products[0], products[1], products[2])


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return a correlation from its sums, clipped to [-1, 1]; NaN where either is constant."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = product / np.sqrt(first * second)
    return np.where((first > _LEAST) & (second > _LEAST), np.clip(value, -1.0, 1.0), np.nan)
