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
# What campaigns may be: how much honest annotators' noise differs (on its logarithm, around each
# degree), and the share of annotators without care.
_HONEST = np.array(
    [
        np.exp(-((np.log(_NOISE / middle) / spread) ** 2) / 2)
        for middle in _NOISE
        for spread in (0.2, 0.35, 0.5)
    ]
)
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
    agree above chance; `p` the probability of as much agreement by blind answers, `power` that of
    an honest annotator in this place to be above chance. `against_care` is how many times as likely
    this agreement is without care as with that of the others. `reason` says why nothing can be
    said."""

    items: int
    agreement: float | None
    usual: float | None
    p: float | None
    is_chance: bool
    power: float = 0.0
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
        observed = crowd.agreement(crowd.values, crowd.others(crowd.values, counted))
        drawn = crowd.redrawn(counted, typical, rng)
        care, share = _care(observed, drawn)
        with_care = max(1 - share[0], 1e-9)
        typical = float(np.sqrt(typical * (share[1:] @ CARE[1:]) / with_care))
        if (care[:, 0] <= 0.5).sum() > 1:
            counted = care[:, 0] <= 0.5
    tests = [_test(answers, rater, counted, rng) for rater in range(len(answers))]
    honest = share[1:] / with_care
    reached = [test.agreement for test in tests if test.is_above and test.agreement is not None]
    usual = float(np.median(reached)) if reached else None
    enough = [test.is_above for test in tests if test.items >= CHANCE_ITEMS]
    agree = float(np.mean(enough)) if enough else 0.0
    compared = []
    for rater, test in enumerate(tests):
        of_rater = drawn[:, :, rater]
        power = float(honest @ (of_rater[1:] > test.needed).mean(axis=1))
        likely = _likelihood(observed[rater : rater + 1], of_rater[:, :, None])[0]
        against = float(likely[0] / max(honest @ likely[1:], 1e-12)) if test.items > 1 else 1.0
        reason = _reason(test, power, agree)
        compared.append(
            AgainstChance(
                test.items, test.agreement, usual, test.p,
                not reason and not test.is_above, power, against, reason,
            )
        )  # fmt: skip
    return compared


@dataclass(frozen=True)
class _Test:
    """`needed` is the agreement of the luckiest blind annotators, above which one is above
    chance."""

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
        products = np.nan_to_num(standard).T @ np.nan_to_num(standard)
        sizes = np.sqrt(np.maximum(products.diagonal(), 1e-9))
        weight, axes = np.linalg.eigh(products / sizes / sizes[:, None])
        mix = axes * np.sqrt(np.maximum(weight, 0))
        mix /= np.maximum(np.sqrt((mix**2).sum(axis=1, keepdims=True)), 1e-9)
        return cls(len(answers), answers.shape[1], rater, item, values, mix)

    def others(self, values: FloatArray, counted: np.ndarray) -> FloatArray:
        """Return the mean of the counted others' values; NaN where there are none."""
        given = ~np.isnan(values) & counted[self.rater][:, None]
        weighted = np.where(given, values, 0.0)
        means = np.full(values.shape, np.nan)
        for question in range(values.shape[1]):
            own, is_given = weighted[:, question], given[:, question]
            count = sums(self.item, is_given.astype(float), self.items)[self.item] - is_given
            total = sums(self.item, own, self.items)[self.item] - own
            means[:, question] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return means

    def agreement(self, own: FloatArray, others: FloatArray) -> FloatArray:
        """Return each rater's correlation with the others; shape (raters,), NaN if undefined."""
        shared = ~np.isnan(own) & ~np.isnan(others)
        a, b = (
            _standard_by(np.where(shared, side, np.nan), self.rater, self.raters)
            for side in (own, others)
        )
        ab, aa, bb = (
            sums(self.rater, (one * other).sum(axis=1), self.raters)
            for one, other in ((a, b), (a, a), (b, b))
        )
        return np.where(aa * bb > 0, ab / np.sqrt(np.maximum(aa * bb, 1e-12)), np.nan)

    def redrawn(self, counted: np.ndarray, typical: float, rng: np.random.Generator) -> FloatArray:
        """Return the agreement of honest annotators in each place, of each degree of care, with
        others of the typical care; shape (degrees, draws, raters), NaN where it is undefined."""
        times = int(np.clip(MOST_REDRAWN_ANSWERS // max(self.values.size, 1), 8, REDRAWN))
        ranked = [self._sorted(question) for question in range(self.values.shape[1])]
        drawn = np.full((len(CARE), times, self.raters), np.nan)
        for draw in range(times):
            quality = (rng.normal(size=(self.items, len(self.mix))) @ self.mix.T)[self.item]

            def answer(care: float, quality: FloatArray = quality) -> FloatArray:
                noise = rng.normal(size=quality.shape) @ self.mix.T
                return self._answers(care * quality + np.sqrt(1 - care**2) * noise, ranked)

            others = self.others(answer(typical), counted)
            for degree, care in enumerate(CARE):
                drawn[degree, draw] = self.agreement(answer(care), others)
        return drawn

    def _sorted(self, question: int) -> tuple[IntArray, FloatArray]:
        rows = np.flatnonzero(~np.isnan(self.values[:, question]))
        order = np.lexsort((self.values[rows, question], self.rater[rows]))
        return rows, self.values[rows[order], question]

    def _answers(self, latent: FloatArray, ranked: list[tuple[IntArray, FloatArray]]) -> FloatArray:
        """Give each rater's own answers to their items, in the order of a latent variable."""
        values = np.full(latent.shape, np.nan)
        for question, (rows, ordered) in enumerate(ranked):
            order = np.lexsort((latent[rows, question], self.rater[rows]))
            values[rows[order], question] = ordered
        return values


def _care(observed: FloatArray, drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how likely each degree of care is by annotator, shape (raters, degrees), and its share
    among them: the mean over what campaigns may be, each as likely as it makes what is observed.

    Args:
        observed: shape (raters,), NaN where it is undefined.
        drawn: shape (degrees, draws, raters).
    """
    likely = _likelihood(observed, drawn)
    honest = likely[:, 1:] @ _HONEST.T
    logs = np.array(
        [np.log(none * likely[:, :1] + (1 - none) * honest).sum(axis=0) for none in _CARELESS]
    )
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    none = float(_CARELESS @ weight.sum(axis=1))
    share = np.append(none, (1 - none) * weight.sum(axis=0) @ _HONEST)
    care = likely * share
    return care / care.sum(axis=1, keepdims=True), share


def _likelihood(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return how likely an agreement is by degree of care, shape (raters, degrees); 1 where it is
    undefined."""
    defined = ~np.isnan(drawn)
    count = np.maximum(defined.sum(axis=1), 1)
    filled = np.where(defined, drawn, 0.0)
    mean = filled.sum(axis=1) / count
    spread = np.sqrt(np.where(defined, (drawn - mean[:, None]) ** 2, 0.0).sum(axis=1) / count)
    likely = stats.norm.pdf(observed, mean, np.maximum(spread, 0.02)).T
    unknown = np.isnan(observed) | (defined.sum(axis=1) == 0).any(axis=0)
    return np.where(unknown[:, None], 1.0, likely + 1e-9)


def _standard_by(values: FloatArray, rater: IntArray, raters: int) -> FloatArray:
    """Standardise each question's values by rater; 0 where they are missing or all equal."""
    scaled = np.zeros(values.shape)
    for question, column in enumerate(values.T):
        is_given = ~np.isnan(column)
        filled = np.where(is_given, column, 0.0)
        count = np.maximum(sums(rater, is_given.astype(float), raters), 1)
        centred = np.where(is_given, filled - (sums(rater, filled, raters) / count)[rater], 0.0)
        deviation = np.sqrt(sums(rater, centred**2, raters) / count)[rater]
        scaled[:, question] = np.where(deviation > 1e-9, centred / np.maximum(deviation, 1e-9), 0)
    return scaled


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
    same = np.zeros(len(items), dtype=np.int64)
    own = _standard_by(np.where(shared, answers[rater], np.nan)[items], same, 1)
    mean = _standard_by(np.where(shared, total / np.maximum(count, 1), np.nan)[items], same, 1)
    size = float(np.sqrt((own**2).sum() * (mean**2).sum()))
    product = float((own * mean).sum())
    orders = rng.permuted(np.tile(np.arange(len(items)), (PERMUTATIONS, 1)), axis=1)
    # By pairs of items, so that no array of permutations, items and questions is made.
    blind = (own @ mean.T)[orders, np.arange(len(items))].sum(axis=1)
    # The observed order counts as one of the permutations; differences from rounding do not count.
    p = float((1 + (blind >= product - 1e-9).sum()) / (1 + PERMUTATIONS))
    if not size:
        return _Test(len(items), None, p)
    needed = float(np.quantile(blind, 1 - CHANCE_LEVEL, method="higher")) / size
    return _Test(len(items), product / size, p, needed + 1e-9)


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
