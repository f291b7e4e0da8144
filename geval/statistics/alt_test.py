"""The alternative annotator test: can a judge replace an annotator? (Calderon, Reichart and Dror,
2025.)

Each annotator is left out in turn. The judge and that annotator are compared, output by output, by
their distance to the remaining annotators; the judge "wins" against an annotator if it is shown to
be at most `epsilon` worse.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from geval.statistics.arrays import Ratings
from geval.statistics.coefficients import ranks
from geval.statistics.distributions import t_cdf, t_ppf, t_tail
from geval.statistics.significance import benjamini_yekutieli
from geval.statistics.thresholds import (
    ALT_TEST_EPSILON,
    ALT_TEST_ERROR,
    ALT_TEST_OUTPUTS,
    ALT_TEST_WINNING_RATE,
    CONFIDENCE,
    INTERVAL_DOCUMENTS,
)
from geval.statistics.types import Estimate, FloatArray, IntArray


@dataclass(frozen=True)
class AltTest:
    """The test at one epsilon.

    `winning_rate` is the share of annotators that the judge wins against (it passes at 0.5),
    `advantage` the mean probability that the judge is as close to the others as the annotator. `p`
    and `advantages` are by annotator, whose positions are in `annotators`. `smallest_epsilon` is
    the smallest epsilon, in steps of 0.01, at which it passes; None if there is none. `left_out`
    are the positions of annotators that do not agree with the others and were left out.
    """

    epsilon: float
    winning_rate: Estimate
    advantage: Estimate
    p: tuple[float, ...]
    advantages: tuple[float, ...]
    outputs: int
    smallest_epsilon: float | None = None
    annotators: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()

    @property
    def passes(self) -> bool:
        return (
            self.winning_rate.value is not None and self.winning_rate.value >= ALT_TEST_WINNING_RATE
        )


@dataclass(frozen=True)
class _Duels:
    """The judge compared with each annotator; arrays of shape (annotators that count,).

    `mean` is the mean of (annotator wins - judge wins), with its standard error and degrees of
    freedom.
    """

    annotator: IntArray
    mean: FloatArray
    error: FloatArray
    freedom: IntArray
    outputs: IntArray
    advantage: FloatArray

    def __len__(self) -> int:
        return len(self.annotator)

    def p(self, epsilon: float) -> FloatArray:
        """Return the p-values of one-sided t tests that the mean difference is below epsilon."""
        with np.errstate(invalid="ignore", divide="ignore"):
            tested = t_cdf((self.mean - epsilon) / self.error, self.freedom)
        certain = np.where(self.mean < epsilon, 0.0, 1.0)
        return np.where(self.error == 0, certain, tested)


def alt_test(
    ratings: Ratings,
    judge: FloatArray,
    *,
    epsilon: float = ALT_TEST_EPSILON,
    q: float = ALT_TEST_ERROR,
    documents: IntArray | None = None,
    least_outputs: int = 2,
    least_annotators: int = 1,
) -> AltTest:
    """Test a judge against all annotators, by negative root mean squared distance to the others.

    Args:
        judge: shape (outputs,), NaN for missing.
        epsilon: how much worse than an annotator the judge may be, as a probability, since
            annotators cost more: 0.2 compared with experts, 0.15 with skilled annotators, 0.1 with
            crowd workers.
        documents: shape (outputs,), which document each belongs to: outputs of a document are
            alike, so the standard error is clustered by document. None treats outputs as
            independent.
        least_outputs, least_annotators: an annotator with fewer outputs does not count; with fewer
            annotators there is no test.
    """
    duels = _duels(ratings, judge, documents, least_outputs)
    if len(duels) < least_annotators:
        reason = (
            f"{least_annotators} annotators with {least_outputs} outputs each, rated by others too"
            f" and scored by the judge, are needed; there are {len(duels)}"
            if least_annotators > 1
            else "no output was rated by two annotators and scored by the judge"
        )
        nothing = Estimate.undefined(reason)
        return AltTest(epsilon, nothing, nothing, (), (), 0)
    p_values = duels.p(epsilon)
    return AltTest(
        epsilon,
        Estimate(_winning_rate(p_values, q)),
        Estimate(float(duels.advantage.mean())),
        tuple(p_values.tolist()),
        tuple(duels.advantage.tolist()),
        int(duels.outputs.max()),
        _smallest(duels, q),
        tuple(duels.annotator.tolist()),
    )


@lru_cache(maxsize=4)
def nearest_constant(ratings: Ratings, points: tuple[float, ...]) -> float:
    """Return the point that wins most often against raters as a constant score: the best judge that
    reads nothing; where no two rated the same output, the one nearest to the middle rating. It is
    cached for all judges on a criterion."""
    by_person = _between_people(ratings)
    compared = ~np.isnan(by_person)
    if not compared.any():
        middle = float(np.median(ratings.value)) if len(ratings) else points[0]
        return min(points, key=lambda point: abs(point - middle))

    def wins(point: float) -> float:
        by_constant = _to_others(ratings, np.full(ratings.outputs, point))
        return float((by_constant >= by_person - 1e-12)[compared].mean())

    return max(points, key=wins)


def p_of_nearer(
    ratings: Ratings, judge: FloatArray, other: FloatArray, documents: IntArray
) -> float | None:
    """Return the p of the one-sided t test that a judge is no closer to raters than other scores
    are; None where nothing can be compared or nothing varies.

    The statistic is the mean over ratings of the difference of root mean squared distances to the
    output's other ratings, with its standard error clustered by document.

    Args:
        judge, other: shape (outputs,), NaN for missing.
        documents: shape (outputs,), which document each belongs to.
    """
    nearer = _to_others(ratings, judge) - _to_others(ratings, other)
    defined = ~np.isnan(nearer)
    values, document = nearer[defined], documents[ratings.output[defined]]
    if not len(values):
        return None
    mean = float(values.mean())
    sums_of = np.bincount(document, values - mean)
    if not np.any(np.abs(sums_of) > 1e-9):  # as where there is one document
        return None
    clusters = len(np.unique(document))
    error = float(np.sqrt(clusters / (clusters - 1) * (sums_of**2).sum())) / len(values)
    return float(t_tail(mean / error, clusters - 1))


def raters_that_agree(
    ratings: Ratings, documents: IntArray, least_outputs: int = ALT_TEST_OUTPUTS
) -> np.ndarray:
    """Return whether each rater is shown to agree with the others at all; shape (raters,). Raters
    with fewer shared outputs cannot be tested and count as agreeing.

    By Pearson's r between the ranks of a rater's ratings and those of the mean of the output's
    others, over all outputs: its 95 % interval, clustered by document, has to lie above 0. (The
    standard error is that of r's influence function, clustered, which is too small for fewer than
    `INTERVAL_DOCUMENTS` documents: these raters count as agreeing, too.)

    Args:
        documents: shape (outputs,), which document each belongs to.
    """
    defined = ~np.isnan(ratings.others)
    rater, document = ratings.rater[defined], documents[ratings.output[defined]]
    sides = [
        _standardised(ranks(side[defined]), rater, ratings.raters)
        for side in (ratings.value, ratings.others)
    ]
    count = np.bincount(rater, minlength=ratings.raters)
    some = np.maximum(count, 1)
    r = np.bincount(rater, sides[0] * sides[1], minlength=ratings.raters) / some
    influence = sides[0] * sides[1] - r[rater] * (sides[0] ** 2 + sides[1] ** 2) / 2
    of_rater, of_cluster = _clusters(rater, document)
    sums_of = np.bincount(of_cluster, influence, minlength=len(of_rater))
    clusters = np.bincount(of_rater, minlength=ratings.raters)
    squared = np.bincount(of_rater, sums_of**2, minlength=ratings.raters)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(clusters / (clusters - 1) * squared) / count
        low = r - t_ppf((1 + CONFIDENCE) / 2, np.maximum(1, clusters - 1)) * error
    too_few = (count < least_outputs) | (clusters < INTERVAL_DOCUMENTS)
    return too_few | np.where(np.isfinite(low), low > 0, r > 0)


def _standardised(values: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Standardise values within their group; 0 where they do not vary."""
    count = np.maximum(1, np.bincount(group, minlength=groups))
    centred = values - (np.bincount(group, values, minlength=groups) / count)[group]
    spread = np.sqrt(np.bincount(group, centred**2, minlength=groups) / count)[group]
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)


def _smallest(duels: _Duels, q: float) -> float | None:
    """Find the smallest epsilon by bisection: the larger epsilon, the easier it is to pass."""
    grid = [percent / 100 for percent in range(101)]
    place = bisect_left(
        grid, 1, key=lambda epsilon: _winning_rate(duels.p(epsilon), q) >= ALT_TEST_WINNING_RATE
    )
    return grid[place] if place < len(grid) else None


def _winning_rate(p_values: FloatArray, q: float) -> float:
    return float((benjamini_yekutieli(p_values) <= q).mean())


def _duels(
    ratings: Ratings,
    judge: FloatArray,
    documents: IntArray | None,
    least_outputs: int,
) -> _Duels:
    if documents is None:
        documents = np.arange(ratings.outputs)
    by_person, by_judge = _nearness(ratings, judge)
    compared = ~np.isnan(by_judge)
    judge_wins = (by_judge >= by_person - 1e-12)[compared].astype(float)
    person_wins = (by_person >= by_judge - 1e-12)[compared].astype(float)
    rater, document = ratings.rater[compared], documents[ratings.output[compared]]
    count = np.bincount(rater, minlength=ratings.raters)
    some = np.maximum(count, 1)
    mean = np.bincount(rater, person_wins - judge_wins, minlength=ratings.raters) / some
    error, freedom = _standard_errors(person_wins - judge_wins, rater, document, mean, count)
    annotators = np.flatnonzero(count >= max(1, least_outputs))
    return _Duels(
        annotators,
        mean[annotators],
        error[annotators],
        freedom[annotators],
        count[annotators],
        (np.bincount(rater, judge_wins, minlength=ratings.raters) / some)[annotators],
    )


def _standard_errors(
    differences: FloatArray, rater: IntArray, document: IntArray, mean: FloatArray, count: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return the standard error of each rater's mean over documents, and its degrees of freedom; 0
    where all values are equal."""
    of_rater, of_cluster = _clusters(rater, document)
    sums = np.bincount(of_cluster, differences - mean[rater], minlength=len(of_rater))
    clusters = np.bincount(of_rater, minlength=len(mean))
    squared = np.bincount(of_rater, sums**2, minlength=len(mean))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(clusters / (clusters - 1) * squared) / count
    varies = (clusters > 1) & (error > 1e-9)
    return np.where(varies, error, 0.0), np.maximum(1, clusters - 1)


def _clusters(rater: IntArray, document: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rater of each cluster (a rater's ratings of a document), and the cluster of each
    rating."""
    most = int(document.max(initial=0)) + 1
    cluster, of_cluster = np.unique(rater.astype(np.int64) * most + document, return_inverse=True)
    return cluster // most, of_cluster


def _nearness(ratings: Ratings, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for each rating, and for the judge's score of the same output, the negative root mean
    squared distance to the other ratings; shape (ratings,), NaN where one of them is missing."""
    return _between_people(ratings), _to_others(ratings, judge)


def _to_others(ratings: Ratings, judge: FloatArray) -> FloatArray:
    """Return for each rating the negative root mean squared distance of the judge's score of the
    output to the output's other ratings; shape (ratings,), NaN where one of them is missing."""
    agreement = np.full(len(ratings), np.nan)
    for block in ratings.blocks:
        if block.size < 2:
            continue
        for part in block.parts():
            given = ratings.value[part.members]
            of_judge = (given - judge[part.groups][:, None]) ** 2
            agreement[part.members] = -np.sqrt(_sums_of_others(of_judge) / (block.size - 1))
    return agreement


def _sums_of_others(rows: FloatArray) -> FloatArray:
    """Return for each value of a row the sum of the others, as the sum before it plus the sum after
    it: subtracting it from the total would leave rounding errors where the others are 0."""
    columns = np.ascontiguousarray(rows.T)
    sums = np.zeros_like(columns)
    np.cumsum(columns[:-1], axis=0, out=sums[1:])
    sums[:-1] += np.cumsum(columns[:0:-1], axis=0)[::-1]
    return sums.T


@lru_cache(maxsize=1)
def _between_people(ratings: Ratings) -> FloatArray:
    """Return for each rating the negative root mean squared distance to the output's other ratings,
    which does not depend on the judge; shape (ratings,), NaN where there are none."""
    agreement = np.full(len(ratings), np.nan)
    for block in ratings.blocks:
        if block.size < 2:
            continue
        for part in block.parts():
            given = ratings.value[part.members]
            apart = (given[:, :, None] - given[:, None, :]) ** 2
            agreement[part.members] = -np.sqrt(apart.sum(axis=2) / (block.size - 1))
    return agreement
