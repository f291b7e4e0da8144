"""Agreement on pairs of outputs, including ties.

Deutsch, Foster and Freitag (2023), "Ties Matter": pairwise accuracy counts a tie as right where
people tie too, and tie calibration finds the difference below which a judge's scores count as tied.
Soft pairwise accuracy at system level after Thompson et al. (2024).
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.layout import Outputs, complete
from evaluations.statistics.pairing import DIGITS, FloatArray
from evaluations.statistics.resampling import MOST_GROUPS, in_groups
from evaluations.statistics.results import Estimate

MOST_PAIRS = 50_000_000


@dataclass(frozen=True)
class PairCounts:
    """Numbers of pairs by the order that people and the judge give them."""

    concordant: int
    discordant: int
    tied_human_only: int
    tied_judge_only: int
    tied_both: int

    @property
    def pairs(self) -> int:
        return (
            self.concordant
            + self.discordant
            + self.tied_human_only
            + self.tied_judge_only
            + self.tied_both
        )

    @property
    def accuracy(self) -> float | None:
        """Share of pairs on which both agree, ties included (acc_eq)."""
        return (self.concordant + self.tied_both) / self.pairs if self.pairs else None

    @property
    def gamma(self) -> float | None:
        """Goodman and Kruskal's gamma: leaves ties out, which favours a judge with many ties."""
        ordered = self.concordant + self.discordant
        return (self.concordant - self.discordant) / ordered if ordered else None


@dataclass(frozen=True)
class TieCalibration:
    """Pairwise accuracy before and after tie calibration, and the threshold that does it."""

    accuracy: Estimate
    calibrated: Estimate
    epsilon: float | None


def count_pairs(human: FloatArray, judge: FloatArray, *, epsilon: float = 0.0) -> PairCounts:
    """Count the pairs of two complete vectors; differences of the judge up to `epsilon` are
    ties."""
    first, second = np.triu_indices(len(human), k=1)
    of_human = np.sign(np.round(human[first] - human[second], DIGITS))
    gap = judge[first] - judge[second]
    of_judge = np.where(np.abs(gap) <= epsilon, 0, np.sign(gap))
    return PairCounts(
        concordant=int((of_human * of_judge > 0).sum()),
        discordant=int((of_human * of_judge < 0).sum()),
        tied_human_only=int(((of_human == 0) & (of_judge != 0)).sum()),
        tied_judge_only=int(((of_human != 0) & (of_judge == 0)).sum()),
        tied_both=int(((of_human == 0) & (of_judge == 0)).sum()),
    )


def tau_c(human: FloatArray, judge: FloatArray) -> Estimate:
    """Stuart's tau-c (1953) of two complete vectors, as scipy has it."""
    if len(human) < 2 or np.ptp(human) == 0 or np.ptp(judge) == 0:
        return Estimate.undefined(
            "fewer than two outputs, or all have the same score or the same rating"
        )
    return Estimate(float(stats.kendalltau(human, judge, variant="c").statistic))


def tie_calibrated_accuracy(
    outputs: Outputs, human: FloatArray, judge: FloatArray
) -> TieCalibration:
    """Mean pairwise accuracy over documents, with the threshold for ties that makes it largest.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    blocks = [block for block in outputs.blocks if block.size > 1]
    documents = sum(len(block.groups) for block in blocks)
    if not documents:
        nothing = Estimate.undefined("no document has two outputs with both a rating and a score")
        return TieCalibration(nothing, nothing, None)
    if sum(len(block.groups) * block.size**2 / 2 for block in blocks) > MOST_PAIRS:
        many = Estimate.undefined(f"more than {MOST_PAIRS:,} pairs of outputs")
        return TieCalibration(many, many, None)
    orders, gaps, weights = [], [], []
    for block in blocks:
        first, second = (block.members[:, side] for side in np.triu_indices(block.size, k=1))
        orders.append(np.sign(np.round(human[first] - human[second], DIGITS)).ravel())
        gaps.append((judge[first] - judge[second]).ravel())
        weights.append(np.full(first.size, 1 / first.shape[1] / documents))
    order, judged, weight = (np.concatenate(side) for side in (orders, gaps, weights))
    gap, agree, tied = np.abs(judged), order == np.sign(judged), order == 0
    sort = np.argsort(gap, kind="stable")
    gap, agree, tied, weight = gap[sort], agree[sort], tied[sort], weight[sort]
    # With a threshold at the k-th smallest gap, the first k pairs are ties and the others keep
    # their order.
    as_ties = np.concatenate([[0.0], np.cumsum(weight * tied)])
    as_order = np.concatenate([[0.0], np.cumsum((weight * agree)[::-1])])[::-1]
    last_of_gap = np.flatnonzero(np.append(gap[1:] != gap[:-1], True)) + 1
    zeros = int((gap == 0).sum())
    candidates = np.concatenate([[zeros], last_of_gap[last_of_gap > zeros]])
    accuracy = as_ties[candidates] + as_order[candidates]
    best = int(np.argmax(np.round(accuracy, 12)))
    epsilon = float(gap[candidates[best] - 1]) if candidates[best] else 0.0
    return TieCalibration(Estimate(float(accuracy[0])), Estimate(float(accuracy[best])), epsilon)


def soft_pairwise_accuracy(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    *,
    rng: np.random.Generator | None = None,
    permutations: int = 1000,
) -> Estimate:
    """Agreement of judge and people on which system is better, by their certainty (Thompson et al.,
    2024), on the documents that have a rating and a score for every system.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        rng: for random sign flips; None, or few documents, takes all of them.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    systems = outputs.systems
    whole = [block.members for block in outputs.blocks if block.size == systems]
    if systems < 2:
        return Estimate.undefined("fewer than two systems")
    if not whole:
        return Estimate.undefined("no document has a rating and a score for every system")
    columns = np.argsort(outputs.system[whole[0]], axis=1)
    members = np.take_along_axis(whole[0], columns, axis=1)
    documents = min(len(members), MOST_GROUPS)
    if rng is None or 2**documents <= permutations:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=documents)))
    else:
        signs = rng.choice((1.0, -1.0), (permutations, documents))
    a, b = np.triu_indices(systems, k=1)
    p_human, p_judge = (
        _one_sided_p(_summed(side[members[:, a]] - side[members[:, b]], documents), signs)
        for side in (human, judge)
    )
    return Estimate(float((1 - np.abs(p_human - p_judge)).mean()))


def _summed(differences: FloatArray, groups: int) -> FloatArray:
    """Sums over groups of documents, which are flipped together where there are many; shape
    (groups, pairs)."""
    if len(differences) <= groups:
        return differences
    return np.stack([in_groups(column, groups) for column in differences.T], axis=1)


def _one_sided_p(differences: FloatArray, signs: FloatArray) -> FloatArray:
    """How often a random assignment of the two systems gives at least the observed difference;
    shape (pairs,).

    Args:
        differences: shape (documents, pairs).
        signs: shape (assignments, documents).
    """
    differences = np.round(differences, DIGITS)
    flipped = np.round(signs @ differences, DIGITS)
    return np.asarray((flipped >= np.round(differences.sum(axis=0), DIGITS) - 1e-9).mean(axis=0))
