"""Correct a gain that was selected because it is large (the winner's curse).

A gain is claimed where its whole interval is above 0. Among repeated looks at a small true gain
only those prove it in which chance added to it, so proven gains exceed true ones, the more so the
fewer documents there are.
"""

import numpy as np

from geval.statistics.distributions import normal_cdf, normal_ppf, t_ppf, t_tail
from geval.statistics.types import FloatArray

# The bounds of the integral over possible gains, in standard errors; beyond them it is negligible.
_REACH, _STEPS = 8.0, 3201


def shrunken(gain: float, half_width: float, *, confidence: float, freedom: float) -> float:
    """Return the likely size of a gain, given that its interval excludes 0.

    The conditional likelihood estimate of Zhong and Prentice (2008): with the density of gains
    whose interval excludes 0, halfway between the most likely true gain and the mean. Student's t
    is mapped to the normal value with the same p. The result is between 0 and the gain, and close
    to the gain if its interval is far from 0. Where few such gains are proven it is still too
    large, but less so (`tests/statistics/test_shrinking.py`).

    Args:
        half_width: half-width of the gain's t interval, above 0, at `confidence` (0.95 for 95 %).
        freedom: degrees of freedom of that interval.
    """
    quantile = (1 + confidence) / 2
    student = abs(gain) / half_width * t_ppf(quantile, freedom)
    z = float(-normal_ppf(t_tail(student, freedom)))
    limit = float(normal_ppf(quantile))
    if not limit < z < np.inf:
        return gain
    return float(gain * _likely(z, limit) / z)


def _likely(z: float, limit: float) -> float:
    """Return the likely true value, in standard errors, behind a z with |z| above a limit."""
    from scipy import optimize  # noqa: PLC0415 (takes most of a second)

    def log_likelihood(value: FloatArray) -> FloatArray:
        beyond = normal_cdf(value - limit) + normal_cdf(-limit - value)
        return np.asarray(-((z - value) ** 2) / 2 - np.log(beyond))

    best = optimize.minimize_scalar(
        lambda value: -float(log_likelihood(np.asarray(value))), bounds=(0, z), method="bounded"
    )
    values = np.linspace(-_REACH, z + _REACH, _STEPS)
    log_weight = log_likelihood(values)
    mean = np.average(values, weights=np.exp(log_weight - log_weight.max()))
    return float((best.x + mean) / 2)
