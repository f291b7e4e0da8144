"""Types of arrays, the precision of means, ratings and scores, and results that may be
undefined."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Means that are equal as fractions differ in their last bits as floats; rounding restores ties.
DIGITS = 10
# Values that differ by less than this share of the larger one are a tie.
TIED = 1e-9


def tie_close_values(values: FloatArray) -> FloatArray:
    """Return ratings or scores in which those that differ in their last bits are equal, such as 0.3
    and 0.1 + 0.2. Each is compared with its neighbours, not with the largest: scores such as
    likelihoods and BLEU-4 spread over many powers of ten.

    Args:
        values: shape (n,), NaN for missing.
    """
    if not len(values):
        return values
    distinct, place = np.unique(values, return_inverse=True)
    size = np.abs(distinct)
    begins = np.append(True, np.diff(distinct) > TIED * np.maximum(size[1:], size[:-1]))
    begins |= ~np.isfinite(distinct)
    # To so many digits, one value stands for all that are equal to it in another file, too.
    tied: FloatArray = np.array([float(f"{value:.{DIGITS}g}") for value in distinct[begins]])
    return np.asarray(tied[(np.cumsum(begins) - 1)[place]])


@dataclass(frozen=True, eq=False)
class Consensus:
    """A value for each output: shape (outputs,), NaN for an output that has none; `reason` says why
    no output has one."""

    values: FloatArray
    reason: str = ""


@dataclass(frozen=True)
class Estimate:
    """A statistic's value, or None with the reason why it is undefined. Never NaN."""

    value: float | None
    reason: str = ""

    @staticmethod
    def undefined(reason: str) -> "Estimate":
        return Estimate(None, reason)
