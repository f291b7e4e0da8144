"""Find annotators who agree with others no better than chance, or who give the same answers as
another.

Which question this answers: does an annotator click at random, or copy? Do not use it as a measure
of quality: an annotator with their own opinion also agrees above chance.

*No better than chance.* An annotator's answers are compared with the mean of the others' on the
same items; the sum of products of both, each centred on its question, is compared with that after
permuting the annotator's answers over items (all questions of an item together), which is what an
annotator who does not read would produce. Whoever is not above chance at the level of 2 % is one of
two: random, or honest on too few items, or on items that nearly all get the same answer. So honest
annotators are redrawn: each keeps their own frequencies of answers and their own items, and orders
the items by a normal variable that correlates with the items' quality by their care. How care is
distributed is estimated from all annotators (the mixture of degrees of care, with none among them,
that makes their agreement most likely). An annotator is named only where 95 % of honest ones would
be above chance in their place. Then at most 5 % of honest annotators are named, whatever the scale.

*A copy.* Two annotators gave the same answers to nearly all shared items, and more often than other
pairs do by a binomial test at 5 % over all pairs.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from geval.statistics.arrays import sums
from geval.statistics.thresholds import (
    CHANCE_AGREE,
    CHANCE_ERROR,
    CHANCE_ITEMS,
    CHANCE_LEVEL,
    COPY_ITEMS,
    COPY_SHARE,
)
from geval.statistics.types import FloatArray, IntArray

# With the observed order these are 1,000, so p has steps of 0.001 and is never 0.
PERMUTATIONS = 999
# Noise of an annotator's answers as a multiple of the spread of the items' quality, and the care
# that it leaves: the correlation of both. The first is no care at all.
_NOISE = np.geomspace(0.2, 3, 9)
CARE = np.append(0.0, 1 / np.sqrt(1 + _NOISE**2))
# What campaigns may be: how honest annotators' noise is distributed (normal on its logarithm), and
# the share of annotators without care.
_MIDDLES, _SPREADS = np.meshgrid(np.log(_NOISE), (0.2, 0.35, 0.5))
_HONEST = stats.norm.pdf(np.log(_NOISE), _MIDDLES.reshape(-1, 1), _SPREADS.reshape(-1, 1))
_HONEST /= _HONEST.sum(axis=1, keepdims=True)
_CARELESS = np.linspace(0, 0.7, 15)
# Redrawn campaigns; fewer where a campaign is large, as it has more annotators or items.
REDRAWN, MOST_REDRAWN_ANSWERS = 60, 150_000
FEW_ITEMS = "not enough items to say"
FEW_AGREE = "too few agree to tell who is careless"


@dataclass(frozen=True)
class AgainstChance:
    """An annotator compared with chance. `items` have answers of others; `agreement` is the
    correlation with their mean, None where it is undefined; `usual` is the median of those who
    agree above chance; `p` the probability of as much agreement by blind answers; `against_care`
    how many times as likely this agreement is without care as with that of the others; `reason`
    says why nothing can be said."""

    items: int
    agreement: float | None
    usual: float | None
    p: float | None
    is_chance: bool
    against_care: float = 1.0
    reason: str = ""


def against_chance(answers: FloatArray, rng: np.random.Generator) -> list[AgainstChance]:
    """Compare each annotator with chance.

    Args:
        answers: shape (annotators, items, questions), NaN for missing.
    """
    crowd = _Crowd.of(answers)
    counted, typical = np.ones(len(answers), dtype=bool), 0.7
    # Who shows no care leaves the others' mean, as long as some are left.
    for _ in range(3):
        others = crowd.others(crowd.values, counted)
        observed, drawn = (
            crowd.agreement(crowd.values, others),
            crowd.redrawn(counted, typical, rng),
        )
        likely = _likelihood(observed, drawn)
        share = _care(likely)
        honest = share[1:] / max(share[1:].sum(), 1e-9)
        typical = float(np.sqrt(typical * (honest @ CARE[1:])))
        has_care = likely[:, 0] * share[0] <= likely[:, 1:] @ share[1:]
        if has_care.sum() > 1:
            counted = has_care
    others = crowd.others(crowd.values, counted)
    sides = crowd.standard(crowd.values, others)
    tests = [crowd.test(rater, others, sides, rng) for rater in range(len(answers))]
    reached = [test.agreement for test in tests if test.is_above and test.agreement is not None]
    usual = float(np.median(reached)) if reached else None
    agree = [test.is_above for test in tests if test.items >= CHANCE_ITEMS]
    compared = []
    for rater, test in enumerate(tests):
        power = float(honest @ (drawn[1:, :, rater] > test.needed).mean(axis=1))
        against = likely[rater, 0] / (honest @ likely[rater, 1:])
        reason = _reason(test, power, float(np.mean(agree or [False])))
        is_chance = not reason and not test.is_above
        compared.append(
            AgainstChance(
                test.items, test.agreement, usual, test.p, is_chance, float(against), reason
            )
        )
    return compared


@dataclass(frozen=True)
class _Test:
    """`needed` is the agreement of the luckiest blind annotators."""

    items: int
    agreement: float | None = None
    p: float | None = None
    needed: float = np.inf

    @property
    def is_above(self) -> bool:
        return self.p is not None and self.p <= CHANCE_LEVEL


def _reason(test: _Test, power: float, agree: float) -> str:
    """Return why nothing can be said of an annotator; empty where something can.

    Args:
        power: the probability that an honest annotator in this place would be above chance.
        agree: the share of annotators of enough items who are above chance.
    """
    if test.is_above:
        return ""
    if test.items >= CHANCE_ITEMS and agree < CHANCE_AGREE:
        return FEW_AGREE
    return FEW_ITEMS if test.items < CHANCE_ITEMS or power < 1 - CHANCE_ERROR else ""


@dataclass(frozen=True, eq=False)
class _Crowd:
    """The answers of a campaign: `rater`, `item` of shape (answers,), `values` (answers,
    questions), NaN for missing; `mix` draws questions that correlate as answers do."""

    raters: int
    items: int
    rater: IntArray
    item: IntArray
    values: FloatArray
    mix: FloatArray

    @classmethod
    def of(cls, answers: FloatArray) -> "_Crowd":
        rater, item = np.nonzero((~np.isnan(answers)).any(axis=2))
        values = answers[rater, item]
        standard = _standard_by(values, rater, len(answers))
        products = standard.T @ standard
        sizes = np.sqrt(np.maximum(products.diagonal(), 1e-9))
        weight, axes = np.linalg.eigh(products / sizes / sizes[:, None])
        mix = axes * np.sqrt(np.maximum(weight, 0))
        mix /= np.maximum(np.linalg.norm(mix, axis=1, keepdims=True), 1e-9)
        return cls(len(answers), answers.shape[1], rater, item, values, mix)

    def others(self, values: FloatArray, counted: np.ndarray) -> FloatArray:
        """Return the mean of the counted others' values; NaN where there are none."""
        given = ~np.isnan(values) & counted[self.rater][:, None]
        filled = np.where(given, values, 0.0)
        count, total = (
            np.column_stack([sums(self.item, of, self.items)[self.item] - of for of in side.T])
            for side in (given.astype(float), filled)
        )
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def standard(self, own: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both sides standardised by rater and question over what they share."""
        shared = ~np.isnan(own) & ~np.isnan(others)
        sides = (np.where(shared, side, np.nan) for side in (own, others))
        first, second = (_standard_by(side, self.rater, self.raters) for side in sides)
        return first, second

    def agreement(self, own: FloatArray, others: FloatArray) -> FloatArray:
        """Return each rater's correlation with the others; shape (raters,), NaN if undefined."""
        a, b = self.standard(own, others)
        products = (a * b, a * a, b * b)
        ab, aa, bb = (sums(self.rater, of.sum(axis=1), self.raters) for of in products)
        return np.where(aa * bb > 0, ab / np.sqrt(np.maximum(aa * bb, 1e-12)), np.nan)

    def redrawn(self, counted: np.ndarray, typical: float, rng: np.random.Generator) -> FloatArray:
        """Return the agreement of honest annotators in each place, of each degree of care, with
        others of the typical care; shape (degrees, draws, raters), NaN where it is undefined."""
        times = int(np.clip(MOST_REDRAWN_ANSWERS // max(self.values.size, 1), 8, REDRAWN))
        ordered = np.column_stack(
            [column[np.lexsort((column, self.rater))] for column in self.values.T]
        )
        drawn = np.full((len(CARE), times, self.raters), np.nan)
        for draw in range(times):
            quality = (rng.normal(size=(self.items, len(self.mix))) @ self.mix.T)[self.item]
            others = self.others(self._answered(quality, typical, ordered, rng), counted)
            for degree, care in enumerate(CARE):
                own = self._answered(quality, care, ordered, rng)
                drawn[degree, draw] = self.agreement(own, others)
        return drawn

    def _answered(
        self, quality: FloatArray, care: float, ordered: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Give each rater's own answers to their items again, in the order of what they see.

        Args:
            ordered: the answers by rater and value, missing ones last.
        """
        seen = care * quality + np.sqrt(1 - care**2) * rng.normal(size=quality.shape) @ self.mix.T
        # Raters are further apart than what they see; missing answers come last.
        seen += 1000.0 * self.rater[:, None] + np.where(np.isnan(self.values), 500.0, 0.0)
        values = np.empty(seen.shape)
        np.put_along_axis(values, np.argsort(seen, axis=0), ordered, axis=0)
        return values

    def test(
        self,
        rater: int,
        others: FloatArray,
        sides: tuple[FloatArray, FloatArray],
        rng: np.random.Generator,
    ) -> _Test:
        """Compare a rater's agreement with that of their answers in random orders.

        Args:
            sides: answers and the others' means, as from `standard`.
        """
        given = (~np.isnan(self.values) & ~np.isnan(others)).any(axis=1)
        rows = np.flatnonzero((self.rater == rater) & given)
        if len(rows) < 2:
            return _Test(len(rows))
        own, mean = (side[rows] for side in sides)
        size = float(np.linalg.norm(own) * np.linalg.norm(mean))
        product = float((own * mean).sum())
        orders = rng.permuted(np.tile(np.arange(len(rows)), (PERMUTATIONS, 1)), axis=1)
        # By pairs of items, so that no array of permutations, items and questions is made.
        blind = (own @ mean.T)[orders, np.arange(len(rows))].sum(axis=1)
        # The observed order is one of the permutations; differences from rounding do not count.
        p = float((1 + (blind >= product - 1e-9).sum()) / (1 + PERMUTATIONS))
        if not size:
            return _Test(len(rows), None, p)
        needed = float(np.quantile(blind, 1 - CHANCE_LEVEL, method="higher")) / size
        return _Test(len(rows), product / size, p, needed + 1e-9)


def _care(likely: FloatArray) -> FloatArray:
    """Return the share of each degree of care: the mean over what campaigns may be, each as likely
    as it makes what is observed.

    Args:
        likely: shape (raters, degrees).
    """
    honest = likely[:, 1:] @ _HONEST.T
    logs = [np.log(none * likely[:, :1] + (1 - none) * honest).sum(axis=0) for none in _CARELESS]
    weight = np.exp(logs - np.max(logs))
    weight /= weight.sum()
    none = float(_CARELESS @ weight.sum(axis=1))
    return np.append(none, (1 - none) * weight.sum(axis=0) @ _HONEST)


def _likelihood(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return how likely an agreement is by degree of care, shape (raters, degrees); 1 where it is
    undefined."""
    undefined = np.isnan(observed) | np.isnan(drawn).all(axis=1).any(axis=0)
    filled = np.where(undefined, 0.0, drawn)
    mean, spread = np.nanmean(filled, axis=1), np.nanstd(filled, axis=1)
    likely = stats.norm.pdf(observed, mean, np.maximum(spread, 0.02)).T
    return np.where(undefined[:, None], 1.0, likely + 1e-9)


def _standard_by(values: FloatArray, rater: IntArray, raters: int) -> FloatArray:
    """Standardise each question's values by rater; 0 where they are missing or all equal."""
    given = ~np.isnan(values)
    scaled = np.where(given, values, 0.0)
    for question, column in enumerate(scaled.T):
        is_given = given[:, question]
        count = np.maximum(sums(rater, is_given.astype(float), raters), 1)
        centred = np.where(is_given, column - (sums(rater, column, raters) / count)[rater], 0.0)
        deviation = np.sqrt(sums(rater, centred**2, raters) / count)[rater]
        scaled[:, question] = np.where(deviation > 1e-9, centred / np.maximum(deviation, 1e-9), 0)
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
