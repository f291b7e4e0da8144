"""Types of arrays, and how exact means, ratings and scores are."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Means that are equal as fractions differ in their last bits as floats; ties are decided on the
# exact means.
DIGITS = 10
MOST_DECIMALS = 300


def rounded(values: FloatArray) -> FloatArray:
    """Ratings or scores as exact as means are, so that 0.3 and 0.1 + 0.2 are a tie: to `DIGITS`
    decimals of the largest one's first digit, as some judges' scores are all tiny.

    Args:
        values: shape (n,), NaN for missing.
    """
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if not largest:
        return values
    decimals = DIGITS - int(np.floor(np.log10(largest)))
    if decimals > MOST_DECIMALS:  # 10 to that power is no number any more
        return values
    return np.asarray(np.round(values, decimals))
