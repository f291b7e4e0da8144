"""Sampling weights, one over the probability with which each output was drawn: means, and the
information in such a sample.

Weighted coefficients are in `coefficients`.
"""

from geval.statistics.types import FloatArray


def weighted_mean(values: FloatArray, weight: FloatArray) -> float:
    """Return Hájek's mean (1971): the weighted sum by the sum of weights."""
    return float((values * weight).sum() / weight.sum())


def kish(weight: FloatArray) -> float:
    """Return the effective sample size of weights (Kish, 1965)."""
    if not weight.any():
        return 0.0
    share = weight / weight.max()  # squares of weights may be too large for floats
    return float(share.sum()) ** 2 / float((share**2).sum())


def freedom_share(weight: FloatArray | None) -> float:
    """Return the degrees of freedom of a weighted mean's variance, as a share of those of equal
    weights.

    For normal values with equal variances whatever their weights, the contributions to the mean
    have a kurtosis of 3 times the number of units over their effective number by squared weights,
    and 2 / (kurtosis - 1) degrees of freedom each (Satterthwaite, 1946).

    Args:
        weight: shape (units,), not negative, some positive; None where all count alike.
    """
    if weight is None:
        return 1.0
    counted = weight[weight > 0]
    if not len(counted):
        return 1.0
    return 2 / (3 * len(counted) / kish(counted**2) - 1)
