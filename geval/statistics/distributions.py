"""Student's t, the normal and the F distribution, by scipy's special functions.

They are what `scipy.stats` computes with; that package takes most of a second to import, longer
than many reports, so its other functions are imported where they are used.
"""

from typing import Any

import numpy as np
from scipy import special

from geval.statistics.types import FloatArray

# A number or an array of numbers.
Numbers = Any


def t_cdf(t: Numbers, freedom: Numbers) -> FloatArray:
    """Return the probability of a value of at most t."""
    return np.asarray(special.stdtr(freedom, t))


def t_tail(t: Numbers, freedom: Numbers) -> FloatArray:
    """Return the probability of a value above t."""
    return np.asarray(special.stdtr(freedom, -np.asarray(t)))


def t_ppf(share: Numbers, freedom: Numbers) -> FloatArray:
    """Return the value below which a share of all values lies."""
    return np.asarray(special.stdtrit(freedom, share))


def normal_ppf(share: Numbers) -> FloatArray:
    """Return the value below which a share of all values lies."""
    return np.asarray(special.ndtri(share))


def f_ppf(share: Numbers, above: Numbers, below: Numbers) -> FloatArray:
    """Return the quantile of F, with degrees of freedom of the numerator and of the denominator."""
    return np.asarray(special.fdtri(above, below, share))


def chi2_ppf(share: Numbers, freedom: Numbers) -> FloatArray:
    """Return the quantile of chi squared."""
    return np.asarray(2 * special.gammaincinv(np.asarray(freedom) / 2, share))
