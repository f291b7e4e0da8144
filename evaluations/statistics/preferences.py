"""From comparisons of pairs to a ranking: Bradley-Terry, its uncertainty, and which pair to ask
about next."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from evaluations.statistics.jackknife import TOO_FEW, LeftOut, no_interval
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.resampling import Interval
from evaluations.thresholds import INTERVAL_DOCUMENTS

ITERATIONS = 10_000
PRECISION = 1e-12


@dataclass(frozen=True)
class BradleyTerry:
    """Strengths that sum to 0 with their standard errors and covariance.

    A system that won or lost every comparison has no finite strength; `connected` is False then, or
    where systems were never compared even indirectly.
    """

    strengths: FloatArray
    standard_errors: FloatArray
    covariance: FloatArray
    connected: bool

    def probability(self, first: int, second: int) -> float:
        """That the first is preferred to the second."""
        return float(1 / (1 + np.exp(self.strengths[second] - self.strengths[first])))

    def difference_error(self, first: int, second: int) -> float:
        """The standard error of the difference of two strengths."""
        c = self.covariance
        return float(np.sqrt(max(0.0, c[first, first] + c[second, second] - 2 * c[first, second])))


def bradley_terry(wins: FloatArray) -> BradleyTerry:
    """Fit Bradley and Terry's model (1952) by Hunter's MM iteration (2004); a tie is half a win for
    each.

    Args:
        wins: shape (systems, systems), how often the row was preferred to the column.
    """
    games = wins + wins.T
    total = wins.sum(axis=1)
    strengths = np.ones(len(wins))
    connected = _is_connected(wins)
    for _ in range(ITERATIONS if connected else 0):
        pair = games / (strengths[:, None] + strengths[None, :])
        new = total / pair.sum(axis=1)
        new /= np.exp(np.log(new).mean())
        done = np.abs(np.log(new / strengths)).max() < PRECISION
        strengths = new
        if done:
            break
    theta = np.log(strengths)
    p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    weight = games * p * (1 - p)
    information = np.diag(weight.sum(axis=1)) - weight
    # The information is singular along "all strengths alike"; the sum is fixed at 0, so its
    # pseudo-inverse is meant.
    covariance = np.linalg.pinv(information)
    return BradleyTerry(
        theta, np.sqrt(np.clip(np.diag(covariance), 0, None)), covariance, connected
    )


def next_pair_gains(fitted: BradleyTerry) -> dict[tuple[int, int], float]:
    """How much one more comparison of each pair would tell: p(1-p) times the variance of their
    difference."""
    found = {}
    for first in range(len(fitted.strengths)):
        for second in range(first + 1, len(fitted.strengths)):
            p = fitted.probability(first, second)
            found[first, second] = p * (1 - p) * fitted.difference_error(first, second) ** 2
    return found


def _is_connected(wins: FloatArray) -> bool:
    """Whether from every system one can go to every other along wins (Ford, 1957)."""
    size = len(wins)
    reach = (wins > 0) | np.eye(size, dtype=bool)
    for _ in range(size):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    return bool(reach.all())


@dataclass(frozen=True)
class Davidson:
    """Davidson's model (1970): Bradley and Terry's with ties. `strengths` sum to 0; `tie` grows
    with how often people tie: among equals the chance of a tie is tie / (2 + tie)."""

    strengths: FloatArray
    tie: float
    connected: bool


def davidson_intervals(
    wins: FloatArray, ties: FloatArray, documents: LeftOut, counting: int
) -> tuple[Davidson, tuple[Interval, ...]]:
    """The model of all comparisons, and each strength's interval over documents.

    Several people compare the same outputs, and outputs of a system vary, so that comparisons of
    one document are not independent: documents are left out whole.

    Args:
        wins, ties: shape (groups, systems, systems), by the groups in which documents are left out.
        counting: how many documents have comparisons.
    """
    all_wins, all_ties = wins.sum(axis=0), ties.sum(axis=0)
    of_all = davidson(all_wins, all_ties)
    if not of_all.connected or counting < INTERVAL_DOCUMENTS:
        few = no_interval(TOO_FEW.format(INTERVAL_DOCUMENTS, documents.unit))
        return of_all, (few,) * len(of_all.strengths)
    without = np.array(
        [
            davidson(all_wins - won, all_ties - tied, of_all).strengths
            for won, tied in zip(wins, ties, strict=True)
        ]
    )
    return of_all, tuple(
        documents.interval(float(strength), left_out, counting=counting)
        for strength, left_out in zip(of_all.strengths, without.T, strict=True)
    )


def davidson(wins: FloatArray, ties: FloatArray, near: Davidson | None = None) -> Davidson:
    """Fit by maximum likelihood.

    Args:
        wins: shape (systems, systems), how often the row was preferred to the column.
        ties: shape (systems, systems), symmetric, how often the two tied.
        near: a fit to nearly the same comparisons, from which to begin.
    """
    size = len(wins)
    if size < 2 or not _is_connected(wins + ties):
        return Davidson(np.full(size, np.nan), float("nan"), False)
    a, b = np.triu_indices(size, k=1)
    won, lost, tied = wins[a, b], wins[b, a], ties[a, b]

    def shares(parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        half = (parameters[a] - parameters[b]) / 2
        logits = np.stack([half, -half, np.full(len(half), parameters[-1])])
        p = np.exp(logits - logits.max(axis=0))
        first, second, both = p / p.sum(axis=0)
        return first, second, both

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        first, second, both = shares(parameters)
        with np.errstate(divide="ignore"):
            value = -(
                won * np.log(first)
                + lost * np.log(second)
                + tied * np.log(np.maximum(both, 1e-300))
            ).sum()
        games = won + lost + tied
        half = ((won - lost) - games * (first - second)) / 2
        gradient = np.zeros(size + 1)
        np.add.at(gradient, a, -half)
        np.add.at(gradient, b, half)
        gradient[-1] = -(tied - games * both).sum()
        # A slight pull to the middle fixes the sum of the strengths, which the likelihood leaves
        # open.
        pull = parameters[:-1].sum()
        gradient[:-1] += pull
        return float(value + pull**2 / 2), gradient

    start = np.zeros(size + 1)
    start[-1] = -10.0 if not ties.any() else 0.0
    if near:
        start = np.append(near.strengths, np.clip(np.log(near.tie), -10.0, 10.0))
    bounds = [(-20.0, 20.0)] * size + [(-10.0, 10.0)]
    fitted = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000}
    )
    strengths = fitted.x[:-1] - fitted.x[:-1].mean()
    return Davidson(strengths, float(np.exp(fitted.x[-1])), True)
