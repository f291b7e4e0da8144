"""Intervals that hold however often they are looked at: confidence sequences of a mean.

A 95 % interval holds at one number of documents. Who looks after every document and stops where
they like what they see has left the truth out at some time in a third of cases. The ends here
leave it out at *any* time in at most 5 %: they are the means against which nobody could have won
1/0.05 times their stake by betting on the next values (Waudby-Smith and Ramdas, 2024, "Estimating
means of bounded random variables by betting", theorem 3: hedged capital; Ville, 1939). This needs
values within known bounds that come in random order, and nothing else: asymptotic sequences
(Waudby-Smith et al., 2024) are narrower and left the truth out in up to 9 % of runs over
SummEval's correlations, from ten documents on.

Of values that were drawn with different probabilities the bets are on the weight times the distance
from the mean, which nobody can foresee either; weights have a largest one that the design knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.thresholds import SIGNIFICANCE
from geval.statistics.types import FloatArray, IntArray

# No more than this share of the capital is bet, so that it never ends at 0.
# A rho lies from -1 to 1, the difference of two from -2 to 2.
RHO, TWO_RHOS = 1.0, 2.0
MOST_BET = 0.5
MEANS = 1001
# Values by means that are held at a time.
MOST_CELLS = 2_000_000


@dataclass(frozen=True)
class Ends:
    """Where the mean lies after so many values."""

    count: int
    low: float
    high: float


def confidence_sequence(
    values: FloatArray,
    at: Sequence[int],
    *,
    lowest: float = -1.0,
    highest: float = 1.0,
    level: float = SIGNIFICANCE,
    weight: FloatArray | None = None,
    largest: float = 1.0,
) -> tuple[Ends, ...]:
    """The ends after some numbers of values; all of them hold together.

    Args:
        values: shape (values,), in the order in which they came.
        at: rising counts of values.
        lowest, highest: what a value can be.
        level: in which share of sequences the mean may be left out at some time.
        weight: shape (values,), one by the probability with which each was drawn; None where all
            are the same.
        largest: the largest weight that the design allows.
    """
    scaled = (values - lowest) / (highest - lowest)
    share = None if weight is None else weight / largest
    stakes = _stakes(scaled, level) if share is None else _weighted_stakes(scaled, level, share)
    step = 1 / (MEANS - 1)
    means = np.linspace(step / 2, 1 - step / 2, MEANS - 1)
    up, down = np.zeros((2, len(means)))
    sequence, done = [], 0
    for count in at:
        for begin in range(done, count, MOST_CELLS // MEANS):
            part = slice(begin, min(count, begin + MOST_CELLS // MEANS))
            off, stake = scaled[part, None] - means, stakes[part, None]
            if share is not None:
                off *= share[part, None]
            up += np.log1p(np.minimum(stake, MOST_BET / means) * off).sum(axis=0)
            down += np.log1p(-np.minimum(stake, MOST_BET / (1 - means)) * off).sum(axis=0)
        done = count
        held = np.flatnonzero(np.maximum(up, down) < np.log(2 / level))
        # Each mean of the grid stands for those up to its neighbours.
        low, high = (means[held[0]] - step, means[held[-1]] + step) if len(held) else (0.0, 1.0)
        ends = np.clip([low, high], 0, 1) * (highest - lowest) + lowest
        sequence.append(Ends(count, *ends.tolist()))
    return tuple(sequence)


def _stakes(scaled: FloatArray, level: float) -> FloatArray:
    """How much is bet on each value, from those before it; shape (values,)."""
    count = np.arange(1, len(scaled) + 1)
    mean = (0.5 + np.cumsum(scaled)) / (count + 1)
    variance = (0.25 + np.cumsum((scaled - mean) ** 2)) / (count + 1)
    before = np.append(0.25, variance)[: len(scaled)]
    return _stakes_by(before, count, level)


def _weighted_stakes(scaled: FloatArray, level: float, share: FloatArray) -> FloatArray:
    """The same for values that count by a share of the largest weight."""
    count = np.arange(1, len(scaled) + 1)
    total = np.cumsum(share)
    mean = (0.5 + np.cumsum(scaled * share)) / (total + 1)
    variance = (0.25 + np.cumsum((share * (scaled - mean)) ** 2)) / (count + 1)
    before = np.append(0.25, variance)[: len(scaled)]
    return _stakes_by(before, count, level)


def _stakes_by(variance: FloatArray, count: IntArray, level: float) -> FloatArray:
    """How much is bet on values by their variance as far as it is known; shape (values,) each."""
    stakes: FloatArray = np.sqrt(2 * np.log(2 / level) / (variance * count * np.log(count + 1)))
    return stakes


def expected_half_width(spread: float, count: int, *, level: float = SIGNIFICANCE) -> float:
    """How wide plus or minus the ends will likely be after so many values.

    The stakes of `confidence_sequence` grow the logarithm of the capital by about sum(stakes) *
    distance - sum(stakes^2) * (variance + distance^2) / 2 at a distance from the mean; the ends
    are where it is log(2 / level).

    Args:
        spread: the values' standard deviation, by the distance from the lowest to the highest that
            there can be; so is the result.
    """
    number = np.arange(1, count + 1)
    variance = (0.25 + (number - 1) * spread**2) / number
    stakes = np.minimum(_stakes_by(variance, number, level), 1)
    first, second = stakes.sum(), (stakes**2).sum()
    below = first**2 - 2 * second * (np.log(2 / level) + second * spread**2 / 2)
    half = (first - np.sqrt(below)) / second if below > 0 else 0.5
    return float(min(half + 0.5 / (MEANS - 1), 0.5))
