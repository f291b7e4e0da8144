"""Types of arrays, the precision of means, ratings and scores, and results that may be
undefined."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Means that are equal as fractions differ in their last bits as floats; rounding restores ties.
DIGITS = 10
# The largest float is about 10**308.
MOST_DECIMALS = 300


def rounded(values: FloatArray) -> FloatArray:
    """Round ratings or scores to the precision of means, so that 0.3 and 0.1 + 0.2 are a tie: to
    `DIGITS` decimals after the largest one's first digit, as some judges' scores are all tiny.

    Args:
        values: shape (n,), NaN for missing.
    """
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if not largest:
        return values
    decimals = DIGITS - int(np.floor(np.log10(largest)))
    if decimals > MOST_DECIMALS:  # 10 to that power overflows
        return values
    return np.asarray(np.round(values, decimals))


@dataclass(frozen=True)
class Estimate:
    """A statistic's value, or None with the reason why it is undefined. Never NaN."""

    value: float | None
    reason: str = ""

    @staticmethod
    def undefined(reason: str) -> "Estimate":
        return Estimate(None, reason)
