"""Find annotators who agree with others no better than chance, or who give the same answers as
another.

Which question this answers: does an annotator click at random, give every item the same answer, or
copy? Do not use it as a measure of quality: an annotator with their own opinion also agrees above
chance.

*No better than chance.* An annotator's answers are compared with the mean of the others' on the
same items; the sum of products of both, each centred on its question, is compared with that after
permuting the annotator's answers over items (all questions of an item together), which is what an
annotator who does not read would produce. Whoever is not above chance at the level of 3 % is one of
two: random (97 % of random annotators are not above it), or honest on too few items. So an
annotator is named only where an honest one, who agrees as much as the others do, would be above
chance with a probability of 95 %, given the permutations' standard error. Then at most 5 % of
honest annotators are named. Other annotators who are not above chance are left out of the means in
a second pass.

*A copy.* Two annotators gave the same answers to nearly all shared items, and more often than other
pairs do by a binomial test at 5 % over all pairs.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from geval.statistics.thresholds import (
    CHANCE_ERROR,
    CHANCE_ITEMS,
    CHANCE_LEVEL,
    COPY_ITEMS,
    COPY_SHARE,
)
from geval.statistics.types import FloatArray

# With the observed order these are 1,000, so p has steps of 0.001 and is never 0.
PERMUTATIONS = 999


@dataclass(frozen=True)
class AgainstChance:
    """An annotator compared with chance. `items` have answers of others; `agreement` is the
    correlation with their mean, None where it is undefined; `usual` is what the others reach; `p`
    the probability of as much agreement by blind answers."""

    items: int
    agreement: float | None
    usual: float | None
    p: float | None
    is_chance: bool


def against_chance(answers: FloatArray, rng: np.random.Generator) -> list[AgainstChance]:
    """Compare each annotator with chance.

    Args:
        answers: shape (annotators, items, questions), NaN for missing.
    """
    everybody = np.ones(len(answers), dtype=bool)
    tests = [_test(answers, rater, everybody, rng) for rater in range(len(answers))]
    is_above = np.array([test.is_above for test in tests])
    if is_above.any():
        tests = [_test(answers, rater, is_above, rng) for rater in range(len(answers))]
    reached = [test.agreement for test in tests if test.is_above and test.agreement is not None]
    errors = [test.error * np.sqrt(test.items) for test in tests if test.error]
    usual = float(np.median(reached)) if reached else None
    error = float(np.median(errors)) if errors else 1.0
    return [
        AgainstChance(test.items, test.agreement, usual, test.p, _is_chance(test, usual, error))
        for test in tests
    ]


@dataclass(frozen=True)
class _Test:
    """`error` is the standard error of a blind annotator's agreement, None if all answers are the
    same."""

    items: int
    agreement: float | None = None
    p: float | None = None
    error: float | None = None

    @property
    def is_above(self) -> bool:
        return self.p is not None and self.p <= CHANCE_LEVEL


def _is_chance(test: _Test, usual: float | None, error_of_one: float) -> bool:
    if test.p is None or test.is_above or usual is None or test.items < CHANCE_ITEMS:
        return False
    error = test.error or error_of_one / np.sqrt(test.items)
    return chance_of_passing(usual, error) >= 1 - CHANCE_ERROR


def chance_of_passing(usual: float, error: float) -> float:
    """Return the probability that an annotator with the usual agreement is above chance.

    Args:
        error: the standard error of a blind annotator's agreement.
    """
    needed = stats.norm.isf(CHANCE_LEVEL) * error
    # The higher a correlation, the less it varies.
    spread = error * max(1 - usual**2, 0.01)
    return float(stats.norm.cdf((usual - needed) / spread))


def _test(answers: FloatArray, rater: int, counted: np.ndarray, rng: np.random.Generator) -> _Test:
    others = counted.copy()
    others[rater] = False
    given = ~np.isnan(answers[others])
    count = given.sum(axis=0)
    total = np.where(given, answers[others], 0.0).sum(axis=0)
    shared = (count > 0) & ~np.isnan(answers[rater])
    items = np.flatnonzero(shared.any(axis=1))
    if len(items) < 2:
        return _Test(len(items))
    own = _standard(np.where(shared, answers[rater], np.nan)[items])
    mean = _standard(np.where(shared, total / np.maximum(count, 1), np.nan)[items])
    size = float(np.sqrt((own**2).sum() * (mean**2).sum()))
    product = float((own * mean).sum())
    orders = rng.permuted(np.tile(np.arange(len(items)), (PERMUTATIONS, 1)), axis=1)
    # By pairs of items, so that no array of permutations, items and questions is made.
    blind = (own @ mean.T)[orders, np.arange(len(items))].sum(axis=1)
    # The observed order counts as one of the permutations; differences from rounding do not count.
    p = float((1 + (blind >= product - 1e-9).sum()) / (1 + PERMUTATIONS))
    if not size:
        return _Test(len(items), None, p)
    return _Test(len(items), product / size, p, float(blind.std()) / size or None)


def _standard(values: FloatArray) -> FloatArray:
    """Standardise each question's values; 0 where they are missing or all equal."""
    is_given = ~np.isnan(values)
    count = np.maximum(is_given.sum(axis=0), 1)
    filled = np.where(is_given, values, 0.0)
    centred = np.where(is_given, filled - filled.sum(axis=0) / count, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=0) / count)
    scaled: FloatArray = np.where(deviation > 1e-9, centred / np.maximum(deviation, 1e-9), 0.0)
    return scaled


@dataclass(frozen=True)
class Copy:
    """Two annotators who gave the same answers to `same` of their `items` in common."""

    first: int
    second: int
    same: int
    items: int


def copies(answers: FloatArray) -> list[Copy]:
    """Return pairs of annotators of whom one seems to copy the other.

    Args:
        answers: as for `against_chance`.
    """
    pairs = [
        _shared(answers, first, second)
        for first, second in itertools.combinations(range(len(answers)), 2)
    ]
    pairs = [pair for pair in pairs if pair.items]
    return [pair for pair in pairs if _is_copy(pair, pairs)]


def _is_copy(pair: Copy, pairs: Sequence[Copy]) -> bool:
    if pair.items < COPY_ITEMS or pair.same < COPY_SHARE * pair.items:
        return False
    others = [other for other in pairs if other is not pair]
    same, items = (sum(getattr(other, name) for other in others) for name in ("same", "items"))
    usual = (same + 1) / (items + 2)
    tail = stats.binom.sf(pair.same - 1, pair.items, usual)
    return bool(others) and float(tail) * len(pairs) < CHANCE_ERROR


def _shared(answers: FloatArray, first: int, second: int) -> Copy:
    in_common = ~np.isnan(answers[first]) & ~np.isnan(answers[second])
    is_shared = in_common.any(axis=1)
    is_same = ((answers[first] == answers[second]) | ~in_common)[is_shared].all(axis=1)
    return Copy(first, second, int(is_same.sum()), int(is_shared.sum()))
