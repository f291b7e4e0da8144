"""Coefficients of many mixtures at once: systems drawn several times, or scores taken from one of
two judges.

Both change a document's values by system, so that ranks and pair orders are sums over systems: with
the signs of differences stored as a matrix per document, a thousand resamples or permutations are a
single matrix product. The centred rank of a value is half the sum of its signs against all others,
ties counting 0.
"""

import numpy as np

from geval.statistics.correlation import Coefficient
from geval.statistics.types import FloatArray

# The sums of squares of equal values are not exactly 0 as floats.
_LEAST = 1e-9


def signs(rows: FloatArray, others: FloatArray | None = None) -> FloatArray:
    """Return the sign of each value minus each of the others, 0 where one is missing; shape
    (documents, systems, systems)."""
    against = rows if others is None else others
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.sign(rows[:, :, None] - against[:, None, :]))


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
    x, y = signs(human), signs(judge)
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


def swapped_coefficients(
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    patterns: FloatArray,
    coefficient: Coefficient,
) -> tuple[FloatArray, FloatArray]:
    """Return for each document the coefficient of human ratings with a mixture of two judges, and
    with the opposite mixture.

    Args:
        human, first, second: shape (documents, systems), NaN at the same cells.
        patterns: shape (orderings, systems), 1 where the mixture takes the second judge's score.

    Returns:
        Two arrays of shape (documents, orderings), NaN where either is constant.
    """
    h = signs(human)
    if coefficient == "spearman":
        ranks = h.sum(axis=2) / 2
        mixed = _mixtures(first, second, patterns, 0.5 * np.ones_like(h), sign=True)
        squares = (ranks**2).sum(axis=1)[:, None]
        return tuple(  # type: ignore[return-value]
            _ratio(np.einsum("dps,ds->dp", side, ranks), (side**2).sum(axis=2), squares)
            for side in mixed
        )
    agreeing = [side.sum(axis=2) for side in _mixtures(first, second, patterns, h, sign=True)]
    untied = [
        side.sum(axis=2) for side in _mixtures(first, second, patterns, np.ones_like(h), sign=False)
    ]
    of_human = np.abs(h).sum(axis=(1, 2))[:, None]
    return tuple(_ratio(a, u, of_human) for a, u in zip(agreeing, untied, strict=True))  # type: ignore[return-value]


def _mixtures(
    first: FloatArray, second: FloatArray, patterns: FloatArray, weight: FloatArray, *, sign: bool
) -> list[FloatArray]:
    """Return row sums of weighted signs within a mixture and within its opposite; shape (documents,
    orderings, systems) each."""
    sides = {}
    for p, rows in (("a", first), ("b", second)):
        for q, others in (("a", first), ("b", second)):
            matrix = signs(rows, others)
            sides[p + q] = weight * (matrix if sign else np.abs(matrix))
    swapped = patterns[None]
    as_first: list[FloatArray] = []
    as_second: list[FloatArray] = []
    for p, kept in (("a", as_first), ("b", as_second)):
        same = sides[p + "a"].sum(axis=2)[:, None, :]
        other = sides[p + "b"].sum(axis=2)[:, None, :]
        change = np.matmul(swapped, np.swapaxes(sides[p + "b"] - sides[p + "a"], 1, 2))
        kept += [same + change, other - change]  # in the mixture, and in its opposite
    return [
        (1 - swapped) * as_first[0] + swapped * as_second[0],
        swapped * as_first[1] + (1 - swapped) * as_second[1],
    ]


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return a correlation from its sums, clipped to [-1, 1]; NaN where either is constant."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = product / np.sqrt(first * second)
    return np.where((first > _LEAST) & (second > _LEAST), np.clip(value, -1.0, 1.0), np.nan)
