"""Test whether one of two judges has the higher soft pairwise or tie-calibrated accuracy.

Permutation tests under the hypothesis that the judges are exchangeable: for each ordering it is
drawn at random which of them gave a score, or an order of two outputs. Soft pairwise accuracy
(Thompson et al., 2024) swaps standardised scores (PERM-BOTH: Deutsch, Dror and Roth, 2021);
tie-calibrated accuracy (Deutsch, Foster and Freitag, 2023) swaps comparisons, each judge at its own
threshold for ties, which therefore need not be recomputed for each ordering. Both match
mt-metrics-eval (verified by tests), except that an ordering with exactly the observed difference
always counts here, while there it depends on rounding.

Documents with different sampling weights count by these, as in the accuracies: sums over documents
are weighted, in the observed data and in every ordering.

Use them to say which judge is better on the given systems and documents. For other documents use
the tests in significance.py, which are for correlations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geval.statistics.arrays import Block, Outputs, complete
from geval.statistics.pairwise import shares_of_pairs, tie_calibrated_accuracy, whole_documents
from geval.statistics.types import DIGITS, FloatArray

SIGNS, ORDERINGS = 1000, 1000
# Sums that differ by less are equal.
_SAME = 1e-9
# The most cells of the orderings-by-pairs table in memory at a time, one byte each.
_BLOCK = 2_000_000


@dataclass(frozen=True)
class AccuracyTest:
    """The accuracies of two judges, and tests of the second's minus the first's.

    `p_better` tests the hypothesis that the second is not better (one-sided: the share of orderings
    with at least the observed difference, as in mt-metrics-eval), `p` the hypothesis that they are
    equal (two-sided, counting the observed ordering, so never 0).
    """

    first: float | None
    second: float | None
    p_better: float | None
    p: float | None
    orderings: int = 0
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """The second judge's accuracy minus the first's."""
        return None if self.first is None or self.second is None else self.second - self.first


def soft_pairwise_test(
    outputs: Outputs,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    signs: FloatArray,
    swaps: np.ndarray,
) -> AccuracyTest:
    """Compare two judges by soft pairwise accuracy, on the documents that have a rating and both
    scores for every system.

    Args:
        human, first, second: shape (outputs,), NaN for missing.
        signs: 1 or -1, the random signs of documents for the p-value of two systems; shape (draws,
            documents that count).
        swaps: 1 where the judges are swapped; shape (orderings, documents that count, systems).
    """
    kept = _whole(outputs, human, first, second)
    if isinstance(kept, str):
        return AccuracyTest(None, None, None, None, reason=kept)
    people, left, right = (values.astype(float) for values in kept.sides)
    weight = kept.weight
    if not all(map(np.ptp, (left, right))):
        return AccuracyTest(None, None, None, None, reason="a judge gives every output the same")
    left, right = (_standardised(side, weight) for side in (left, right))
    sure = _certainty(people, signs, weight)

    def accuracy(judge: FloatArray) -> float:
        return float(1 - np.abs(sure - _certainty(judge, signs, weight)).mean())

    values = accuracy(left), accuracy(right)
    drawn = np.empty(len(swaps))
    for index, swap in enumerate(swaps):
        drawn[index] = accuracy(np.where(swap, left, right)) - accuracy(np.where(swap, right, left))
    return _test(values, drawn)


def documents_that_count(
    outputs: Outputs, human: FloatArray, first: FloatArray, second: FloatArray
) -> int:
    """Return how many documents have a rating and both scores for every system."""
    kept = _whole(outputs, human, first, second)
    return 0 if isinstance(kept, str) else len(kept.sides[0])


class _Whole(NamedTuple):
    """Values of people and both judges, shape (documents, systems) each, and the documents'
    weights, shape (documents, 1); None where all are equal."""

    sides: tuple[FloatArray, ...]
    weight: FloatArray | None


def _whole(
    outputs: Outputs, human: FloatArray, first: FloatArray, second: FloatArray
) -> _Whole | str:
    """Tables of documents by systems, or why there are none."""
    outputs, sides = complete(outputs, human, first, second)
    if outputs.systems < 2:
        return "fewer than two systems"
    whole = whole_documents(outputs)
    if whole is None:
        return "no document has a rating and both scores for every system"
    members, weight = whole
    weights = None if weight is None else (weight / weight.mean())[:, None]
    return _Whole(tuple(side[members] for side in sides), weights)


def _standardised(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Subtract the mean and divide by the standard deviation; shape (documents, systems)."""
    if weight is None:
        standard: FloatArray = (values - values.mean()) / values.std()
        return standard
    centred = values - (values * weight).mean()
    weighted: FloatArray = centred / np.sqrt((centred**2 * weight).mean())
    return weighted


def _certainty(
    values: FloatArray, signs: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """Return for each pair of systems the one-sided p of which is better; shape (pairs,).

    Args:
        values: shape (documents, systems).
        signs: shape (draws, documents).
        weight: shape (documents, 1).
    """
    if weight is not None:
        values = values * weight
    drawn, seen = signs @ values, values.sum(axis=0)
    first, second = np.triu_indices(values.shape[1], k=1)
    least = seen[first] - seen[second] - _SAME
    return np.asarray((drawn[:, first] - drawn[:, second] >= least).mean(axis=0))


def tie_calibrated_test(
    outputs: Outputs,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    swaps: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    orderings: int = ORDERINGS,
) -> AccuracyTest:
    """Compare two judges by pairwise accuracy with ties calibrated, on outputs with a rating and
    both scores.

    Args:
        human, first, second: shape (outputs,), NaN for missing.
        swaps: where the judges' comparisons stay (1) or are swapped (0); shape (orderings, pairs),
            pairs by document. By default they are drawn with `rng`.
    """
    outputs, (human, first, second) = complete(outputs, human, first, second)
    accuracies = [tie_calibrated_accuracy(outputs, human, side) for side in (first, second)]
    if accuracies[0].epsilon is None or accuracies[1].epsilon is None:
        return AccuracyTest(None, None, None, None, reason=accuracies[0].calibrated.reason)
    left: list[np.ndarray] = []
    right: list[np.ndarray] = []
    weight: list[FloatArray] = []
    of_documents = []
    for members in _by_document(outputs):
        a, b = np.triu_indices(len(members), k=1)
        people = np.sign(np.round(human[members[a]] - human[members[b]], DIGITS))
        for side, calibrated, agree in (
            (first, accuracies[0], left),
            (second, accuracies[1], right),
        ):
            gap = side[members[a]] - side[members[b]]
            order = np.where(np.abs(gap) <= (calibrated.epsilon or 0.0), 0, np.sign(gap))
            agree.append(order == people)
        document = outputs.document[members[:1]]
        (share,) = shares_of_pairs(outputs, [Block(document, members[None])])
        weight.append(np.broadcast_to(share, len(a)))
        if outputs.document_weight is not None:
            of_documents.append(float(outputs.document_weight[document[0]]))
            weight[-1] = weight[-1] * of_documents[-1]
    agrees, weights = (np.concatenate(left), np.concatenate(right)), np.concatenate(weight)
    weights = weights / (sum(of_documents) or len(weight))
    # Sums of weights differ from 1 by rounding.
    values = float(np.round(weights @ agrees[0], 12)), float(np.round(weights @ agrees[1], 12))
    gain = weights * (agrees[1].astype(float) - agrees[0])
    drawn = [
        (2.0 * block - 1) @ gain
        for block in _swapped(len(gain), swaps, rng or np.random.default_rng(0), orderings)
    ]
    return _test(values, np.concatenate(drawn))


def _by_document(outputs: Outputs) -> list[np.ndarray]:
    """Return the outputs of each document that has two or more, in the order of documents."""
    order = np.argsort(outputs.document, kind="stable")
    starts = np.flatnonzero(np.diff(outputs.document[order], prepend=-1))
    return [members for members in np.split(order, starts[1:]) if len(members) > 1]


def _swapped(
    pairs: int, swaps: np.ndarray | None, rng: np.random.Generator, orderings: int
) -> list[np.ndarray]:
    if swaps is not None:
        return [swaps]
    each = max(1, _BLOCK // max(1, pairs))
    counts = [min(each, orderings - begin) for begin in range(0, orderings, each)]
    return [rng.integers(0, 2, (count, pairs), dtype=np.int8) for count in counts]


def _test(values: tuple[float, float], drawn: FloatArray) -> AccuracyTest:
    observed = values[1] - values[0]
    above = int((drawn >= observed - _SAME).sum())
    far = int((np.abs(drawn) >= abs(observed) - _SAME).sum())
    n = len(drawn)
    return AccuracyTest(*values, above / n, (far + 1) / (n + 1), n)
