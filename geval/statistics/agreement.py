"""Agreement of annotators: Krippendorff's alpha, and each annotator compared with the others'
mean."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.correlation import (
    Coefficient,
    Level,
    coefficient_of,
    coefficients_by_document,
    system_means,
)
from geval.statistics.distributions import t_ppf
from geval.statistics.jackknife import (
    NEARLY_1,
    TOO_FEW,
    LeftOut,
    correlation_interval,
    mapped,
    mean_of_rows,
    no_interval,
    within,
)
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import (
    ALPHA_SKEWNESS,
    ALT_TEST_OUTPUTS,
    BAR_SHARE,
    INTERVAL_DOCUMENTS,
    INTERVAL_GROUPS,
    INTERVAL_SYSTEMS,
)
from geval.statistics.types import Estimate, FloatArray, IntArray

Measurement = Literal["nominal", "ordinal", "interval"]
SKEWED = (
    f"the ratings are skewed ({ALPHA_SKEWNESS:g} or more), so a few documents decide how much they"
    " vary; see Gwet's AC2"
)
MEASUREMENTS: tuple[Measurement, ...] = ("ordinal", "interval")


@dataclass(frozen=True)
class LeaveOneOut:
    """One annotator's summary-level correlation with the others' mean, the documents used, and its
    interval over documents."""

    estimate: Estimate
    documents_used: int
    interval: Interval

    @property
    def is_shown(self) -> bool:
        """Whether enough documents are used to print it; a few jump between few values."""
        return self.documents_used >= INTERVAL_DOCUMENTS


@dataclass(frozen=True, eq=False)
class Coincidences:
    """The coincidence matrix (Krippendorff, 2011) by group of documents, as its cells above 0.

    `values` are the distinct ratings of outputs that were rated twice; `group`, `first`, `second`
    (positions in `values`) and `weight` have shape (cells,). `documents` have such outputs.
    """

    values: FloatArray
    groups: int
    group: IntArray
    first: IntArray
    second: IntArray
    weight: FloatArray
    documents: int

    def alpha(self, measurement: Measurement) -> Estimate:
        """Krippendorff's alpha."""
        if not self.weight.size:
            return Estimate.undefined("no output has ratings by two annotators")
        if len(self.values) < 2:
            return Estimate.undefined(
                "all ratings are the same, so agreement cannot be distinguished from chance"
            )
        return Estimate(float(1 - self.disagreements(measurement)[-1]))

    def interval(self, measurement: Measurement, documents: LeftOut) -> Interval:
        """Return alpha's interval over documents, computed on the logarithm of the disagreement 1 -
        alpha."""
        if len(self.values) < 2:
            return no_interval("all ratings are the same, or there are none")
        if abs(self._skewness()) >= ALPHA_SKEWNESS:
            return no_interval(SKEWED)
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log(self.disagreements(measurement))
        interval = documents.interval(float(logs[-1]), logs[:-1], counting=self.documents)
        return mapped(interval, lambda end: 1 - np.exp(end))

    def _skewness(self) -> float:
        """Return the skewness of all ratings: the third moment over the power 3/2 of the second."""
        weight = sums(self.first, self.weight, len(self.values))
        apart = self.values - np.average(self.values, weights=weight)
        second, third = (float(np.average(apart**power, weights=weight)) for power in (2, 3))
        return third / float(np.power(second, 1.5))

    def disagreements(self, measurement: Measurement) -> FloatArray:
        """Return observed over expected disagreement without each group, and last with all; shape
        (groups + 1,), NaN where none is expected."""
        shape = (self.groups + 1, len(self.values))
        indexes = self.group * shape[1] + self.first
        of_group = sums(indexes, self.weight, shape[0] * shape[1]).reshape(shape)
        kept = of_group.sum(axis=0) - of_group  # the last group is empty, so nothing is left out
        total = kept.sum(axis=1)
        points = np.broadcast_to(self._points(measurement, kept), shape)
        observed = self._observed(measurement, points)
        if measurement == "nominal":
            expected = total**2 - (kept**2).sum(axis=1)
        else:
            expected = 2 * (
                total * (kept * points**2).sum(axis=1) - (kept * points).sum(axis=1) ** 2
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = (observed / total) / (expected / (total * (total - 1)))
        return np.where(expected > 1e-9 * total, ratio, np.nan)

    def _points(self, measurement: Measurement, kept: FloatArray) -> FloatArray:
        """Return coordinates of the values whose squared distance is the disagreement; for ordinal
        values the number of ratings below, plus half of the equal ones."""
        if measurement == "ordinal":
            return np.asarray(np.cumsum(kept, axis=1) - kept / 2)
        return np.asarray(self.values - self.values.mean())

    def _observed(self, measurement: Measurement, points: FloatArray) -> FloatArray:
        """Return the sum of weighted distances without each group; shape (groups + 1,)."""
        if measurement == "ordinal":  # whose points depend on the group left out
            apart = (
                ((point[self.first] - point[self.second]) ** 2)[self.group != group]
                @ self.weight[self.group != group]
                for group, point in enumerate(points)
            )
            return np.fromiter(apart, dtype=float)
        point = points[0]
        distance = (
            self.first != self.second
            if measurement == "nominal"
            else (point[self.first] - point[self.second]) ** 2
        )
        of_group = sums(self.group, self.weight * distance, self.groups + 1)
        return np.asarray(of_group.sum() - of_group)


def coincidences(outputs: Outputs, ratings: Ratings, documents: LeftOut) -> Coincidences:
    """Return which ratings coincide on the same outputs, by the groups of documents that are left
    out."""
    of_output = documents.group[outputs.document]
    values = np.unique(ratings.value[ratings.count[ratings.output] > 1])
    code = np.searchsorted(values, ratings.value).astype(np.int64)
    keys, weights = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for block in ratings.blocks:
        apart = ~np.eye(block.size, dtype=bool)
        for part in block.parts():
            own = code[part.members]
            cell = own[:, :, None] * len(values) + own[:, None, :]
            cell += of_output[part.groups][:, None, None] * len(values) ** 2
            pairs_of_values, count = np.unique(cell[:, apart], return_counts=True)
            keys.append(pairs_of_values)
            weights.append(count / (block.size - 1))
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    weight = sums(place, np.concatenate(weights), len(key))
    rest, second = np.divmod(key, len(values))
    group, first = np.divmod(rest, len(values))
    twice = int(outputs.documents_with(ratings.count > 1).sum())
    return Coincidences(values, documents.groups, group, first, second, weight, twice)


@dataclass(frozen=True)
class Ceiling:
    """The mean of annotators' summary-level correlations with the others' mean, with its
    interval."""

    estimate: Estimate
    interval: Interval
    by_rater: tuple[LeaveOneOut, ...]


NOBODY = "no two annotators rated the same outputs of a document"
NOBODY_SCORED = "no two annotators rated outputs that the judge scored"
NO_RANKS = (
    "in no document do this annotator's ratings and the others' both vary over the same outputs"
)


def human_ceiling(
    outputs: Outputs, ratings: Ratings, coefficient: Coefficient, documents: LeftOut
) -> Ceiling:
    """One rater, the bar for judges: every annotator compared with the mean of the others,
    averaged over annotators."""
    against_others = _against_others(outputs, ratings, ratings.value, coefficient)
    each = tuple(
        LeaveOneOut(
            Estimate(value),
            count,
            within(documents.interval(value, without, counting=count), -1.0, 1.0),
        )
        if count
        else LeaveOneOut(Estimate.undefined(NO_RANKS), 0, no_interval(NO_RANKS))
        for value, count, without in zip(
            against_others.means().tolist(),
            against_others.documents.tolist(),
            against_others.each_without(documents).T,
            strict=True,
        )
    )
    estimate = against_others.estimate(NOBODY)
    if estimate.value is None:
        return Ceiling(estimate, no_interval(NOBODY), each if ratings.raters > 1 else ())
    interval = documents.interval(
        estimate.value,
        against_others.means_without(documents),
        counting=len(np.unique(against_others.document)),
    )
    return Ceiling(estimate, within(interval, -1.0, 1.0), each)


@lru_cache(maxsize=4)
def ratings_of_the_bar(outputs: Outputs, ratings: Ratings) -> Ratings:
    """Return the ratings by raters whose summary-level rho with the mean of the others is at least
    `BAR_SHARE` of the middle rater's, or their rho over all outputs where documents have one output
    each; all where fewer than two are left. It is cached for all judges on a criterion.

    A careless rater is easily matched in that place, and spoils the mean that judges are compared
    with in the others' places: one rater of three who was careless in 60 % of answers let judges
    0.17 behind the careful ones rank like a rater in 32 to 99 % of data sets.
    """
    if len(np.unique(outputs.document)) == len(outputs):
        means, enough = _over_all_outputs(outputs, ratings)
    else:
        of_rater = _against_others(outputs, ratings, ratings.value, "spearman")
        means, enough = of_rater.means(), of_rater.documents >= INTERVAL_DOCUMENTS
    if not enough.any():
        return ratings
    agree = ~enough | (means >= BAR_SHARE * np.median(means[enough]))
    if agree.all() or (agree & ratings.active).sum() < 2:
        return ratings
    # Positions of raters stay, so that they can be named.
    kept = agree[ratings.rater]
    return Ratings(
        ratings.output[kept],
        ratings.rater[kept],
        ratings.value[kept],
        ratings.outputs,
        ratings.raters,
    )


def _over_all_outputs(outputs: Outputs, ratings: Ratings) -> tuple[FloatArray, np.ndarray]:
    """Return each rater's rho with the mean of the others over all outputs, and whether enough of
    them were rated by others; shape (raters,)."""
    shared = ~np.isnan(ratings.others)
    each = _each_at_level(outputs, ratings, ratings.value, shared, "spearman", "dataset")
    enough = np.bincount(ratings.rater[shared], minlength=ratings.raters) >= ALT_TEST_OUTPUTS
    return np.array([value or 0.0 for value in each]), enough


def raters_against_others(outputs: Outputs, ratings: Ratings) -> tuple[int, ...]:
    """Return the positions of raters whose rho with the mean of the others, over all outputs, is
    shown to be below 0: their scale may be reversed."""
    means, enough = _over_all_outputs(outputs, ratings)
    against = []
    for rater in np.flatnonzero(enough & (means < 0)).tolist():
        own, others = np.full((2, len(outputs)), np.nan)
        rated = ratings.rater == rater
        own[ratings.output[rated]] = ratings.value[rated]
        others[ratings.output[rated]] = ratings.others[rated]
        high = correlation_interval(outputs, others, own, "spearman", "dataset", "documents").high
        if means[rater] <= -NEARLY_1 or (high is not None and high < 0):
            against.append(rater)
    return tuple(against)


def judge_as_a_rater(
    outputs: Outputs,
    ratings: Ratings,
    judge: FloatArray,
    coefficient: Coefficient = "spearman",
    level: Level = "summary",
) -> Estimate:
    """Return a judge's correlation in the place of each annotator in turn: its correlation with the
    mean of the others, on the outputs that the annotator rated, averaged over annotators.

    This is comparable with one rater: both are compared with the mean of the same people. A judge
    compared with everybody's mean is compared with that of one person more, which alone makes a
    judge that equals an annotator look better than one.

    Args:
        judge: shape (outputs,), NaN for missing.
    """
    values = judge[ratings.output]
    if level == "summary":
        return _against_others(outputs, ratings, values, coefficient).estimate(NOBODY_SCORED)
    return _at_level(outputs, ratings, values, coefficient, level)


def rater_at(
    outputs: Outputs, ratings: Ratings, coefficient: Coefficient, level: Level
) -> Estimate:
    """Return what one rater reaches at a level: each compared with the mean of the others,
    averaged.

    At summary level it is the estimate of `human_ceiling`.
    """
    if level == "summary":
        return _against_others(outputs, ratings, ratings.value, coefficient).estimate(NOBODY)
    return _at_level(outputs, ratings, ratings.value, coefficient, level)


# Below it the value counts as symmetric: the transformation would divide by almost nothing.
LEAST_SKEWNESS = 1e-6


@dataclass(frozen=True)
class BehindARater:
    """A judge's correlation in a rater's place minus the rater's own, averaged over raters.

    `error` is its standard error over documents (at system level over systems), with its degrees of
    freedom, raters being fixed; None with the reason where it is undefined. `skewness` is that of
    the value: documents' differences have a long tail to one side, which matters most for the best
    of many judges.
    """

    value: float | None
    error: float | None = None
    freedom: int = 0
    reason: str = ""
    skewness: float = 0.0

    def low(self, confidence: float) -> float | None:
        """Return the lower end of the one-sided interval by Student's t with the skewness of the
        value taken off (Hall, 1992, On the removal of skewness by transformation, g3); None where
        it is undefined.

        Args:
            confidence: such as 0.95.
        """
        return self._end(confidence, -1)

    def high(self, confidence: float) -> float | None:
        """Return the upper end of the one-sided interval; None where it is undefined."""
        return self._end(confidence, 1)

    def _end(self, confidence: float, side: int) -> float | None:
        if self.value is None or self.error is None:
            return None
        deviation = side * float(t_ppf(confidence, self.freedom))
        if abs(self.skewness) > LEAST_SKEWNESS:
            straight = 1 - self.skewness * (deviation + self.skewness / 6)
            deviation = 3 / self.skewness * (1 - float(np.cbrt(straight)))
        return self.value + deviation * self.error


def judge_minus_a_rater(
    outputs: Outputs,
    ratings: Ratings,
    judge: FloatArray,
    coefficient: Coefficient = "spearman",
    level: Level = "summary",
) -> BehindARater:
    """Return how far a judge in each rater's place is behind that rater, both compared with the
    mean of the others on the same outputs.

    If the judge or the rater ties all outputs of a document (all outputs, at other levels), its
    coefficient there counts as 0; where the others' mean ties them too, the document does not
    count.

    Args:
        judge: shape (outputs,), NaN for missing.
    """
    values = judge[ratings.output]
    if level == "summary":
        return _behind_in_documents(outputs, ratings, values, coefficient)
    return _behind_at_level(outputs, ratings, values, coefficient, level)


def _behind_in_documents(
    outputs: Outputs, ratings: Ratings, values: FloatArray, coefficient: Coefficient
) -> BehindARater:
    order, pairs, within_pairs = _by_rater_and_document(outputs, ratings)
    defined = ~np.isnan(values[order])
    others = np.where(defined, ratings.others[order], np.nan)
    sides = [
        coefficients_by_document(within_pairs, np.where(defined, side, np.nan), others, coefficient)
        for side in (values[order], ratings.value[order])
    ]
    some = ~np.isnan(sides[0]) | ~np.isnan(sides[1])
    rater, document = np.divmod(pairs[some], outputs.documents)
    behind = np.nan_to_num(sides[0][some]) - np.nan_to_num(sides[1][some])
    against_others = _AgainstOthers(ratings.raters, rater, document, behind)
    estimate = against_others.estimate(NOBODY_SCORED)
    if estimate.value is None:
        return BehindARater(None, reason=estimate.reason)
    documents = LeftOut.of(outputs.documents, outputs.group)
    counting = len(np.unique(document))
    if counting < INTERVAL_DOCUMENTS:
        reason = TOO_FEW.format(INTERVAL_DOCUMENTS, "documents")
        return BehindARater(estimate.value, reason=reason)
    return _behind(estimate.value, against_others.means_without(documents), documents, counting)


def _behind_at_level(
    outputs: Outputs,
    ratings: Ratings,
    values: FloatArray,
    coefficient: Coefficient,
    level: Level,
) -> BehindARater:
    defined = ~np.isnan(ratings.others) & ~np.isnan(values)

    def behind(kept: np.ndarray) -> float | None:
        sides = [
            _each_at_level(outputs, ratings, side, kept, coefficient, level)
            for side in (values, ratings.value)
        ]
        each = [
            (substituted or 0.0) - (original or 0.0)
            for substituted, original in zip(*sides, strict=True)
            if substituted is not None or original is not None
        ]
        return float(np.mean(each)) if each else None

    estimate = behind(defined)
    if estimate is None:
        return BehindARater(
            None, reason=f"no annotator can be compared with the others at {level} level"
        )
    by_system = level == "system"
    unit = outputs.system if by_system else outputs.document
    units = (
        LeftOut.each(outputs.systems, "systems")
        if by_system
        else LeftOut.of(outputs.documents, outputs.group)
    )
    of_rating = unit[ratings.output]
    counting, least = (
        len(np.unique(of_rating[defined])),
        INTERVAL_SYSTEMS if by_system else INTERVAL_DOCUMENTS,
    )
    if counting < least:
        return BehindARater(estimate, reason=TOO_FEW.format(least, units.unit))
    left_out = [behind(defined & stay[of_rating]) for stay in units.without_each()]
    return _behind(
        estimate,
        np.array([np.nan if value is None else value for value in left_out]),
        units,
        counting,
    )


def _behind(estimate: float, left_out: FloatArray, units: LeftOut, counting: int) -> BehindARater:
    if units.is_given and units.effective < INTERVAL_GROUPS:
        return BehindARater(estimate, reason=TOO_FEW.format(INTERVAL_GROUPS, "groups of documents"))
    if not np.isfinite(left_out).all():
        return BehindARater(estimate, reason=f"without some {units.unit} there is no value")
    error = float(np.sqrt(units.variance(left_out)))
    influence = left_out.mean() - left_out
    skewness = float((influence**3).sum() / (influence**2).sum() ** 1.5) if error else 0.0
    return BehindARater(estimate, error, units.freedom(counting), skewness=skewness)


def _at_level(
    outputs: Outputs, ratings: Ratings, values: FloatArray, coefficient: Coefficient, level: Level
) -> Estimate:
    """
    Args:
        values: shape (ratings,), the values to compare with the mean of the output's other ratings.
    """
    defined = ~np.isnan(ratings.others) & ~np.isnan(values)
    values_at_level = _each_at_level(outputs, ratings, values, defined, coefficient, level)
    each = [value for value in values_at_level if value is not None]
    if not each:
        return Estimate.undefined(f"no annotator can be compared with the others at {level} level")
    return Estimate(float(np.mean(each)))


def _each_at_level(
    outputs: Outputs,
    ratings: Ratings,
    values: FloatArray,
    kept: np.ndarray,
    coefficient: Coefficient,
    level: Level,
) -> list[float | None]:
    """Return each annotator's coefficient with the mean of the others, None where it is undefined.

    Args:
        values: shape (ratings,), the values to compare with the mean of the output's other ratings.
        kept: a mask of the ratings that count, shape (ratings,).
    """
    others = ratings.others
    order = np.flatnonzero(kept)[np.argsort(ratings.rater[kept], kind="stable")]
    ends = np.cumsum(np.bincount(ratings.rater[order], minlength=ratings.raters))
    each: list[float | None] = []
    for of_rater in np.split(order, ends[:-1]) if len(ends) else []:
        own, rest = values[of_rater], others[of_rater]
        output = ratings.output[of_rater]
        rated = Outputs(
            outputs.document[output], outputs.system[output], outputs.documents, outputs.systems
        )
        if level == "system":
            own, rest = system_means(rated, own, rest)
        elif level == "session":
            _sessions, (own, rest) = rated.in_sessions(own, rest)
        each.append(coefficient_of(own, rest, coefficient).value)
    return each


@dataclass(frozen=True, eq=False)
class _AgainstOthers:
    """Coefficients with the mean of the other annotators, for each annotator and document where it
    is defined; arrays of shape (coefficients,)."""

    raters: int
    rater: IntArray
    document: IntArray
    value: FloatArray

    @property
    def documents(self) -> IntArray:
        """The number of documents with a coefficient by annotator; shape (raters,)."""
        return np.bincount(self.rater, minlength=self.raters)

    def means(self) -> FloatArray:
        """Return each annotator's mean over documents; shape (raters,), NaN where undefined."""
        return mean_of(sums(self.rater, self.value, self.raters), self.documents)

    def estimate(self, why_none: str) -> Estimate:
        """Return the mean over annotators."""
        if not len(self.value):
            return Estimate.undefined(why_none)
        return Estimate(float(np.nanmean(self.means())))

    def means_without(self, documents: LeftOut) -> FloatArray:
        """Return the mean over annotators without each group of documents; shape (groups,)."""
        return mean_of_rows(self.each_without(documents))

    def each_without(self, documents: LeftOut) -> FloatArray:
        """Return annotators' means without each group of documents; shape (groups, raters)."""
        shape = (documents.groups, self.raters)
        indexes = documents.group[self.document] * self.raters + self.rater
        total, count = (
            sums(indexes, values, shape[0] * shape[1]).reshape(shape)
            for values in (self.value, None)
        )
        return mean_of(total.sum(axis=0) - total, count.sum(axis=0) - count)


def _against_others(
    outputs: Outputs, ratings: Ratings, values: FloatArray, coefficient: Coefficient
) -> _AgainstOthers:
    """
    Args:
        values: shape (ratings,), the values to compare with the mean of the output's other ratings.
    """
    order, pairs, within_pairs = _by_rater_and_document(outputs, ratings)
    coefficients = coefficients_by_document(
        within_pairs, values[order], ratings.others[order], coefficient
    )
    some = ~np.isnan(coefficients)
    rater, document = np.divmod(pairs[some], outputs.documents)
    return _AgainstOthers(ratings.raters, rater, document, coefficients[some])


@lru_cache(maxsize=1)
def _by_rater_and_document(
    outputs: Outputs, ratings: Ratings
) -> tuple[IntArray, IntArray, Outputs]:
    """Return the order of the ratings by annotator and document; the pairs of these that occur, as
    annotator times documents plus document; and the ratings in that order as outputs of these
    pairs. It is cached for all judges on a criterion."""
    key = ratings.rater * np.int64(outputs.documents) + outputs.document[ratings.output]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    group = np.cumsum(begins) - 1
    pairs = ordered[begins]
    # Each pair of annotator and document acts as a document.
    return order, pairs, Outputs(group, np.zeros_like(group), len(pairs), 1)
