"""The gaps between a judge's scores and people's mean ratings, and what large ones have in common:
a system, a rater, a word of the source, a length.

Outputs of a document are correlated: a single difficult document can fill the list of large gaps.
So a group that varies within documents (a system) is compared within them, and one that does not (a
word of the source) is compared over documents, each counted once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from geval.statistics.arrays import Outputs, Ratings, mean_of
from geval.statistics.jackknife import LeftOut, interval_of_mean
from geval.statistics.resampling import Interval
from geval.statistics.significance import holm
from geval.statistics.thresholds import (
    GAP_DOCUMENTS,
    GAP_LARGE,
    GAP_MEMBERS,
    GAP_MOST_LARGE,
    GAP_MOST_SHARE,
    GAP_MOST_TIED,
    GAP_OUTPUTS,
    GAP_SHARE,
    SIGNIFICANCE,
)
from geval.statistics.types import DIGITS, FloatArray, IntArray

# The mean gap of a smaller bin would be noisy.
BINS = 4


@dataclass(frozen=True, eq=False)
class Group:
    """Outputs that may have more than their share of the large gaps, such as those of a system.

    `members` is a mask of shape (outputs,), as is `known` where membership is not known for all.
    """

    kind: str
    name: str
    members: np.ndarray
    is_known: np.ndarray | None = None


@dataclass(frozen=True)
class Cluster:
    """A group and the large gaps:

    `inside` of `large` gaps are in it, and `members` of `total` outputs are. Where `over` is
    "documents", `inside` of the `large` documents with at least one large gap are in it, and
    `members` of all `total` documents are. `adjusted` is Holm's p over all tests for the same list.
    For kind "length", `inside` and `members` are the median words of the outputs with large gaps
    and of the rest.
    """

    kind: str
    name: str
    inside: float
    large: int
    members: float
    total: int
    p: float
    adjusted: float = 1.0
    over: str = "outputs"


def largest(values: FloatArray) -> np.ndarray:
    """Return which values count as large: about the largest 30, or the largest tenth, ties
    together.

    Nothing is large in fewer than GAP_OUTPUTS values, or where ties would make it more than a
    quarter or GAP_MOST_TIED, or fewer than GAP_LARGE.

    Args:
        values: shape (outputs,), not negative, complete.
    """
    rounded = np.round(values, DIGITS)
    none = np.zeros(len(values), dtype=bool)
    if len(values) < GAP_OUTPUTS:
        return none
    distinct, counts = np.unique(rounded, return_counts=True)
    reached = np.cumsum(counts[::-1])
    usable = (reached >= GAP_LARGE) & (reached <= min(GAP_MOST_TIED, GAP_MOST_SHARE * len(values)))
    if not usable.any():
        return none
    sought = max(GAP_LARGE, min(GAP_MOST_LARGE, int(GAP_SHARE * len(values))))
    best = int(np.argmin(np.where(usable, np.abs(reached - sought), np.inf)))
    return np.asarray(rounded >= distinct[::-1][best])


def stratified_test(stratum: IntArray, member: np.ndarray, hit: np.ndarray) -> float | None:
    """Return the probability that at least as many hits fall on members by chance, within strata;
    None where that number is certain in every stratum.

    The one-sided exact test: in each stratum the number is hypergeometric (with one stratum this is
    Fisher's exact test), and strata are independent.

    Args:
        stratum, member, hit: shape (units,); strata are numbered from 0.
    """
    sizes, members, hits = (
        np.bincount(stratum, weights).astype(int)
        for weights in (None, member.astype(float), hit.astype(float))
    )
    if not ((members > 0) & (members < sizes) & (hits > 0) & (hits < sizes)).any():
        return None
    members_hit = int((member & hit).sum())
    chances = np.ones(1)
    for n, m, k in zip(sizes, members, hits, strict=True):
        chances = np.convolve(chances, _hypergeometric(n, m, k))
    return float(min(1.0, chances[members_hit:].sum()))


def _hypergeometric(size: int, members: int, hits: int) -> FloatArray:
    """Return the probabilities that 0, 1, … of the hits are members; shape (hits + 1,)."""
    x = np.arange(hits + 1)
    chances: FloatArray = np.exp(
        _log_choose(members, x)
        + _log_choose(size - members, hits - x)
        - _log_choose(size, np.array(hits))
    )
    return chances


def _log_choose(n: int, k: np.ndarray) -> FloatArray:
    """Return the logarithm of the binomial coefficient, minus infinity where it is 0."""
    log_choose: FloatArray = (
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    )
    return log_choose


def group_test(outputs: Outputs, group: Group, large: np.ndarray) -> Cluster | None:
    """Return whether a group has more than its share of the large gaps; None where it cannot be
    tested.

    Args:
        outputs: the outputs with a gap.
        large: a mask of shape (outputs,).
    """
    members = group.members
    if group.is_known is not None:
        outputs, members, large = (
            outputs.part(group.is_known),
            members[group.is_known],
            large[group.is_known],
        )
    document = outputs.document
    members_inside, size = (
        outputs.by_document(values) for values in (members.astype(float), np.ones(len(outputs)))
    )
    varies = (members_inside > 0) & (members_inside < size)
    if varies[document].mean() >= 0.5:
        p = stratified_test(document, members, large)
        if p is None or members.sum() < GAP_MEMBERS:
            return None
        inside, of = int((members & large).sum()), int(members.sum())
        return Cluster(group.kind, group.name, inside, int(large.sum()), of, len(outputs), p)
    has_outputs = size > 0
    belongs = (2 * members_inside >= size)[has_outputs]
    hit = (outputs.by_document(large.astype(float)) > 0)[has_outputs]
    # Documents with more outputs are more likely to have a large gap.
    _, stratum = np.unique(size[has_outputs], return_inverse=True)
    if has_outputs.sum() < GAP_DOCUMENTS or belongs.sum() < GAP_MEMBERS:
        return None
    p = stratified_test(stratum, belongs, hit)
    if p is None:
        return None
    return Cluster(
        group.kind, group.name, int((belongs & hit).sum()), int(hit.sum()), int(belongs.sum()),
        int(has_outputs.sum()), p, over="documents",
    )  # fmt: skip


def length_test(outputs: Outputs, words: FloatArray, large: np.ndarray) -> Cluster | None:
    """Return whether outputs with large gaps are longer or shorter than the rest (Mann-Whitney, two
    sides).

    Where most documents have several outputs, lengths are taken relative to the mean of their
    document, so that a single difficult document with long outputs is not evidence.
    """
    count = outputs.by_document()
    relative = words
    if (count[outputs.document] > 1).mean() >= 0.5:
        relative = words - mean_of(outputs.by_document(words), count)[outputs.document]
    if not large.any() or large.all() or np.ptp(relative) == 0:
        return None
    from scipy import stats  # noqa: PLC0415 (takes most of a second)

    p = float(stats.mannwhitneyu(relative[large], relative[~large], method="asymptotic").pvalue)
    middle, rest = float(np.median(words[large])), float(np.median(words[~large]))
    return Cluster("length", "", middle, int(large.sum()), rest, len(outputs), p)


def find_clusters(
    outputs: Outputs, large: np.ndarray, groups: Sequence[Group], words: FloatArray
) -> tuple[Cluster, ...]:
    """Find what the large gaps have in common, the least likely by chance first.

    In at most 5 % of lists without any pattern something is reported: p-values are adjusted by
    Holm's method over all groups and the length.

    Args:
        outputs: the outputs with a gap.
        large: a mask of shape (outputs,), from `largest`.
        words: shape (outputs,), the length of each.
    """
    if len(outputs) < GAP_OUTPUTS or large.sum() < GAP_LARGE:
        return ()
    tested = [group_test(outputs, group, large) for group in groups]
    clusters = [
        cluster for cluster in (*tested, length_test(outputs, words, large)) if cluster is not None
    ]
    if not clusters:
        return ()
    adjusted = holm([cluster.p for cluster in clusters])
    clusters_found = [
        replace(cluster, adjusted=p)
        for cluster, p in zip(clusters, adjusted, strict=True)
        if p <= SIGNIFICANCE
    ]
    return tuple(sorted(clusters_found, key=lambda cluster: cluster.p))


@dataclass(frozen=True)
class MeanGap:
    """The mean over outputs with its interval over documents. A judge whose mean gap is below 0 is
    strict."""

    mean: float
    interval: Interval
    outputs: int

    @property
    def is_clear(self) -> bool:
        """Whether the whole interval is on one side of 0."""
        return self.interval.leaves_out_zero


@dataclass(frozen=True)
class LengthBin:
    """Outputs of similar length, from `shortest` to `longest` words, and their gap."""

    shortest: int
    longest: int
    gap: MeanGap


def mean_gap(outputs: Outputs, gaps: FloatArray) -> MeanGap:
    """Return the weighted mean of some outputs' gaps, with its jackknife interval over documents.

    Args:
        gaps: shape (outputs,), complete, one at least.
    """
    interval = interval_of_mean(outputs, gaps, LeftOut.of(outputs.documents, outputs.group))
    return MeanGap(outputs.mean(gaps), interval, len(gaps))


def gaps_by_length(
    outputs: Outputs, gaps: FloatArray, words: FloatArray, *, bins: int = BINS
) -> tuple[LengthBin, ...]:
    """Return mean gaps of outputs of similar length, in bins with about equal numbers of rated
    outputs; equal lengths stay together.

    Args:
        gaps, words: shape (outputs,), complete.
    """
    if not len(words):
        return ()
    edges = np.unique(np.quantile(words, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, words, side="right") - 1, 0, max(0, len(edges) - 2))
    length_bins = []
    for index in np.unique(place):
        in_bin = place == index
        gap = mean_gap(outputs.part(in_bin), gaps[in_bin])
        length_bins.append(LengthBin(int(words[in_bin].min()), int(words[in_bin].max()), gap))
    return tuple(length_bins)


def spreads(ratings: Ratings) -> FloatArray:
    """Return the difference between each output's highest and lowest rating; 0 with fewer than two;
    shape (outputs,)."""
    high, low = (np.full(ratings.outputs, end) for end in (-np.inf, np.inf))
    np.maximum.at(high, ratings.output, ratings.value)
    np.minimum.at(low, ratings.output, ratings.value)
    return np.where(ratings.count > 1, high - low, 0.0)
