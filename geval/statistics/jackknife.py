"""95 % jackknife intervals, leaving out documents, systems or both in turn, with Student's t.

The jackknife (Tukey, 1958; Efron and Stein, 1981) of a mean over documents is the t interval of
that mean, which is valid for few documents where the percentile bootstrap is too narrow. Both
directions at once follow the decomposition of Owen (2007), "The pigeonhole bootstrap": the
variances over documents and over systems are added, and the part that both contain is subtracted
once. At system level, Pearson's r has Fisher's z interval, Spearman's rho the jackknife on Fisher's
z, and Kendall's tau the plain jackknife.

`make bench-coverage` measures how often the intervals cover the true value. Below the sizes stated
here coverage was under 93 %, and no interval is given.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from geval.statistics.arrays import EQUAL, Outputs, complete, mean_of, sums
from geval.statistics.correlation import (
    Coefficient,
    Level,
    coefficient_of,
    coefficients_by_document,
    correlation_at,
    mean_of_documents,
    system_means,
)
from geval.statistics.distributions import normal_ppf, t_ppf, t_tail
from geval.statistics.resampling import Interval, Over
from geval.statistics.same_documents import SameDocuments, ranked_by_document
from geval.statistics.thresholds import (
    CONFIDENCE,
    INTERVAL_DOCUMENTS,
    INTERVAL_GROUPS,
    INTERVAL_OUTPUTS,
    INTERVAL_SYSTEMS,
    PEARSON_DOCUMENTS,
)
from geval.statistics.types import FloatArray, IntArray
from geval.statistics.weighted import kish

# More documents or systems are left out in this many groups, without a relevant loss of precision.
MOST_GROUPS = 100
# At 1, Fisher's z is infinite, and leaving out documents changes nothing.
NEARLY_1 = 0.999
TOO_FEW = "fewer than {} {} count, too few for an interval"
ALL_THE_SAME = "every {} gives the same value, so nothing is known of how much it varies"


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Units (documents, systems) left out in turn, singly or in groups.

    `group` has shape (units,): the group with which each is left out, out of `groups`. `is_given`
    says that documents of a group are alike, so that groups are the units that count.
    """

    group: IntArray
    groups: int
    unit: str = "documents"
    is_given: bool = False

    @property
    def effective(self) -> int:
        """The effective number of groups by their sizes (Kish, 1965): a standard error rests on
        few values where few groups have most units."""
        return int(kish(np.bincount(self.group, minlength=self.groups).astype(float)) * (1 + EQUAL))

    @classmethod
    def each(cls, units: int, unit: str = "documents") -> "LeftOut":
        groups = min(units, MOST_GROUPS)
        return cls(np.arange(units) % groups, groups, unit)

    @classmethod
    def of(cls, documents: int, group: IntArray | None) -> "LeftOut":
        """Return documents, left out with their group where they have any; shape (documents,)."""
        if group is None:
            return cls.each(documents)
        names, indexes = np.unique(group, return_inverse=True)
        groups = min(len(names), MOST_GROUPS)
        return cls(indexes % groups, groups, is_given=True)

    def sums(self, by_unit: FloatArray) -> FloatArray:
        """Return the sum over units with each group left out; shape (groups,) for (units,)."""
        left_out: FloatArray = by_unit.sum() - sums(self.group, by_unit, self.groups)
        return left_out

    def without_each(self) -> Iterator[np.ndarray]:
        """Yield masks of the units that stay when each group is left out, of shape (units,)."""
        for group in range(self.groups):
            yield self.group != group

    def interval(
        self,
        estimate: float,
        left_out: FloatArray,
        *,
        counting: int,
        least: int = INTERVAL_DOCUMENTS,
        confidence: float = CONFIDENCE,
        by_influence: bool = False,
    ) -> Interval:
        """Return the interval of a value.

        Args:
            left_out: shape (groups,), the value with each group left out.
            counting: how many units enter the value.
            by_influence: for a value that few units may dominate: the variance gets at most the
                degrees of freedom of the effective number of units, by their squared influence.
        """
        if counting < least:
            return no_interval(TOO_FEW.format(least, self.unit))
        if self.is_given and self.effective < INTERVAL_GROUPS:
            return no_interval(TOO_FEW.format(INTERVAL_GROUPS, "groups of documents"))
        if not np.isfinite(left_out).all():
            return no_interval(f"without some {self.unit} there is no value")
        variance = self.variance(left_out)
        if not variance:
            return no_interval(ALL_THE_SAME.format(self.unit.removesuffix("s")))
        freedom: float = self.freedom(counting)
        if by_influence:
            rests_on = kish((left_out - left_out.mean()) ** 2)
            freedom = max(1.0, min(freedom, rests_on - 1))
        return t_interval(estimate, variance, freedom, confidence)

    def variance(self, left_out: FloatArray) -> float:
        """Return the jackknife variance; 0 if the value does not depend on what is left out."""
        groups = len(left_out)
        squared = float(((left_out - left_out.mean()) ** 2).sum())
        return (groups - 1) / groups * squared if squared > 1e-20 else 0.0

    def freedom(self, counting: int) -> int:
        """Return the degrees of freedom; units without a value do not count."""
        groups = self.effective if self.is_given else self.groups
        return max(1, min(groups, counting) - 1)

    def mean_interval(
        self,
        by_unit: FloatArray,
        confidence: float = CONFIDENCE,
        weight: FloatArray | None = None,
    ) -> Interval:
        """Return the interval of a mean over units; shape (units,), NaN where a unit has no value.

        Args:
            weight: shape (units,), the sampling weights; None where all are equal.
        """
        present = ~np.isnan(by_unit)
        if not present.any():
            return no_interval(TOO_FEW.format(INTERVAL_DOCUMENTS, self.unit))
        return self.interval(
            mean_of_documents(by_unit, weight),
            self.means(by_unit, weight),
            counting=counting_by(present, weight),
            confidence=confidence,
        )

    def means(self, by_unit: FloatArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the mean with each group left out; shape (groups,), NaN where nothing is left."""
        present = ~np.isnan(by_unit)
        counted = present.astype(float) if weight is None else np.where(present, weight, 0.0)
        total = np.where(present, by_unit if weight is None else by_unit * weight, 0.0)
        return mean_of(self.sums(total), self.sums(counted))


def counting_by(present: np.ndarray, weight: FloatArray | None) -> int:
    """Return how many units count; with weights the effective number.

    Args:
        present: a mask of shape (units,), as is `weight`.
    """
    if weight is None:
        return int(present.sum())
    return int(kish(weight[present]) * (1 + EQUAL))  # ten nearly equal ones are ten, not nine


def documents_counting(outputs: Outputs) -> int:
    """Return how many documents a statistic over outputs is based on, by the same rule."""
    return counting_by(outputs.documents_with(), outputs.document_weight)


def interval_of_mean(
    outputs: Outputs, values: FloatArray, documents: LeftOut, *, confidence: float = CONFIDENCE
) -> Interval:
    """Return the interval over documents of `Outputs.mean`, a ratio of two sums, leaving out whole
    documents.

    Args:
        values: shape (outputs,), complete, one at least.
    """
    left_out = mean_of(documents.sums(outputs.weighing(values)), documents.sums(outputs.weighing()))
    return documents.interval(
        outputs.mean(values),
        left_out,
        counting=documents_counting(outputs),
        confidence=confidence,
    )


def no_interval(reason: str) -> Interval:
    return Interval(None, None, reason)


def t_interval(
    estimate: float, variance: float, freedom: float, confidence: float = CONFIDENCE
) -> Interval:
    """Return the estimate plus and minus Student's t times the standard error."""
    half = t_quantile(freedom, confidence) * float(np.sqrt(variance))
    return Interval(estimate - half, estimate + half)


@lru_cache(maxsize=1024)
def t_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t at a confidence."""
    return float(t_ppf((1 + confidence) / 2, freedom))


# How often the ends of the best judge's interval may be wrong: its estimate is too high more often
# than too low.
CHOSEN_TOO_HIGH, CHOSEN_TOO_LOW = 0.02, 0.035


def interval_of_the_best(
    value: float, interval: Interval, compared: int, counting: int
) -> Interval:
    """Return the 95 % interval of the highest of several judges' correlations, from its own: the
    lower end is shared among them (Bonferroni), as the highest estimate is likely too high. Of
    equals and of one that is clearly the best it holds the true value in 93 to 97 %.

    Args:
        compared: from how many judges it was chosen.
        counting: how many documents enter the correlation.
    """
    if interval.ends is None or compared < 2:
        return interval
    freedom = max(1, counting - 1)
    low, high = (
        value + (end - value) * float(t_ppf(1 - error, freedom)) / t_quantile(freedom)
        for end, error in zip(
            interval.ends, (CHOSEN_TOO_HIGH / compared, CHOSEN_TOO_LOW), strict=True
        )
    )
    return within(Interval(low, high), -1.0, 1.0)


def mapped(interval: Interval, back: Callable[[float], float]) -> Interval:
    """Map both ends of an interval by a monotonic function, such as back from Fisher's z."""
    if interval.ends is None:
        return interval
    low, high = sorted(float(back(end)) for end in interval.ends)
    return Interval(low, high)


def within(interval: Interval, low: float, high: float) -> Interval:
    """Clip an interval to the possible values."""
    return mapped(interval, lambda end: min(max(end, low), high))


def correlation_interval(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    coefficient: Coefficient,
    level: Level,
    over: Over,
) -> Interval:
    """Return the interval of a correlation at a level: its variation with other documents, systems
    or both.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    if level == "session":
        outputs, (human, judge) = outputs.in_sessions(human, judge)
    compute = {"summary": _summary, "session": _dataset, "system": _system, "dataset": _dataset}[
        level
    ]
    return within(compute(outputs, human, judge, coefficient, over), -1.0, 1.0)


def interval_of_difference(same: SameDocuments, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval over documents of the first judge's summary-level correlation minus the
    second's, on the same documents and with ties counted."""
    used = ~np.isnan(same.difference)
    if used.any() and same.counts[used].sum() < INTERVAL_OUTPUTS:
        return no_interval(TOO_FEW.format(INTERVAL_OUTPUTS, "outputs"))
    documents = LeftOut.of(len(same.difference), same.group)
    return documents.mean_interval(same.difference, confidence, same.weight)


# People's ratings and a judge's scores, of shape (outputs,) each, NaN for missing.
Sides = tuple[FloatArray, FloatArray]


def difference_interval(
    outputs: Outputs, first: Sides, second: Sides, coefficient: Coefficient, level: Level
) -> Interval:
    """Return the interval of the first correlation minus the second, on the same outputs and with
    ties counted: over documents, at system level over systems. Where each unit gives the same
    difference, both ends are that."""
    outputs, (human, scores, *others) = complete(outputs, *first, *second)
    pairs = (human, scores), (others[0], others[1])
    if level == "summary":
        ranked = [outputs.documents_ranked(people) for people, _scores in pairs]
        of_first, of_second = (
            coefficients_by_document(outputs, *sides, coefficient) for sides in pairs
        )
        counts, weight = outputs.by_document(), outputs.document_weight
        same = SameDocuments(
            ranked[0] & ranked[1], counts, of_first, of_second, weight, outputs.group
        )
        return _or_exactly(same.means[0] - same.means[1], interval_of_difference(same))
    of_system = level == "system"
    unit = outputs.system if of_system else outputs.document
    units = (
        LeftOut.each(outputs.systems, "systems")
        if of_system
        else LeftOut.of(outputs.documents, outputs.group)
    )

    def difference(kept: np.ndarray) -> float:
        part = outputs.part(kept)
        of_first, of_second = (
            correlation_at(part, people[kept], judge[kept], coefficient, level).value or 0.0
            for people, judge in pairs
        )
        return of_first - of_second

    gain = difference(np.ones(len(outputs), dtype=bool))
    interval = units.interval(
        gain,
        np.array([difference(stay[unit]) for stay in units.without_each()]),
        counting=len(np.unique(unit)),
        least=INTERVAL_SYSTEMS if of_system else INTERVAL_DOCUMENTS,
    )
    return _or_exactly(gain, interval)


def _or_exactly(value: float, interval: Interval) -> Interval:
    is_exact = interval.reason in (ALL_THE_SAME.format("document"), ALL_THE_SAME.format("system"))
    return Interval(value, value) if is_exact else interval


def summary_interval(outputs: Outputs, by_document: FloatArray) -> Interval:
    """Return the interval over documents of a summary-level correlation.

    Args:
        outputs: the outputs with both a rating and a score.
        by_document: shape (documents,), the coefficient of each; NaN where undefined.
    """
    documents = LeftOut.of(outputs.documents, outputs.group)
    mean_interval = documents.mean_interval(by_document, weight=outputs.document_weight)
    used = ~np.isnan(by_document)
    if mean_interval.low is not None and outputs.by_document()[used].sum() < INTERVAL_OUTPUTS:
        return no_interval(TOO_FEW.format(INTERVAL_OUTPUTS, "outputs"))
    return within(mean_interval, -1.0, 1.0)


def _summary(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over
) -> Interval:
    by_document = coefficients_by_document(outputs, human, judge, coefficient)
    of_documents = summary_interval(outputs, by_document)
    if over == "documents" or of_documents.low is None:
        return of_documents
    jackknifed = over_systems(outputs, human, [judge], [by_document], coefficient, over)
    if isinstance(jackknifed, str):
        return no_interval(jackknifed)
    return t_interval(jackknifed.estimate, jackknifed.variance, jackknifed.freedom)


@dataclass(frozen=True)
class Spread:
    """How much an estimate would vary with other units: its variance and degrees of freedom."""

    estimate: float
    variance: float
    freedom: float

    @property
    def p(self) -> float:
        """The two-sided p of Student's t test that the true value is 0."""
        t = abs(self.estimate) / float(np.sqrt(self.variance))
        return float(2 * t_tail(t, self.freedom))


def over_systems(
    outputs: Outputs,
    human: FloatArray,
    judges: Sequence[FloatArray],
    by_document: Sequence[FloatArray],
    coefficient: Coefficient,
    over: Over,
) -> Spread | str:
    """Return the spread of a summary-level correlation over systems, or over systems and documents;
    for two judges, of the first's minus the second's, ties counted.

    Args:
        human, judges: shape (outputs,) each, complete; one judge or two.
        by_document: the judges' coefficients, of shape (documents,) each; for two judges as given
            by `ranked_by_document`.
        over: "systems" or "both".

    Returns:
        The spread, or a text that says why it is undefined.
    """
    documents = LeftOut.of(outputs.documents, outputs.group)
    systems = LeftOut.each(outputs.systems, "systems")
    counting = int((outputs.by_system() > 0).sum())
    if counting < INTERVAL_SYSTEMS:
        return TOO_FEW.format(INTERVAL_SYSTEMS, "systems")
    measured = coefficients_by_document if len(judges) == 1 else ranked_by_document
    without = [
        np.stack(
            [
                measured(outputs.part(kept), human[kept], judge[kept], coefficient)
                for kept in (stay[outputs.system] for stay in systems.without_each())
            ]
        )
        for judge in judges
    ]  # (groups of systems, documents) each
    weight = outputs.document_weight
    estimate = _difference([mean_of_documents(side, weight) for side in by_document])
    left_out = _difference([mean_of_rows(side, weight) for side in without])
    if not np.isfinite(left_out).all():
        return "without some systems there is no value"
    of_systems = systems.variance(left_out)
    if over == "systems":
        if not of_systems:
            return ALL_THE_SAME.format("system")
        return Spread(estimate, of_systems, systems.freedom(counting))
    values = _difference(by_document)
    used = ~np.isnan(values)
    of_documents = documents.variance(
        _difference([documents.means(side, weight) for side in by_document])
    )
    groups, n = len(left_out), counting_by(used, weight)
    shifts = _difference(without)[:, used] - values[used] - (left_out - estimate)[:, None]
    if weight is not None:
        shifts = shifts * weight[used] / np.sqrt((weight[used] ** 2).mean())
    shared = (groups - 1) / groups * np.nansum(shifts**2) / (used.sum() * (n - 1))
    variance = max(of_documents + of_systems - shared, of_documents, of_systems)
    if not variance:
        return ALL_THE_SAME.format("document")
    freedom = variance**2 / (
        of_documents**2 / documents.freedom(n) + of_systems**2 / systems.freedom(counting)
    )
    return Spread(estimate, float(variance), float(freedom))


def _difference(sides: Sequence[Any]) -> Any:
    """Return the only value, or the first minus the second."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def _dataset(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over
) -> Interval:
    """Return the interval over documents, on Fisher's z. Outputs of a document are correlated, so
    whole documents are left out."""
    if over != "documents":
        return no_interval("intervals at this level are given over documents")
    counting = int(outputs.documents_with().sum())
    least = PEARSON_DOCUMENTS if coefficient == "pearson" else INTERVAL_DOCUMENTS
    if counting < least:
        return no_interval(TOO_FEW.format(least, "documents"))
    weight = outputs.weight
    value = coefficient_of(human, judge, coefficient, weight=weight).value
    if value is None or abs(value) >= NEARLY_1:
        return no_interval("the values are on one line, so nothing is known of how much they vary")
    documents = LeftOut.of(outputs.documents, outputs.group)
    without = [
        coefficient_of(
            human[kept], judge[kept], coefficient, weight=None if weight is None else weight[kept]
        ).value
        for kept in (stay[outputs.document] for stay in documents.without_each())
    ]
    if outputs.document_weight is not None:
        counting = counting_by(outputs.documents_with(), outputs.document_weight)
    of_z = documents.interval(
        float(_z(value)),
        _z(_numbers(without)),
        counting=counting,
        least=least,
        # Outputs far from the mean dominate r, and may all belong to a few documents.
        by_influence=coefficient == "pearson",
    )
    return mapped(of_z, np.tanh)


def _system(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient, over: Over
) -> Interval:
    """Return the interval over systems, left out in turn. With other documents their means would
    vary as they do here, so that "both" is the same."""
    if over == "documents":
        return no_interval("intervals at system level are given over systems")
    x, y = system_means(outputs, human, judge)
    units = LeftOut.each(len(x), "systems")
    value = coefficient_of(x, y, coefficient).value
    if value is None or len(x) < INTERVAL_SYSTEMS:
        return no_interval(TOO_FEW.format(INTERVAL_SYSTEMS, "systems"))
    if abs(value) >= NEARLY_1:
        return no_interval("the order is the same, so nothing is known of how much it varies")
    left_out = _numbers(
        [coefficient_of(x[kept], y[kept], coefficient).value for kept in units.without_each()]
    )
    if coefficient == "kendall":
        return units.interval(value, left_out, counting=len(x), least=INTERVAL_SYSTEMS)
    if coefficient == "pearson":
        error = 1 / np.sqrt(len(x) - 3)
    else:
        error = np.sqrt(units.variance(_z(left_out)))
    half = float(normal_ppf((1 + CONFIDENCE) / 2) * error)
    return Interval(float(np.tanh(_z(value) - half)), float(np.tanh(_z(value) + half)))


def mean_of_rows(rows: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return each row's mean without missing values; NaN for an empty row.

    Args:
        weight: shape (columns,), how much each column counts.
    """
    if weight is None:
        return mean_of(np.nansum(rows, axis=1), (~np.isnan(rows)).sum(axis=1))
    return mean_of(np.nansum(rows * weight, axis=1), (~np.isnan(rows)) @ weight)


def _numbers(values: list[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values])


def _z(correlation: FloatArray | float) -> FloatArray:
    """Return Fisher's z; a perfect correlation is treated as nearly perfect."""
    z: FloatArray = np.arctanh(np.clip(correlation, -NEARLY_1, NEARLY_1))
    return z
