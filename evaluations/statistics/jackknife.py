"""95 % intervals from leaving documents, systems or both out in turn, with Student's t.

The jackknife (Tukey, 1958; Efron and Stein, 1981) of a mean over documents is the t interval of
that mean, which holds for few documents where the percentile bootstrap is too narrow. Both
directions at once follow the decomposition of Owen (2007), "The pigeonhole bootstrap": the
variances over documents and over systems are added, and what both contain is taken off once.
At system level, Pearson's r has Fisher's z interval, Spearman's rho the jackknife on Fisher's z,
and Kendall's tau the plain jackknife.

`make bench-coverage` measures how often the intervals hold the true value. Below the sizes stated
here they did not reach 93 %, and none is given.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.correlation import (
    Coefficient,
    Level,
    coefficient_of,
    coefficients_by_document,
    complete_pairs,
    system_means,
)
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.resampling import Interval, Over, means_by

CONFIDENCE = 0.95
LEAST_DOCUMENTS = 10
LEAST_SYSTEMS = 10
# Of the documents that count at summary level: with few outputs each, their coefficients jump.
LEAST_OUTPUTS = 60
# More documents or systems are left out in this many groups, which costs no precision that matters.
MOST_GROUPS = 100
NEARLY_1 = 0.999
TOO_FEW = "fewer than {} {} count, too few for an interval"
ALL_THE_SAME = "every {} gives the same value, so nothing is known of how much it varies"


@dataclass(frozen=True)
class LeftOut:
    """Units (documents, systems) left out in turn, singly or in groups.

    `counts` has shape (groups, units): 1 for a unit that stays, 0 for one that is left out.
    """

    counts: FloatArray
    unit: str = "documents"

    @classmethod
    def each(cls, units: int, unit: str = "documents") -> "LeftOut":
        groups = min(units, MOST_GROUPS)
        is_in = np.arange(groups)[:, None] == np.arange(units)[None, :] % max(groups, 1)
        return cls(1.0 - is_in, unit)

    def interval(
        self, estimate: float, left_out: FloatArray, *, counting: int, least: int = LEAST_DOCUMENTS
    ) -> Interval:
        """The interval of a value.

        Args:
            left_out: shape (groups,), the value with each group left out.
            counting: how many units enter the value.
        """
        if counting < least:
            return no_interval(TOO_FEW.format(least, self.unit))
        if not np.isfinite(left_out).all():
            return no_interval(f"without some {self.unit} there is no value")
        variance = self.variance(left_out)
        if not variance:
            return no_interval(ALL_THE_SAME.format(self.unit.removesuffix("s")))
        return t_interval(estimate, variance, self.freedom(counting))

    def variance(self, left_out: FloatArray) -> float:
        """The jackknife's variance; 0 if the value is the same whatever is left out."""
        groups = len(left_out)
        squared = float(((left_out - left_out.mean()) ** 2).sum())
        return (groups - 1) / groups * squared if squared > 1e-20 else 0.0

    def freedom(self, counting: int) -> int:
        """Degrees of freedom: units without a value tell nothing."""
        return max(1, min(len(self.counts), counting) - 1)

    def mean_interval(self, by_unit: FloatArray) -> Interval:
        """The interval of a mean over units; shape (units,), NaN where a unit has no value."""
        present = ~np.isnan(by_unit)
        if not present.any():
            return no_interval(TOO_FEW.format(LEAST_DOCUMENTS, self.unit))
        means = self.means(by_unit)
        return self.interval(float(by_unit[present].mean()), means, counting=int(present.sum()))

    def means(self, by_unit: FloatArray) -> FloatArray:
        """The mean with each group left out; shape (groups,), NaN where nothing is left."""
        return means_by(self.counts, by_unit)


def no_interval(reason: str) -> Interval:
    return Interval(None, None, 0, reason)


def t_interval(estimate: float, variance: float, freedom: float) -> Interval:
    """Estimate plus and minus Student's t times the standard error."""
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(variance))
    return Interval(estimate - half, estimate + half)


def mapped(interval: Interval, back: Callable[[float], float]) -> Interval:
    """An interval with both ends mapped by a monotonic function, such as back from Fisher's z."""
    if interval.low is None or interval.high is None:
        return interval
    low, high = sorted(float(back(end)) for end in (interval.low, interval.high))
    return Interval(low, high)


def within(interval: Interval, low: float, high: float) -> Interval:
    """An interval cut at the ends of what is possible."""
    return mapped(interval, lambda end: min(max(end, low), high))


def correlation_interval(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, level: Level, over: Over
) -> Interval:
    """The interval of a correlation at a level: what other documents, systems or both would give.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
    """
    human, judge = complete_pairs(human, judge)
    if level == "summary":
        found = _summary(human, judge, coefficient, over)
    elif level == "dataset":
        found = _dataset(human, judge, coefficient, over)
    else:
        found = _system(human, judge, coefficient, over)
    return within(found, -1.0, 1.0)


def difference_interval(
    human: FloatArray, first: FloatArray, second: FloatArray, coefficient: Coefficient
) -> Interval:
    """The interval over documents of the first judge's summary-level correlation minus the
    second's, on the outputs that both scored.

    Args:
        human, first, second: shape (documents, systems), NaN for missing.
    """
    missing = np.isnan(human) | np.isnan(first) | np.isnan(second)
    sides = [
        coefficients_by_document(
            np.where(missing, np.nan, human), np.where(missing, np.nan, judge), coefficient
        )
        for judge in (first, second)
    ]
    used = [~np.isnan(side) for side in sides]
    documents = LeftOut.each(len(human))
    if not all(one.any() for one in used):
        return no_interval("a judge has no summary-level correlation")
    if _outputs(missing, used[0] & used[1]) < LEAST_OUTPUTS:
        return no_interval(TOO_FEW.format(LEAST_OUTPUTS, "outputs"))
    means = [float(side[one].mean()) for side, one in zip(sides, used, strict=True)]
    return documents.interval(
        means[0] - means[1],
        documents.means(sides[0]) - documents.means(sides[1]),
        counting=int((used[0] & used[1]).sum()),
    )


def _summary(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over
) -> Interval:
    by_document = coefficients_by_document(human, judge, coefficient)
    documents = LeftOut.each(len(by_document))
    of_documents = documents.mean_interval(by_document)
    used = ~np.isnan(by_document)
    if of_documents.low is not None and _outputs(np.isnan(human), used) < LEAST_OUTPUTS:
        return no_interval(TOO_FEW.format(LEAST_OUTPUTS, "outputs"))
    if over == "documents" or of_documents.low is None:
        return of_documents
    systems = LeftOut.each(human.shape[1], "systems")
    counting = int((~np.isnan(human)).any(axis=0).sum())
    if counting < LEAST_SYSTEMS:
        return no_interval(TOO_FEW.format(LEAST_SYSTEMS, "systems"))
    without = np.stack(
        [
            coefficients_by_document(human[:, kept], judge[:, kept], coefficient)
            for kept in systems.counts.astype(bool)
        ]
    )  # (groups of systems, documents)
    estimate = float(by_document[used].mean())
    with np.errstate(invalid="ignore"):
        left_out = np.array(
            [np.nanmean(row) if (~np.isnan(row)).any() else np.nan for row in without]
        )
    if over == "systems":
        return systems.interval(estimate, left_out, counting=counting, least=LEAST_SYSTEMS)
    if not np.isfinite(left_out).all():
        return no_interval("without some systems there is no value")
    parts = documents.variance(documents.means(by_document)), systems.variance(left_out)
    groups, n = len(without), int(used.sum())
    shifts = without[:, used] - by_document[used] - (left_out - estimate)[:, None]
    shared = (groups - 1) / groups * np.nansum(shifts**2) / (n * (n - 1))
    variance = max(sum(parts) - shared, *parts)
    if not variance:
        return no_interval(ALL_THE_SAME.format("document"))
    freedom = variance**2 / (
        parts[0] ** 2 / documents.freedom(n) + parts[1] ** 2 / systems.freedom(counting)
    )
    return t_interval(estimate, variance, max(1.0, freedom))


def _outputs(missing: np.ndarray, used: np.ndarray) -> int:
    """How many outputs the documents that count have."""
    return int((~missing[used]).sum())


def _dataset(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over
) -> Interval:
    """Outputs of a document are alike, so documents are left out whole."""
    if over != "documents":
        return no_interval("intervals at dataset level are given over documents")

    def value(kept: np.ndarray) -> float:
        present = ~np.isnan(human) & kept[:, None]
        found = coefficient_of(human[present], judge[present], coefficient).value
        return np.nan if found is None else found

    return _on_z(human, value)


def _system(human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over) -> Interval:
    """Systems are left out in turn; with other documents, their means would differ as they do
    here, so that "both" is the same."""
    if over == "documents":
        return no_interval("intervals at system level are given over systems")
    means = system_means(human, judge)
    units = LeftOut.each(len(means[0]), "systems")
    found = coefficient_of(*means, coefficient).value
    if found is None or len(means[0]) < LEAST_SYSTEMS:
        return no_interval(TOO_FEW.format(LEAST_SYSTEMS, "systems"))
    if abs(found) >= NEARLY_1:
        return no_interval("the order is the same, so nothing is known of how much it varies")
    without = [
        coefficient_of(means[0][kept], means[1][kept], coefficient).value
        for kept in units.counts.astype(bool)
    ]
    left_out = np.array([np.nan if value is None else value for value in without])
    if coefficient == "kendall":
        return units.interval(found, left_out, counting=len(means[0]), least=LEAST_SYSTEMS)
    if coefficient == "pearson":
        error = 1 / np.sqrt(len(means[0]) - 3)
    else:
        error = np.sqrt(units.variance(_z(left_out)))
    half = float(stats.norm.ppf((1 + CONFIDENCE) / 2) * error)
    return Interval(float(np.tanh(_z(found) - half)), float(np.tanh(_z(found) + half)))


def _z(correlation: FloatArray | float) -> FloatArray:
    """Fisher's z; a perfect correlation is taken as a nearly perfect one."""
    z: FloatArray = np.arctanh(np.clip(correlation, -NEARLY_1, NEARLY_1))
    return z


def _on_z(human: FloatArray, value: Callable[[np.ndarray], float]) -> Interval:
    """The interval of one correlation over documents, on Fisher's z.

    Args:
        value: the correlation on some documents; NaN where it is undefined.
    """
    documents = LeftOut.each(len(human))
    all_of_them = value(np.ones(len(human), dtype=bool))
    counting = int((~np.isnan(human)).any(axis=1).sum())
    if counting < LEAST_DOCUMENTS:
        return no_interval(TOO_FEW.format(LEAST_DOCUMENTS, "documents"))
    if np.isnan(all_of_them) or abs(all_of_them) >= NEARLY_1:
        return no_interval("the values are on one line, so nothing is known of how much they vary")
    left_out = np.array([value(kept) for kept in documents.counts.astype(bool)])
    on_z = documents.interval(float(_z(all_of_them)), _z(left_out), counting=counting)
    return mapped(on_z, np.tanh)
