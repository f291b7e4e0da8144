"""Prediction-powered inference: a mean human rating from few ratings and many scores.

Angelopoulos et al. (2023), "Prediction-powered inference"; Angelopoulos, Duchi and Zrnic (2023), "PPI++", whose
lambda weighs the judge by how much it helps. Valid if the rated outputs are a random subset.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.pairing import FloatArray


@dataclass(frozen=True)
class PpiMean:
    """A mean with its interval. `effective_ratings` says how many ratings alone would give this standard error."""

    weight: float
    estimate: float
    standard_error: float
    low: float
    high: float
    effective_ratings: float


def ppi_mean(
    human: FloatArray,
    judge_rated: FloatArray,
    judge_others: FloatArray,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
) -> PpiMean:
    """The mean human rating over all outputs.

    Args:
        human: shape (n,), ratings of the outputs that were rated.
        judge_rated: shape (n,), the judge's scores of the same outputs.
        judge_others: shape (N,), its scores of outputs nobody rated.
        weight: lambda; 0 ignores the judge, 1 is plain PPI, None finds the best (PPI++).

    Raises:
        ValueError: nothing was rated, or the arrays do not fit.
    """
    n, others = len(human), len(judge_others)
    if not n or n != len(judge_rated):
        raise ValueError("ratings and the judge's scores of the same outputs are needed")
    if not others:
        weight = 0.0
    if weight is None:
        variance = np.concatenate([judge_rated, judge_others]).var(ddof=1)
        covariance = ((human - human.mean()) * (judge_rated - judge_rated.mean())).mean()
        weight = float(covariance / ((1 + n / others) * variance)) if variance > 0 else 0.0
    estimate = human.mean() - weight * judge_rated.mean()
    squared = (human - weight * judge_rated).var() / n
    if weight:
        estimate += weight * judge_others.mean()
        squared += weight**2 * judge_others.var() / others
    error = float(np.sqrt(squared))
    half = stats.norm.ppf((1 + confidence) / 2) * error
    effective = float(human.var() / squared) if squared > 0 else float(n)
    return PpiMean(float(weight), float(estimate), error, float(estimate - half), float(estimate + half), effective)


def neyman_allocation(unrated: FloatArray, deviations: FloatArray, budget: int) -> tuple[FloatArray, np.ndarray]:
    """How to spread the next ratings over systems so that the pooled mean has the least variance (Neyman, 1934).

    Args:
        unrated: shape (systems,), how many outputs of each are not rated yet.
        deviations: shape (systems,), standard deviation of human minus lambda times judge.
        budget: ratings to give out.

    Returns:
        The continuous optimum, and whole numbers by giving each next rating where it helps most.
    """
    sizes = unrated * deviations
    continuous = budget * sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(unrated), budget / len(unrated))
    counts = np.ones(len(unrated), dtype=int) if budget >= len(unrated) else np.zeros(len(unrated), dtype=int)
    for _ in range(budget - int(counts.sum())):
        with np.errstate(divide="ignore"):
            gain = np.where(counts > 0, sizes**2 / (counts * (counts + 1.0)), np.inf)
        gain[counts >= unrated] = -np.inf
        counts[int(np.argmax(gain))] += 1
    return continuous, counts
