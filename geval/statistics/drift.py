"""Test whether a judge has drifted: compares repeated scores of the same items with earlier ones,
by a test that may be looked at after every round.

Without drift the scores of an item are exchangeable: their order in time carries no information. So
the rank of a new score among the item's earlier ones (ties broken at random) is uniform and
independent of all earlier ranks, whatever the scores' distribution: a smoothed conformal p-value
(Vovk, Gammerman and Shafer, 2005, "Algorithmic learning in a random world", theorem 8.1). A bet
against that multiplies capital by a density f(p) on [0, 1], so that capital is a test martingale,
and the chance that it ever reaches 1 / alpha is at most alpha (Ville, 1939; Vovk, 2021, "Testing
randomness online"). For a tie the mean of f over its ranks is used, its expectation over random
tie-breaking: the capital stays a martingale, and nothing is random. Half of the capital bets from
the first round, the rest starts later, by a geometric prior (Shiryaev, 1963), so that a late drift
is detected too.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.thresholds import SIGNIFICANCE
from geval.statistics.types import FloatArray

# The probability that idle capital starts to bet at a round: once a year for daily rounds.
STARTS = 1 / 365
# Half the capital bets from the first round on, in case the judge drifts from the start.
AT_ONCE = 0.5
SLOPES = (0.3, 0.6, 0.95)
SPREADS = (0.4, 0.8)


@dataclass(frozen=True)
class DriftEvidence:
    """Evidence of drift after each round.

    `scores` is the capital that bets on scores rising, falling or spreading, `agreement` the
    capital that bets on scores moving away from people's ratings (all 1 without ratings); shape
    (askings,). Either is evidence at level alpha once it has reached `bound`.
    """

    scores: FloatArray
    agreement: FloatArray
    bound: float

    @property
    def scores_at(self) -> int | None:
        """The first round at which the scores have drifted, None if they have not."""
        return _first(self.scores, self.bound)

    @property
    def agreement_at(self) -> int | None:
        """The first round at which agreement with people has fallen, None if it has not."""
        return _first(self.agreement, self.bound)


def drift(
    frozen: FloatArray, asked: FloatArray, ratings: FloatArray | None = None
) -> DriftEvidence:
    """Return evidence that later scores differ from the frozen ones.

    It answers whether a judge still scores as it did, and is valid however often it is looked at.
    Items without a frozen score and missing scores are ignored. Replies must be requested anew each
    time: a reused stored reply is not a current score.

    Args:
        frozen: the scores at the start; shape (items, replies), NaN for missing.
        asked: the later scores, rounds in order of time; shape (items, askings).
        ratings: people's mean rating of each item; shape (items,), NaN for unrated.
    """
    rated = ratings is not None and bool((~np.isnan(ratings)).any())
    low, high = _ranks(frozen, asked)
    up, squared = low + high - 1, 4 * (low**2 + low * high + high**2) / 3 - 2 * (low + high) + 1
    bets = [1 + slope * up for size in SLOPES for slope in (size, -size)]
    bets += [1 + size * (3 * squared - 1) for size in SPREADS]
    bound = (2 if rated else 1) / SIGNIFICANCE
    scores = np.mean([_capital(bet) for bet in bets], axis=0)
    if not rated or ratings is None:
        return DriftEvidence(scores, np.ones(asked.shape[1]), bound)
    people = ratings[:, None]
    low, high = _ranks(abs(frozen - people), abs(asked - people))
    bets = [1 + slope * (low + high - 1) for slope in SLOPES]
    return DriftEvidence(scores, np.mean([_capital(bet) for bet in bets], axis=0), bound)


def _ranks(frozen: FloatArray, asked: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ranks between which each score lies among the item's earlier scores and itself,
    from 0 to 1; NaN where there is no score, or no earlier one. Shape (items, askings) each."""
    low, high = np.full(asked.shape, np.nan), np.full(asked.shape, np.nan)
    for index in range(asked.shape[1]):
        earlier, now = np.hstack([frozen, asked[:, :index]]), asked[:, index : index + 1]
        earlier_count = (~np.isnan(earlier)).sum(axis=1)
        below, same = (earlier < now).sum(axis=1), (earlier == now).sum(axis=1)
        answered = ~np.isnan(now[:, 0]) & (earlier_count > 0)
        low[answered, index] = (below / (earlier_count + 1))[answered]
        high[answered, index] = ((below + same + 1) / (earlier_count + 1))[answered]
    return low, high


def _capital(bets: FloatArray) -> FloatArray:
    """Return the capital after each round, from the factor of each score; shape (askings,)."""
    capital = np.empty(bets.shape[1])
    asleep, awake = 1.0 - AT_ONCE, AT_ONCE
    with np.errstate(over="ignore"):
        for index, factor in enumerate(np.exp(np.nansum(np.log(bets), axis=0))):
            awake = min((awake + STARTS * asleep) * factor, 1e300)
            asleep *= 1 - STARTS
            capital[index] = awake + asleep
    return capital


def _first(capital: FloatArray, bound: float) -> int | None:
    reached = np.flatnonzero(capital >= bound)
    return int(reached[0]) if len(reached) else None
