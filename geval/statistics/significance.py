"""Test whether one judge agrees better with people than another on the same items.

Paired permutation tests over documents (Deutsch, Dror and Roth, 2021): the judges' scores are
swapped for random documents. Over systems, t tests with the jackknife's standard error. Judges are
compared on the same documents, ties counted (see `same_documents`). Corrections for many
comparisons.
"""

import itertools
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from geval.statistics.arrays import Outputs, complete
from geval.statistics.correlation import Coefficient, mean_of_documents
from geval.statistics.jackknife import interval_of_difference, over_systems
from geval.statistics.resampling import MOST_GROUPS, Over, in_groups
from geval.statistics.same_documents import NOTHING_RANKED, on_same_documents
from geval.statistics.types import FloatArray

# A p of 0.05 then has a standard error of 0.007.
PERMUTATIONS = 1000
# A p-value that is small among 1,000 orderings is recomputed with this many others: adjusted over
# the pairs of many judges on many criteria, 1 in 1,001 could not show any difference.
SMALL_P, MANY_PERMUTATIONS, MANY_SEED = 0.01, 10_000, 1
# 80 MB of floats: beyond 1,000 units there are fewer orderings.
MOST_MANY_CELLS = 10_000_000
# All swaps of twelve units take only four times as long as the random ones.
EXACT_UP_TO = 2**12
# Twelve names (`LETTERED_JUDGES`) need 81 letters at most.
LETTERS = string.ascii_letters + "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
# Leaving out systems needs tables of documents and systems; the most cells in memory at once.
MOST_CELLS = 2_000_000


Method = Literal["permutation", "jackknife"]


@dataclass(frozen=True)
class PairTest:
    """The observed difference (first judge minus second), its two-sided p-value, and its number of
    orderings; none for a t test with the jackknife's standard error.

    A p-value from random orderings counts the observed one, so it is never 0; an exact one
    enumerates all of them.
    """

    observed: float | None
    p: float | None
    orderings: int
    exact: bool
    reason: str = ""
    method: Method = "permutation"


def _untested(reason: str, method: Method = "permutation") -> PairTest:
    return PairTest(None, None, 0, False, reason, method)


NOT_COMPARED = _untested(NOTHING_RANKED)


def permutation_tests(
    differences: Sequence[FloatArray],
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
    weights: Sequence[FloatArray | None] | None = None,
) -> list[PairTest]:
    """Compare pairs of judges' summary-level correlations by swapping their scores in random
    documents, with the same orderings for all pairs.

    More than 2,000 documents are swapped in that many groups, which is also a permutation test.

    Args:
        differences: by pair, the first judge's coefficient minus the second's in each document;
            shape (documents,), NaN where a document does not count.
        weights: by pair the weights of documents, None where all count alike.
    """
    weights = weights or [None] * len(differences)
    observed = [
        mean_of_documents(difference, weight)
        for difference, weight in zip(differences, weights, strict=True)
    ]
    defined = [index for index, value in enumerate(observed) if not np.isnan(value)]
    tests = [NOT_COMPARED] * len(differences)
    if not defined:
        return tests
    bits = min(len(differences[0]), MOST_GROUPS)
    exact = 2**bits <= EXACT_UP_TO
    patterns = _all_patterns(bits) if exact else rng.random((permutations, bits)) < 0.5
    counts = _counts_as_large(differences, weights, observed, defined, patterns)
    for index, count in zip(defined, counts, strict=True):
        tests[index] = _test_of(observed[index], count, len(patterns), exact)
    closer = [index for index in defined if not exact and (tests[index].p or 0) <= SMALL_P]
    if closer:
        # Separate orderings, so that the second test is independent of the first.
        patterns = _many_patterns(bits)
        counts = _counts_as_large(differences, weights, observed, closer, patterns)
        for index, count in zip(closer, counts, strict=True):
            tests[index] = _test_of(observed[index], count, len(patterns), exact)
    return tests


def paired_bootstrap_p(first: FloatArray, second: FloatArray) -> float | None:
    """Return a one-sided p-value for the first judge agreeing better than the second: the share of
    resamples in which it does not (Efron and Tibshirani, 1993, chapter 16; Koehn, 2004).

    Use it for tables that mark improvements over a baseline, as in papers. To claim that judges
    differ, use `permutation_tests`, which tests that claim and is corrected over all pairs.

    Args:
        first, second: shape (resamples,), values on the same resamples; NaN where undefined.

    Returns:
        (1 + resamples without an advantage) / (1 + resamples), never 0; None where no resample has
        a value of both.
    """
    gains = first - second
    gains = gains[~np.isnan(gains)]
    if not len(gains):
        return None
    return float((1 + np.count_nonzero(gains <= 0)) / (1 + len(gains)))


def new_systems_test(
    outputs: Outputs,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    coefficient: Coefficient,
    over: Over,
) -> PairTest:
    """Test whether two judges' summary-level correlations would differ with other systems, or with
    other systems and documents: Student's t test of the difference, whose standard error is the
    jackknife's (see `jackknife`), from ten systems on.

    Swapping systems tests a different hypothesis: that the judges are the same on these systems. It
    finds judges different that only favour different systems (`make bench-coverage`).

    Args:
        human, first, second: shape (outputs,), NaN for missing; only outputs with all three count.
        over: "systems" or "both".
    """
    outputs, (human, *judges) = complete(outputs, human, first, second)
    if outputs.documents * outputs.systems > MOST_CELLS:
        many = f"over systems, at most {MOST_CELLS:,} cells are tested"
        return _untested(many, "jackknife")
    same = on_same_documents(outputs, human, judges[0], judges[1], coefficient)
    among_documents = interval_of_difference(same)
    if among_documents.low is None:
        return _untested(among_documents.reason, "jackknife")
    sides = (same.first, same.second)
    jackknifed = over_systems(outputs, human, judges, sides, coefficient, over)
    if isinstance(jackknifed, str):
        return _untested(jackknifed, "jackknife")
    return PairTest(jackknifed.estimate, jackknifed.p, 0, False, method="jackknife")


def _test_of(observed: float, count: int, orderings: int, exact: bool) -> PairTest:
    """
    Args:
        count: the number of orderings with a difference as large as the observed one.
    """
    p = count / orderings if exact else (count + 1) / (orderings + 1)
    return PairTest(observed, p, orderings, exact)


def _counts_as_large(
    differences: Sequence[FloatArray],
    weights: Sequence[FloatArray | None],
    observed: Sequence[float],
    chosen: Sequence[int],
    patterns: np.ndarray,
) -> list[int]:
    """Return for each chosen pair the number of orderings with a difference at least as large as
    the observed one."""
    swapped = _swapped_differences(
        [differences[index] for index in chosen], [weights[index] for index in chosen], patterns
    )
    return [_as_large(test, observed[index]) for test, index in zip(swapped, chosen, strict=True)]


def _as_large(differences: FloatArray, observed: float) -> int:
    """Count the differences that are at least as large as the observed one, in either direction."""
    return int((np.abs(differences) >= abs(observed) - 1e-12).sum())


@lru_cache(maxsize=2)
def _many_patterns(bits: int) -> FloatArray:
    """Draw which of `bits` units are swapped (0 or 1), the same for every test; shape (orderings,
    bits)."""
    orderings = min(MANY_PERMUTATIONS, MOST_MANY_CELLS // bits)
    return (np.random.default_rng(MANY_SEED).random((orderings, bits)) < 0.5).astype(float)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down adjusted p-values, in the order given."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return [float(value) for value in adjusted]


def benjamini_yekutieli(p_values: FloatArray | Sequence[float]) -> FloatArray:
    """Benjamini and Yekutieli's (2001) adjusted p-values, valid under any dependence."""
    values = np.asarray(p_values, dtype=float)
    rank = np.arange(1, len(values) + 1)
    order = np.argsort(values)
    stepped = values[order] * (len(values) * (1 / rank).sum()) / rank
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(stepped[::-1])[::-1]
    return np.clip(adjusted, 0.0, 1.0)


def letters(names: Sequence[str], differ: set[frozenset[str]]) -> dict[str, str]:
    """Assign letters such that two names share a letter if and only if they do not differ
    significantly (Piepho, 2004).

    Args:
        names: best first, so that the best carries "a".
        differ: pairs of names that differ.
    """
    cliques: list[set[str]] = []
    for size in range(len(names), 0, -1):
        for group in itertools.combinations(names, size):
            alike = not any(frozenset(pair) in differ for pair in itertools.combinations(group, 2))
            if alike and not any(set(group) <= clique for clique in cliques):
                cliques.append(set(group))
    cliques.sort(key=lambda clique: sorted(names.index(name) for name in clique))
    return {
        name: "".join(LETTERS[index] for index, clique in enumerate(cliques) if name in clique)
        for name in names
    }


def _swapped_differences(
    differences: Sequence[FloatArray],
    weights: Sequence[FloatArray | None],
    patterns: np.ndarray,
) -> FloatArray:
    """Return mean differences after swaps; swapping both judges in a document inverts the sign of
    its difference; shape (pairs, orderings)."""
    groups = patterns.shape[1]
    counted = [
        np.where(np.isnan(difference), 0.0, 1.0 if weight is None else weight)
        for difference, weight in zip(differences, weights, strict=True)
    ]
    apart = np.array(
        [
            in_groups(np.nan_to_num(difference) * count, groups)
            for difference, count in zip(differences, counted, strict=True)
        ]
    )
    moved = apart @ patterns.astype(float, copy=False).T
    total = np.array([count.sum() for count in counted])
    return np.asarray((apart.sum(axis=1, keepdims=True) - 2 * moved) / total[:, None])


def _all_patterns(bits: int) -> np.ndarray:
    return ((np.arange(2**bits)[:, None] >> np.arange(bits)) & 1).astype(bool)
