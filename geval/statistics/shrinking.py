"""What a gain is likely to be that was chosen because it is large (the winner's curse).

A gain is claimed where its whole interval is above 0. Among repeated looks at a small true gain
those prove in which chance added to it, so proven gains are larger than true ones: the fewer
documents, the more.
"""

import numpy as np

from geval.statistics.distributions import normal_cdf, normal_ppf, t_ppf, t_tail
from geval.statistics.types import FloatArray

# The integral over possible gains, in standard errors: beyond these ends there is nothing left.
_REACH, _STEPS = 8.0, 3201


def shrunken(gain: float, half_width: float, *, confidence: float, freedom: float) -> float:
    """The likely size of a gain whose interval leaves out 0, given that it does.

    The conditional likelihood estimate of Zhong and Prentice (2008): of the density of the gain
    among those that leave out 0, halfway between the most likely true gain and the mean over all.
    Student's t is taken to the normal value with the same p. It lies between 0 and the gain, and
    near the gain where its interval is far from 0. Where few of such gains prove it is still
    too large, but less so (`tests/statistics/test_shrinking.py`).

    Args:
        half_width: of the gain's t interval, above 0, at `confidence` (0.95 for 95 %).
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
    """The true value, in standard errors, behind a normal z beyond a limit (on either side)."""
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
