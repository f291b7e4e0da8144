"""Plan a campaign: how many documents it needs, estimated from a pilot's documents.

Three ways to stop, each with a number that is likely enough, and one that is enough in nine of ten
cases:

- one look at the end, at a 95 % interval that is narrow enough (`projection`);
- one look at the end, at a paired t test that finds a difference with some power (Cohen, 1988);
- looks after every document, at an interval that holds at any time (`anytime`).

The second number uses an upper bound of the variance: the ratio of future documents' variance to
the pilot's follows Fisher's F (Wang and Kupper, 1997), at the quantile `PROMISE`; at a higher one
for looks after every document, as the stopping time varies as well. Plan again at 60
documents (`PROMISE_DOCUMENTS`), as a promise from 20 demands half as many again as are needed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from geval.statistics.anytime import expected_half_width
from geval.statistics.distributions import chi2_ppf, f_ppf, t_ppf
from geval.statistics.jackknife import t_quantile
from geval.statistics.projection import documents_for, least
from geval.statistics.thresholds import (
    PILOT_DOCUMENTS,
    PLAN_DOCUMENTS,
    POWER,
    PROMISE,
    PROMISE_AT_ANY_TIME,
    SIGNIFICANCE,
)
from geval.statistics.types import FloatArray, IntArray

TOO_FEW = f"fewer than {PILOT_DOCUMENTS} documents of the pilot have a value; rate more first"
TOO_FEW_GROUPS = TOO_FEW.replace("documents", "groups of documents")
LOOK_ONCE = "documents of a group do not arrive one by one; look once, at the end"
NO_SPREAD = "the pilot's documents all say the same, so nothing is known of how they vary"
TOO_MANY = f"more than {PLAN_DOCUMENTS:,} documents would be needed"


@dataclass(frozen=True)
class Needed:
    """How many documents that count; None with the reason. `promised` is enough in nine of ten
    cases."""

    likely: int | None
    promised: int | None
    reason: str = ""


def values_of_groups(values: FloatArray, group: IntArray) -> FloatArray:
    """Return a value for each group of documents, which makes groups the units of a plan: their
    mean is that of the documents, and their variance that of a mean over whole groups (its
    linearised totals; Cochran, 1977, section 9A).

    Args:
        values: shape (documents,), NaN where a document does not count.
        group: shape (documents,).

    Returns:
        shape (groups,), of those with a document that counts.
    """
    counts = ~np.isnan(values)
    if not counts.any():
        return np.empty(0)
    _names, place = np.unique(group[counts], return_inverse=True)
    mean = values[counts].mean()
    totals = np.bincount(place, values[counts] - mean)
    of_groups: FloatArray = mean + totals * len(totals) / counts.sum()
    return of_groups


def for_width(values: FloatArray, width: float) -> Needed:
    """One look at the end: the 95 % interval of the mean is at most plus or minus `width`.

    Args:
        values: shape (documents,), NaN where a document does not count.
    """
    defined = values[~np.isnan(values)]
    if reason := _why_not(defined):
        return Needed(None, None, reason)
    half = t_quantile(len(defined) - 1) * defined.std(ddof=1) / np.sqrt(len(defined))
    likely, promised = (
        documents_for(float(half), documents=len(defined), goal=width, assurance=assurance)
        for assurance in (None, PROMISE)
    )
    return _needed(likely, promised)


def for_power(values: FloatArray, difference: float, *, power: float = POWER) -> Needed:
    """One look at the end: a t test finds that the mean is not 0, where it is `difference`.

    Args:
        values: shape (documents,), differences, NaN where a document does not count.
        power: in which share of such campaigns.
    """
    defined = values[~np.isnan(values)]
    if reason := _why_not(defined):
        return Needed(None, None, reason)
    if not difference:
        return Needed(None, None, "no test finds a difference of 0; say which one matters")
    spread = float(defined.std(ddof=1))

    def enough(spread: float) -> Callable[[int], bool]:
        return lambda count: power_of(abs(difference) / spread, count) >= power

    # A large campaign has the true variance; the pilot's over it is chi squared over its degrees of
    # freedom.
    most = spread * float(np.sqrt((len(defined) - 1) / chi2_ppf(1 - PROMISE, len(defined) - 1)))
    return _needed(_least(enough(spread), 3), _least(enough(most), 3))


def for_any_time(
    values: FloatArray,
    width: float,
    *,
    lowest: float,
    highest: float,
    now: float | None = None,
) -> Needed:
    """Looks after every document: the interval that holds at any time becomes at most plus or minus
    `width`.

    Args:
        values: shape (documents,), NaN where a document does not count.
        lowest, highest: what a value can be.
        now: the half-width of these documents' interval, if known; it is assumed to narrow from
            there.
    """
    defined = values[~np.isnan(values)]
    if len(defined) < (PILOT_DOCUMENTS if now is None else 2):
        return Needed(None, None, TOO_FEW)
    reach = highest - lowest
    spread, pilot = float(defined.std(ddof=1)) / reach, len(defined)
    if now is not None:
        reach *= now / (expected_half_width(spread, pilot) * reach)

    def likely(count: int) -> bool:
        return expected_half_width(spread, count) * reach <= width

    def promised(count: int) -> bool:
        times = f_ppf(PROMISE_AT_ANY_TIME, count, pilot - 1)
        return expected_half_width(spread * float(np.sqrt(times)), count) * reach <= width

    # Nothing can be promised about the variance if all documents have the same value.
    return _needed(_least(likely, 2), _least(promised, 2) if spread else None)


def power_of(effect: float, count: int) -> float:
    """Return the power of a two-sided paired t test at 5 %.

    Args:
        effect: the mean difference over the standard deviation of differences.
    """
    from scipy import stats  # noqa: PLC0415 (takes most of a second)

    freedom, shift = count - 1, effect * np.sqrt(count)
    critical = t_ppf(1 - SIGNIFICANCE / 2, freedom)
    above = stats.nct.sf(critical, freedom, abs(shift))
    below = stats.nct.sf(critical, freedom, -abs(shift))
    # For a large shift scipy may find neither: then the test is certain to find the effect.
    return float(np.nan_to_num(above + below, nan=1.0))


def _why_not(values: FloatArray) -> str:
    if len(values) < PILOT_DOCUMENTS:
        return TOO_FEW
    return "" if np.ptp(values) > 0 else NO_SPREAD


def _needed(likely: int | None, promised: int | None) -> Needed:
    return Needed(likely, promised, TOO_MANY if likely is None else "")


def _least(is_enough: Callable[[int], bool], low: int) -> int | None:
    """Return the least count that is enough, if any larger count is enough too; None for too
    many."""
    high = low
    while not is_enough(high):
        if high >= PLAN_DOCUMENTS:
            return None
        low, high = high, min(2 * high, PLAN_DOCUMENTS)
    return least(is_enough, low, high)
