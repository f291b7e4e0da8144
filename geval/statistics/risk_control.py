"""Choose from which confidence on a judge's answers are kept, and prove their error on documents
that no choice has seen.

Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021): a grid of thresholds and their
order are fixed on training documents, the one most likely to be proven first, then those that keep
more. On the locked documents they are tested in this order until one fails, so that the last one
before it breaks its promise in at most `error` of projects, however many are tested.

A share of errors is tested by the exact binomial tail at its effective number of outputs (Korn and
Graubard, 1998): outputs of a document are alike by as much as the upper end of the intraclass
correlation's interval leaves open (Searle, 1971), so a document whose outputs share their errors
counts nearly as one output. A mean difference is tested by Student's t over documents. Each
threshold must also err less than answers that only know who wrote an output, at the same coverage.

Where the first judge is below a threshold, a second judge's answer may be kept from the same
threshold on. What is kept still grows as the threshold falls, and the second judge is asked less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from geval.statistics.arrays import Outputs, sums
from geval.statistics.distributions import f_ppf, normal_ppf, t_cdf, t_ppf
from geval.statistics.thresholds import (
    ALIKE_ERROR,
    CONFIDENCE,
    LOCKED_DOCUMENTS,
    POWER,
    PROOF_ERROR,
)
from geval.statistics.types import FloatArray, IntArray

# Coverages of the grid.
COVERAGES = tuple(round(0.05 * step, 2) for step in range(1, 21))
EVERYTHING = -math.inf
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Stakes:
    """What is lost where answers are kept; each array has shape (outputs,).

    `confidence` is NaN where there is no answer. `loss` is the judge's: 0 or 1 where `bound` is the
    promised share of errors, otherwise a difference whose mean is promised to be below 0; NaN where
    nobody rated, or nothing is at stake. `null` is the loss of answers that only know who wrote an
    output, and `null_confidence` how sure they are. `training` and `locked` are masks. `second` is
    the confidence of a second judge, and its loss: its answers are kept where the first judge's are
    not.
    """

    outputs: Outputs
    confidence: FloatArray
    loss: FloatArray
    null: FloatArray
    null_confidence: FloatArray
    training: np.ndarray
    locked: np.ndarray
    bound: float | None
    second: tuple[FloatArray, FloatArray] | None = None

    def at(self, threshold: float) -> "Stakes":
        """Return the same with the answers that are kept from a threshold on, as of one judge."""
        if self.second is None:
            return self
        confidence, loss = self.second
        is_first = self.confidence >= threshold
        return replace(
            self,
            confidence=np.where(is_first, self.confidence, confidence),
            loss=np.where(is_first, self.loss, loss),
            second=None,
        )

    @property
    def surest(self) -> FloatArray:
        """The larger confidence of both judges, NaN where neither has an answer."""
        return self.confidence if self.second is None else np.fmax(self.confidence, self.second[0])

    @cached_property
    def cluster(self) -> IntArray:
        """The document of each output, or its group."""
        return self.outputs.clustered.document

    @cached_property
    def weight(self) -> FloatArray:
        """The sampling weights of outputs."""
        weight = self.outputs.weight
        return np.ones(len(self.outputs)) if weight is None else weight

    @cached_property
    def alike(self) -> float:
        """How alike losses of a document are at most, over all outputs."""
        counts = ~np.isnan(self.loss) & (self.training | self.locked)
        return upper_intraclass(self.cluster[counts], self.loss[counts])


@dataclass(frozen=True)
class KeptError:
    """The error of kept answers: its mean over `outputs` of `documents`, their effective number,
    its interval, each end of which errs in `PROOF_ERROR` (None where nothing tells it), and the
    probability of as few errors where the promise is just broken."""

    value: float | None
    low: float | None
    high: float | None
    outputs: int
    documents: int
    effective: float
    p: float


@dataclass(frozen=True)
class Point:
    """A threshold: the share of outputs whose answers it keeps with its 95 % interval, the share
    that is the first judge's, their error, and that of answers that only know who wrote an output
    (None where nothing tells it), with the probability of so small an error if these err as little.
    `p` is the larger probability."""

    threshold: float
    coverage: float
    coverage_low: float
    coverage_high: float
    by_first: float
    error: KeptError
    null_error: float | None
    null_p: float

    @property
    def p(self) -> float:
        return max(self.error.p, self.null_p)


@dataclass(frozen=True)
class Controlled:
    """The curve on the locked documents, from the lowest coverage to the highest, the same on
    training documents, and the position of the proven threshold; None where none is.
    `is_null_as_good` says that the promise itself would be kept, but not beyond what is known from
    who wrote an output."""

    curve: tuple[Point, ...] = ()
    rehearsed: tuple[Point, ...] = ()
    proven: int | None = None
    is_null_as_good: bool = False


def control(stakes: Stakes, *, error: float) -> Controlled:
    """Return the threshold that keeps most and is proven.

    Args:
        error: the probability with which any promise is broken, at most.
    """
    sides = [stakes.confidence] if stakes.second is None else [stakes.confidence, stakes.second[0]]
    # Below the threshold that keeps everything, answers of the second judge become the first's.
    grid = thresholds_of(np.concatenate([side[stakes.training] for side in sides]))
    rehearsed, curve = (
        tuple(point_at(stakes, threshold, among) for threshold in grid)
        for among in (stakes.training, stakes.locked)
    )
    if not curve:
        return Controlled()
    proven = _last_proven([point.p for point in rehearsed], [point.p for point in curve], error)
    alone = _last_proven(
        [point.error.p for point in rehearsed], [point.error.p for point in curve], error
    )
    return Controlled(curve, rehearsed, proven, proven is None and alone is not None)


def _last_proven(rehearsed: Sequence[float], tested: Sequence[float], error: float) -> int | None:
    """Test in a fixed order: from the threshold with the smallest p in the rehearsal on, in the
    direction of more coverage; return the last before the first that fails."""
    best = min(rehearsed)
    start = max(position for position, p in enumerate(rehearsed) if p <= best)
    proven = None
    for position in range(start, len(tested)):
        if not tested[position] <= error:
            break
        proven = position
    return proven


def thresholds_of(confidence: FloatArray) -> list[float]:
    """Return thresholds that keep about each of `COVERAGES`, the strictest first; the last keeps
    every answer.

    Args:
        confidence: of training documents, NaN where there is no answer.
    """
    sure = confidence[~np.isnan(confidence)]
    if not len(sure):
        return []
    quantiles = np.quantile(sure, [1 - coverage for coverage in COVERAGES[:-1]], method="higher")
    above_all = np.unique(quantiles[quantiles > sure.min()])[::-1]
    return [*map(float, above_all), EVERYTHING]


def point_at(stakes: Stakes, threshold: float, among: np.ndarray) -> Point:
    """Return a threshold's coverage and error in some of the outputs.

    Args:
        among: a mask of shape (outputs,).
    """
    answered = among & ~np.isnan(stakes.surest)
    count = max(1, answered.sum())
    by_first = float((stakes.confidence[answered] >= threshold).sum() / count)
    stakes = stakes.at(threshold)
    kept = answered & (np.nan_to_num(stakes.confidence, nan=EVERYTHING) >= threshold)
    kept &= ~np.isnan(stakes.confidence)
    coverage, ends = float(kept.sum() / count), (1.0, 1.0)
    if threshold > EVERYTHING:
        cluster, taken = stakes.cluster[answered], kept[answered].astype(float)
        alike = upper_intraclass(cluster, taken)
        worth = effective_number(cluster, np.ones(len(taken)), alike)
        ends = share_ends(coverage, worth, (1 - CONFIDENCE) / 2)
    error, rated = _error_of(stakes, kept), answered & ~np.isnan(stakes.null)
    # Where only passes are at stake, as many are compared.
    null_share = _most_sure(stakes.null_confidence, rated, error.outputs)
    if error.value is None or not (stakes.weight * null_share).sum():
        return Point(threshold, coverage, *ends, by_first, error, None, 1.0)
    null_error = _mean(stakes, null_share, stakes.null)
    null_p = _null_p(stakes, kept, null_share, error, null_error)
    return Point(threshold, coverage, *ends, by_first, error, null_error, null_p)


def _most_sure(confidence: FloatArray, among: np.ndarray, count: float) -> FloatArray:
    """Return with which share each output is kept where so many of the surest are; outputs of equal
    confidence are kept in equal shares."""
    share, left = np.zeros(len(confidence)), count
    for value in np.unique(confidence[among])[::-1]:
        equal = among & (confidence == value)
        share[equal] = min(1.0, left / equal.sum())
        left -= min(left, equal.sum())
        if left <= 0:
            break
    return share


def _error_of(stakes: Stakes, kept: np.ndarray) -> KeptError:
    counts = kept & ~np.isnan(stakes.loss)
    cluster, loss, weight = stakes.cluster[counts], stakes.loss[counts], stakes.weight[counts]
    documents = int((np.bincount(cluster) > 0).sum())
    if not weight.sum():
        return KeptError(None, None, None, 0, 0, 0.0, 1.0)
    value = float((weight * loss).sum() / weight.sum())
    if stakes.bound is None:
        return _difference(stakes, counts, value, documents)
    alike = stakes.alike
    if 0 < loss.mean() < 1:
        alike = max(alike, upper_intraclass(cluster, loss))
    effective = effective_number(cluster, weight, alike)
    low, high = share_ends(value, effective, PROOF_ERROR)
    p = binomial_tail(value, effective, stakes.bound)
    return KeptError(value, low, high, len(loss), documents, effective, p)


def _difference(stakes: Stakes, counts: np.ndarray, value: float, documents: int) -> KeptError:
    """Return a mean difference with Student's t over documents."""
    spread = _standard_error(stakes, (_influence(stakes, counts.astype(float), stakes.loss),))
    if documents < LOCKED_DOCUMENTS or not spread:
        return KeptError(value, None, None, int(counts.sum()), documents, float(documents), 1.0)
    half = float(t_ppf(1 - PROOF_ERROR, documents - 1)) * spread
    p = float(t_cdf(value / spread, documents - 1))
    return KeptError(
        value, value - half, value + half, int(counts.sum()), documents, float(documents), p
    )


def _null_p(
    stakes: Stakes, kept: np.ndarray, share: FloatArray, error: KeptError, null_error: float
) -> float:
    """Return the probability of so small an error if answers that know who wrote an output err as
    much. Counts of errors are compared by their binomial (Przyborowski and Wilenski, 1940), and
    means by Student's t over documents."""
    assert error.value is not None
    if stakes.bound is None:
        own = _influence(stakes, (kept & ~np.isnan(stakes.loss)).astype(float), stakes.loss)
        other = _influence(stakes, share, stakes.null)
        spread = _standard_error(stakes, (own, -other))
        apart = error.value - null_error
        return float(t_cdf(apart / spread, max(1, error.documents - 1))) if spread else 1.0
    counts = share > 0
    alike = upper_intraclass(stakes.cluster[counts], stakes.null[counts])
    effective = effective_number(
        stakes.cluster[counts], (stakes.weight * share)[counts], max(alike, stakes.alike)
    )
    errors, others = error.value * error.effective, null_error * effective
    together = errors + others
    if not together:
        return 1.0
    return binomial_tail(
        errors / together, together, error.effective / (error.effective + effective)
    )


def _mean(stakes: Stakes, share: FloatArray, loss: FloatArray) -> float:
    weight = stakes.weight * share
    return float((weight * np.nan_to_num(loss)).sum() / weight.sum())


def _influence(stakes: Stakes, share: FloatArray, loss: FloatArray) -> FloatArray:
    """Return the influence of each output on a weighted mean loss; shape (outputs,)."""
    weight = stakes.weight * share
    total = weight.sum()
    if not total:
        return np.zeros(len(weight))
    return np.asarray(weight * (np.nan_to_num(loss) - _mean(stakes, share, loss)) / total)


def _standard_error(stakes: Stakes, parts: tuple[FloatArray, ...]) -> float:
    """Return the standard error over documents of a sum of means, from their influences."""
    influence = np.sum(parts, axis=0)
    by_document = sums(stakes.cluster, influence, int(stakes.cluster.max()) + 1)
    documents = len(np.unique(stakes.cluster[np.any(np.array(parts) != 0, axis=0)]))
    if documents < 2:
        return 0.0
    return math.sqrt(float((by_document**2).sum()) * documents / (documents - 1))


def upper_intraclass(cluster: IntArray, values: FloatArray) -> float:
    """Return the upper end of the interval of the intraclass correlation, by the F of a one-way
    analysis of variance (Searle, 1971); it errs in `ALIKE_ERROR`. 1 where values do not vary, which
    tells nothing.

    Args:
        cluster, values: shape (outputs,).
    """
    size, count = np.bincount(cluster), len(values)
    clusters = int((size > 0).sum())
    if clusters < 2 or count == clusters:
        return 1.0
    means = np.bincount(cluster, values) / np.maximum(size, 1)
    between = float((size * (means - values.mean()) ** 2).sum()) / (clusters - 1)
    within = float(((values - means[cluster]) ** 2).sum()) / (count - clusters)
    if within <= 1e-12:
        return 1.0
    usual = (count - float((size**2).sum()) / count) / (clusters - 1)
    ratio = between / within / float(f_ppf(ALIKE_ERROR, clusters - 1, count - clusters))
    return min(1.0, max(0.0, (ratio - 1) / (ratio - 1 + usual)))


def effective_number(cluster: IntArray, weight: FloatArray, alike: float) -> float:
    """Return how many independent outputs these are worth, as outputs of a cluster have an
    intraclass correlation of `alike` (Kish, 1965).

    Args:
        cluster, weight: shape (outputs,).
    """
    if not len(weight):
        return 0.0
    by_cluster = np.bincount(cluster, weight)
    spread = (1 - alike) * float((weight**2).sum()) + alike * float((by_cluster**2).sum())
    return float(weight.sum()) ** 2 / spread


def binomial_tail(share: float, count: float, bound: float) -> float:
    """Return the probability of at most this share of errors, where each is one with probability
    `bound`. Counts need not be whole: the tail is an incomplete beta function."""
    errors = share * count
    if errors >= count:
        return 1.0
    return float(special.betainc(count - errors, errors + 1, 1 - bound))


def share_ends(share: float, count: float, error: float) -> tuple[float, float]:
    """Return the ends of the exact interval of a share (Clopper and Pearson, 1934), each of which
    errs with at most this probability."""
    hits, misses = share * count, (1 - share) * count
    low = float(special.betaincinv(hits, misses + 1, error)) if hits > ROUNDING else 0.0
    high = float(special.betaincinv(hits + 1, misses, 1 - error)) if misses > ROUNDING else 1.0
    return low, high


def documents_to_prove(
    controlled: Controlled, bound: float | None, *, rated: tuple[int, int], error: float
) -> int | None:
    """Return about how many locked documents prove a promise in `POWER` of cases, at the threshold
    that takes fewest; None where each errs as much as is promised or more, or as answers that only
    know who wrote an output, both over all rated documents and on the locked ones.

    Args:
        rated: the training and the locked documents with ratings.
    """
    pairs = [
        points
        for points in zip(controlled.rehearsed, controlled.curve, strict=True)
        if points[1].error.effective
    ]
    best = min(
        (_documents_at(points, bound, rated, error) for points in pairs if points[1].p > error),
        default=math.inf,
    )
    if math.isinf(best) and any(_errs_less(points, bound) for points in pairs):
        best = 2 * rated[1]  # proven alone, but behind a threshold that failed: as many again
    return math.ceil(best) if math.isfinite(best) else None


def _errors_at(points: tuple[Point, Point]) -> tuple[float, float, float]:
    """Return the error over all rated documents and on the locked ones, and over all that of
    answers that only know who wrote an output."""
    counts = [point.error.effective for point in points]
    both, null = (
        float(np.average([side or 0.0 for side in sides], weights=counts))
        for sides in zip(*((point.error.value, point.null_error) for point in points), strict=True)
    )
    return both, points[1].error.value or 0.0, null


def _errs_less(points: tuple[Point, Point], bound: float | None) -> bool:
    both, own, null = _errors_at(points)
    return min(both, own) < min(bound or 0.0, null)


def _documents_at(
    points: tuple[Point, Point], bound: float | None, rated: tuple[int, int], error: float
) -> float:
    counts = [point.error.effective for point in points]
    both, own, null = _errors_at(points)
    # If all documents suffice, or err too much, the locked ones' own error is planned with.
    for value, count in ((both, sum(counts)), (own, counts[1])):
        if value >= null:
            continue
        if bound is None:
            needed = _to_prove_difference(points[1].error, value, error)
        else:
            # One error more, at the bound, so that few outputs without one promise nothing.
            least = min(bound, null)
            needed = _to_prove_share((value * count + 1) / (count + 1 / least), least, error)
        if counts[1] < needed < math.inf:
            return needed * sum(rated) / sum(counts)
    return math.inf


def _to_prove_difference(kept: KeptError, value: float, error: float) -> float:
    """Return how many documents prove that a mean difference is below 0 (Cohen, 1988)."""
    if value >= 0 or kept.low is None or kept.high is None:
        return math.inf
    spread = (kept.high - kept.low) / 2 / float(t_ppf(1 - PROOF_ERROR, kept.documents - 1))
    errors = float(normal_ppf(1 - error) + normal_ppf(POWER))
    return kept.documents * (errors * spread / value) ** 2


def _to_prove_share(share: float, bound: float, error: float) -> float:
    """Return how many outputs prove that a share of errors is below a bound (Fleiss, 1981)."""
    if share >= bound:
        return math.inf
    at_bound, at_share = (math.sqrt(each * (1 - each)) for each in (bound, share))
    errors = normal_ppf(1 - error) * at_bound + normal_ppf(POWER) * at_share
    return float((errors / (bound - share)) ** 2)
