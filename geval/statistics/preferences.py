"""Rank systems by comparisons of pairs: Davidson's model (without ties that of Bradley and Terry),
its uncertainty, and which pair to compare next."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.jackknife import TOO_FEW, LeftOut, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import INTERVAL_DOCUMENTS
from geval.statistics.types import FloatArray

# A step changes a strength by 1 at most; this ends a fit that does not converge.
STEPS = 1000
# Reports rank no more systems: each fit takes time by the third power of their number, and there is
# one without each group of documents.
MOST_RANKED = 200
# Newton's method stops at shorter steps.
PRECISION = 1e-10


@dataclass(frozen=True)
class Davidson:
    """Davidson's model (1970): Bradley and Terry's (1952) with ties. `strengths` sum to 0; `tie`
    grows with the frequency of ties: between equals the probability of a tie is tie / (2 + tie).

    Where a system won or lost all comparisons, ties apart, or where systems were never compared,
    even indirectly, there may be no finite strengths: then they are NaN, and `connected` is False.
    `covariance` is that of the strengths, as if comparisons were independent.
    """

    strengths: FloatArray
    tie: float
    covariance: FloatArray
    connected: bool


def next_pair_gains(fitted: Davidson) -> dict[tuple[int, int], float]:
    """Return how informative one more comparison of each pair would be, if there are no ties:
    p(1-p) times the variance of their difference."""
    theta, c = fitted.strengths, fitted.covariance
    next_pair_gains = {}
    for a, b in zip(*np.triu_indices(len(theta), k=1), strict=True):
        p = 1 / (1 + np.exp(theta[b] - theta[a]))
        next_pair_gains[int(a), int(b)] = float(p * (1 - p) * (c[a, a] + c[b, b] - 2 * c[a, b]))
    return next_pair_gains


def _has_strengths(wins: FloatArray, ties: FloatArray) -> bool:
    """Return whether the likelihood has a finite maximum: every system is reachable from every
    other along wins and ties (Ford, 1957), and with ties some winning system has lost, directly or
    indirectly, to a system that it beat. Otherwise the fit improves without limit as the
    differences and `tie` grow."""
    has_won = _reachable(wins)
    return bool(
        (_reachable(wins + ties) | np.eye(len(wins), dtype=bool)).all()
        and (has_won.diagonal().any() or not (wins.any() and ties.any()))
    )


def _reachable(edges: FloatArray) -> np.ndarray:
    """Return which systems can be reached from which along edges, in one or more steps."""
    reach = edges > 0
    for _ in range(len(edges).bit_length()):  # each step doubles the length of paths
        reach = reach | ((reach.astype(float) @ reach.astype(float)) > 0)
    return reach


def davidson_intervals(
    wins: FloatArray, ties: FloatArray, documents: LeftOut, counting: int
) -> tuple[Davidson, tuple[Interval, ...]]:
    """Fit all comparisons, with each strength's interval over documents.

    Several people compare the same outputs, and outputs of a system vary, so that comparisons of
    one document are not independent: documents are left out whole.

    Args:
        wins, ties: shape (groups, systems, systems), by the groups in which documents are left out.
        counting: how many documents have comparisons.
    """
    all_wins, all_ties = wins.sum(axis=0), ties.sum(axis=0)
    of_all = davidson(all_wins, all_ties)
    if counting < INTERVAL_DOCUMENTS:
        few = no_interval(TOO_FEW.format(INTERVAL_DOCUMENTS, documents.unit))
        return of_all, (few,) * len(of_all.strengths)
    without = np.array(
        [
            davidson(all_wins - won, all_ties - tied).strengths
            for won, tied in zip(wins, ties, strict=True)
        ]
    )
    return of_all, tuple(
        documents.interval(float(strength), left_out, counting=counting)
        for strength, left_out in zip(of_all.strengths, without.T, strict=True)
    )


def bradley_terry(wins: FloatArray) -> Davidson:
    """Fit Bradley and Terry's model by maximum likelihood; a tie is half a win for each.

    Args:
        wins: shape (systems, systems), how often the row was preferred to the column.
    """
    return davidson(wins, np.zeros_like(wins))


def davidson(wins: FloatArray, ties: FloatArray) -> Davidson:
    """Fit by maximum likelihood, in Newton's steps.

    Args:
        wins: shape (systems, systems), how often the row was preferred to the column.
        ties: shape (systems, systems), symmetric, how often the two tied.
    """
    size = len(wins)
    if size < 2 or not _has_strengths(wins, ties):
        unknown = np.full(size, np.nan)
        return Davidson(unknown, np.nan, np.full((size, size), np.nan), False)
    a, b = np.nonzero(np.triu(wins + wins.T + ties, k=1))
    won, lost, tied = wins[a, b], wins[b, a], ties[a, b]
    games, have_ties = won + lost + tied, bool(ties.any())

    def of_systems(of_pairs: FloatArray) -> FloatArray:
        """Sum over pairs: what counts for a system counts against the other."""
        summed = np.zeros(size)
        np.add.at(summed, a, of_pairs)
        np.subtract.at(summed, b, of_pairs)
        return summed

    # The logarithm of the chance of an outcome is linear in strengths and the logarithm of `tie`.
    parameters = np.zeros(size + have_ties)
    for _ in range(STEPS):
        half = (parameters[a] - parameters[b]) / 2
        p = np.exp([half, -half, np.full(len(a), parameters[size] if have_ties else -np.inf)])
        p /= p.sum(axis=0)
        ahead = p[0] - p[1]
        weights = np.zeros((size, size))
        weights[a, b] = weights[b, a] = games * (p[0] + p[1] - ahead**2) / 4
        information = np.zeros((len(parameters), len(parameters)))
        information[:size, :size] = np.diag(weights.sum(axis=0)) - weights
        missed = np.zeros(len(parameters))
        missed[:size] = of_systems((won - lost - games * ahead) / 2)
        if have_ties:
            information[:size, size] = -of_systems(games * ahead * p[2] / 2)
            information[size, :size] = information[:size, size]
            information[size, size] = (games * p[2] * (1 - p[2])).sum()
            missed[size] = (tied - games * p[2]).sum()
        # The minimum-norm step keeps the sum of strengths at 0, which the likelihood does not
        # determine.
        covariance = np.linalg.pinv(information).astype(float)
        step = covariance @ missed
        longest = np.abs(step).max()
        parameters += step / max(1.0, longest)
        if longest < PRECISION:
            break
    strengths = parameters[:size]
    tie = float(np.exp(parameters[size])) if have_ties else 0.0
    return Davidson(strengths, tie, covariance[:size, :size], True)
