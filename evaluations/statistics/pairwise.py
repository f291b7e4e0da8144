"""Agreement on pairs of outputs, including ties.

Deutsch, Foster and Freitag (2023), "Ties Matter": pairwise accuracy counts a tie as right where
people tie too, and tie calibration finds the difference below which a judge's scores count as tied.
Soft pairwise accuracy at system level after Thompson et al. (2024).
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.correlation import complete_pairs
from evaluations.statistics.pairing import DIGITS, FloatArray
from evaluations.statistics.results import Estimate


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


def tie_calibrated_accuracy(human: FloatArray, judge: FloatArray) -> TieCalibration:
    """Mean pairwise accuracy over documents, with the threshold for ties that makes it largest.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
    """
    human, judge = complete_pairs(human, judge)
    first, second = np.triu_indices(human.shape[1], k=1)
    of_human, of_judge = (side[:, first] - side[:, second] for side in (human, judge))
    counted = ~np.isnan(of_human)
    pairs = counted.sum(axis=1)
    documents = int((pairs > 0).sum())
    if not documents:
        nothing = Estimate.undefined("no document has two outputs with both a rating and a score")
        return TieCalibration(nothing, nothing, None)
    order, judged = np.sign(np.round(of_human[counted], DIGITS)), of_judge[counted]
    gap, agree, tied = np.abs(judged), order == np.sign(judged), order == 0
    weight = np.repeat(1 / np.maximum(pairs, 1) / documents, pairs)
    sort = np.argsort(gap, kind="stable")
    gap, agree, tied, weight = gap[sort], agree[sort], tied[sort], weight[sort]
    # With a threshold at the k-th smallest gap, the first k pairs are ties and the others keep
    # their order.
    as_ties = np.concatenate([[0.0], np.cumsum(weight * tied)])
    as_order = np.concatenate([[0.0], np.cumsum((weight * agree)[::-1])])[::-1]
    last_of_gap = np.flatnonzero(np.append(gap[1:] != gap[:-1], True)) + 1
    zeros = int((gap == 0).sum())
    candidates = np.unique(np.concatenate([[zeros], last_of_gap[last_of_gap >= zeros]]))
    accuracy = as_ties[candidates] + as_order[candidates]
    best = int(np.argmax(np.round(accuracy, 12)))
    epsilon = float(gap[candidates[best] - 1]) if candidates[best] else 0.0
    return TieCalibration(Estimate(float(accuracy[0])), Estimate(float(accuracy[best])), epsilon)


def soft_pairwise_accuracy(
    human: FloatArray,
    judge: FloatArray,
    *,
    rng: np.random.Generator | None = None,
    permutations: int = 1000,
) -> Estimate:
    """Agreement of judge and people on which system is better, by their certainty (Thompson et al.,
    2024).

    Args:
        human, judge: shape (documents, systems) without gaps.
        rng: for random sign flips; None, or few documents, takes all of them.
    """
    documents, systems = human.shape
    if systems < 2:
        return Estimate.undefined("fewer than two systems")
    if rng is None or 2**documents <= permutations:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=documents)))
    else:
        signs = rng.choice((1.0, -1.0), (permutations, documents))
    a, b = np.triu_indices(systems, k=1)
    p_human, p_judge = (_one_sided_p(side[:, a] - side[:, b], signs) for side in (human, judge))
    return Estimate(float((1 - np.abs(p_human - p_judge)).mean()))


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
