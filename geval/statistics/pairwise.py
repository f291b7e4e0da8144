"""Agreement on pairs of outputs, including ties.

Deutsch, Foster and Freitag (2023), "Ties Matter": pairwise accuracy counts a tie as correct where
people tie too, and tie calibration finds the difference below which a judge's scores count as tied.
Soft pairwise accuracy at system level after Thompson et al. (2024).

Outputs that were drawn with different probabilities count by their weights, as in coefficients of
documents: a pair by the product of both, as a share of the products in its document, and a document
by its own weight. If whole documents were drawn, only the latter matters.
"""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cachetools import LRUCache

from geval.statistics.arrays import Block, Outputs, complete
from geval.statistics.cache import once
from geval.statistics.resampling import MOST_GROUPS, in_groups
from geval.statistics.types import DIGITS, Estimate, FloatArray, IntArray

# All pairs are in memory together, several arrays of them: so many take some 700 MB.
MOST_PAIRS = 10_000_000
# Of systems; each pair is flipped a thousand times, so many pairs at once.
MOST_SYSTEM_PAIRS, PAIRS_AT_ONCE = 100_000, 10_000


@dataclass(frozen=True)
class TieCalibration:
    """Pairwise accuracy before and after tie calibration, and the calibrated threshold."""

    accuracy: Estimate
    calibrated: Estimate
    epsilon: float | None


def tie_calibrated_accuracy(
    outputs: Outputs, human: FloatArray, judge: FloatArray
) -> TieCalibration:
    """Return the mean pairwise accuracy over documents, with the threshold for ties that maximises
    it.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    blocks = [block for block in outputs.blocks if block.size > 1]
    if not blocks:
        nothing = Estimate.undefined("no document has two outputs with both a rating and a score")
        return TieCalibration(nothing, nothing, None)
    pairs = sum(len(block.groups) * block.size**2 / 2 for block in blocks)  # approximately
    if pairs > MOST_PAIRS:
        many = Estimate.undefined(f"more than {MOST_PAIRS:,} pairs of outputs")
        return TieCalibration(many, many, None)
    shares = shares_of_pairs(outputs, blocks)
    levels, code = np.unique(judge, return_inverse=True)
    if len(levels) ** 2 <= pairs:
        gap, kept, change = _by_scores(blocks, human, levels, code, shares)
    else:
        gap, kept, change = _by_pair(blocks, human, judge, shares)
    sort = np.argsort(gap)
    gap = gap[sort]
    # With a threshold at the k-th smallest gap, the first k pairs are ties and the others keep
    # their order.
    by_ties = float(kept.sum()) + np.append(0.0, np.cumsum(change[sort]))
    last_of_gap = np.flatnonzero(np.append(gap[1:] != gap[:-1], True)) + 1
    zeros = int(np.searchsorted(gap, 0.0, side="right"))
    candidates = np.concatenate([[zeros], last_of_gap[last_of_gap > zeros]])
    accuracy = by_ties[candidates]
    best = int(np.argmax(np.round(accuracy, 12)))
    epsilon = float(gap[candidates[best] - 1]) if candidates[best] else 0.0
    return TieCalibration(Estimate(float(accuracy[0])), Estimate(float(accuracy[best])), epsilon)


def shares_of_pairs(outputs: Outputs, blocks: Sequence[Block]) -> list[float | FloatArray]:
    """Return each pair's share in the mean over documents, by block: one number, or shape (pairs *
    documents,) in the order of `_pairs_of`.

    Args:
        blocks: blocks of the documents that count, with at least two outputs.
    """
    of_document, within = outputs.document_weight, outputs.weight_in_documents
    if of_document is None:
        documents = float(sum(len(block.groups) for block in blocks))
    else:
        documents = float(sum(of_document[block.groups].sum() for block in blocks))
    shares: list[float | FloatArray] = []
    for block in blocks:
        pairs = block.size * (block.size - 1) / 2
        if of_document is None and within is None:
            shares.append(1 / documents / pairs)
            continue
        weights = np.ones(len(block.groups)) if of_document is None else of_document[block.groups]
        products = (
            np.ones((int(pairs), len(weights)))
            if within is None
            else np.multiply(*_pairs_of(block, within))
        )
        shares.append((products / products.sum(axis=0) * weights / documents).ravel())
    return shares


def _pairs_of(block: Block, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the first and of the second output of each pair within a document; shape
    (pairs, documents) each."""
    columns = np.ascontiguousarray(values[block.members].T)
    first, second = np.triu_indices(block.size, k=1)
    return columns[first], columns[second]


def _human_order(block: Block, human: FloatArray) -> np.ndarray:
    """Return people's order of each pair: -1, 0 or 1."""
    return _signs(np.round(np.subtract(*_pairs_of(block, human)), DIGITS)).ravel()


def _by_pair(
    blocks: list[Block],
    human: FloatArray,
    judge: FloatArray,
    shares: Sequence[float | FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return for each pair the difference of the judge's scores, its contribution to accuracy if
    not tied, and the change from counting it as a tie."""
    gaps, kept, change = [], [], []
    for block, share in zip(blocks, shares, strict=True):
        gap = np.subtract(*_pairs_of(block, judge)).ravel()
        order = _human_order(block, human)
        agree = order == _signs(gap)
        gaps.append(np.abs(gap))
        kept.append(share * agree)
        change.append(share * ((order == 0).view(np.int8) - agree.view(np.int8)))
    return np.concatenate(gaps), np.concatenate(kept), np.concatenate(change)


def _by_scores(
    blocks: list[Block],
    human: FloatArray,
    levels: FloatArray,
    code: IntArray,
    shares: Sequence[float | FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Do the same for groups of pairs with the same two scores, for judges with few different
    scores.

    Args:
        levels: the distinct scores, ascending.
        code: shape (outputs,), the index of each output's score.
    """
    shape = (len(levels), len(levels))
    kept, tied = np.zeros((2, *shape))
    # The judge's order of two scores, in the codes of people's orders.
    signs = np.sign(np.subtract.outer(np.arange(len(levels)), np.arange(len(levels)))) + 1
    for block, share in zip(blocks, shares, strict=True):
        first, second = _pairs_of(block, code)
        cell = (first * len(levels) + second).ravel()
        order = _human_order(block, human) + 1
        each, weight = (None, share) if isinstance(share, float) else (share, 1.0)
        counts = np.bincount(cell * 3 + order, each, 3 * kept.size).reshape(*shape, 3)
        kept += weight * np.take_along_axis(counts, signs[:, :, None], axis=2).squeeze(2)
        tied += weight * counts[:, :, 1]
    gap = np.abs(np.subtract.outer(levels, levels))
    return gap.ravel(), kept.ravel(), (tied - kept).ravel()


def soft_pairwise_accuracy(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    *,
    rng: np.random.Generator | None = None,
    permutations: int = 1000,
) -> Estimate:
    """Return the agreement of judge and people on which system is better, by their certainty
    (Thompson et al., 2024), on the documents that have a rating and a score for every system and
    count by their weights.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        rng: for random sign flips; None, or few documents, enumerates all of them.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    systems = outputs.systems
    if systems < 2:
        return Estimate.undefined("fewer than two systems")
    if systems * (systems - 1) > 2 * MOST_SYSTEM_PAIRS:
        return Estimate.undefined(f"more than {MOST_SYSTEM_PAIRS:,} pairs of systems")
    kept = whole_documents(outputs)
    if kept is None:
        return Estimate.undefined("no document has a rating and a score for every system")
    members, weight = kept
    documents = min(len(members), MOST_GROUPS)
    signs = (
        np.array(list(itertools.product((1, -1), repeat=documents)), dtype=np.int8)
        if rng is None or 2**documents <= permutations
        else _drawn_signs(rng, permutations, documents)
    )
    p_human, p_judge = (_certainty(side[members], signs, weight) for side in (human, judge))
    return Estimate(float((1 - np.abs(p_human - p_judge)).mean()))


def whole_documents(outputs: Outputs) -> tuple[IntArray, FloatArray | None] | None:
    """Return the outputs of documents with one output of every system, shape (documents, systems),
    and the weights of these documents, shape (documents,); None without any."""
    for block in outputs.blocks:
        if block.size == outputs.systems:
            columns = np.argsort(outputs.system[block.members], axis=1)
            weight = outputs.document_weight
            return (
                np.take_along_axis(block.members, columns, axis=1),
                None if weight is None else weight[block.groups],
            )
    return None


# The last drawn signs, and the generator's state after them: all judges of a report share them.
_last_signs: LRUCache[tuple[str, int, int], tuple[np.ndarray, Any]] = LRUCache(2)
_signs_lock = threading.Lock()


def _drawn_signs(rng: np.random.Generator, permutations: int, documents: int) -> np.ndarray:
    """`rng.choice((1, -1), (permutations, documents))`, drawn once for each state of `rng`."""
    key = (repr(rng.bit_generator.state), permutations, documents)
    with _signs_lock:
        if key not in _last_signs:
            signs = rng.choice((1, -1), (permutations, documents)).astype(np.int8)
            _last_signs[key] = (signs, rng.bit_generator.state)
        signs, rng.bit_generator.state = _last_signs[key]
    return signs


@once
def _certainty(
    values: FloatArray, signs: np.ndarray, weight: FloatArray | None = None
) -> FloatArray:
    """Return for each pair of systems the one-sided p of which is better; shape (pairs,).

    Args:
        values: shape (documents, systems).
        weight: shape (documents,), the sampling weights; None where all are equal.
        signs: shape (assignments, documents or groups of them).
    """
    first, second = np.triu_indices(values.shape[1], k=1)
    differences = values[:, first] - values[:, second]
    if weight is not None:
        differences = differences * (weight / weight.mean())[:, None]
    return _one_sided_p(_summed(differences, signs.shape[1]), signs.astype(float))


def _summed(differences: FloatArray, groups: int) -> FloatArray:
    """Sums over groups of documents, which are flipped together where there are many; shape
    (groups, pairs)."""
    return np.stack([in_groups(column, groups) for column in differences.T], axis=1)


def _one_sided_p(differences: FloatArray, signs: FloatArray) -> FloatArray:
    """Return how often a random assignment of the two systems gives at least the observed
    difference; shape (pairs,).

    Args:
        differences: shape (documents, pairs).
        signs: shape (assignments, documents).
    """
    differences = np.round(differences, DIGITS)
    # A little less, instead of rounding the sum of every assignment.
    least = differences.sum(axis=0) - 1e-9
    parts = [slice(start, start + PAIRS_AT_ONCE) for start in range(0, len(least), PAIRS_AT_ONCE)]
    return np.concatenate(
        [(signs @ differences[:, part] >= least[part]).mean(axis=0) for part in parts]
    )


def _signs(values: np.ndarray) -> np.ndarray:
    """-1, 0 or 1 of each value."""
    return (values > 0).view(np.int8) - (values < 0).view(np.int8)
