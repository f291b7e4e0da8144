"""From comparisons of pairs to a ranking: Bradley-Terry, its uncertainty, and which pair to ask about next."""

from dataclasses import dataclass

import numpy as np

from evaluations.statistics.pairing import FloatArray

ITERATIONS = 10_000
PRECISION = 1e-12


@dataclass(frozen=True)
class BradleyTerry:
    """Strengths that sum to 0 with their standard errors and covariance.

    A system that won or lost every comparison has no finite strength; `connected` is False then, or where systems were
    never compared even indirectly.
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
    """Fit Bradley and Terry's model (1952) by Hunter's MM iteration (2004); a tie is half a win for each.

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
    # The information is singular along "all strengths alike"; the sum is fixed at 0, so its pseudo-inverse is meant.
    covariance = np.linalg.pinv(information)
    return BradleyTerry(theta, np.sqrt(np.clip(np.diag(covariance), 0, None)), covariance, connected)


def next_pair_gains(fitted: BradleyTerry) -> dict[tuple[int, int], float]:
    """How much one more comparison of each pair would tell: p(1-p) times the variance of their difference."""
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
