"""A policy in use: how many kept answers people check, whether its promise still holds by these,
and what moved since it was proven. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from geval.statistics.anytime import confidence_sequence
from geval.statistics.arrays import sums
from geval.statistics.distributions import t_cdf
from geval.statistics.significance import holm
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, PROMISED_ERRORS, SIGNIFICANCE
from geval.statistics.types import FloatArray, IntArray

# Checks should cost little beside what a policy saves.
SPREAD = 10


class Holding(StrEnum):
    """Whether a promise holds by the checks so far."""

    HOLDS = "holds"
    OPEN = "not contradicted"
    BROKEN = "broken"


@dataclass(frozen=True)
class PromiseToday:
    """The error of checked answers, with an interval that is valid at any time (None without
    checks)."""

    checks: int
    error: float | None
    low: float | None
    high: float | None
    holding: Holding


def check_share(kept: int, bound: float | None) -> float:
    """Return the random share of kept answers that people check, so that the best bet shows errors
    twice as frequent as promised by the time that SPREAD times as many answers are kept. Its
    capital grows by the Kullback-Leibler divergence on average (Kelly, 1956).

    Args:
        kept: how many answers are kept now.
        bound: the promised share of errors; None where none is promised, then the usual one.
    """
    promised = bound or PROMISED_ERRORS
    twice = 2 * promised
    growth = twice * math.log(2) + (1 - twice) * math.log((1 - twice) / (1 - promised))
    return min(1.0, math.log(2 / SIGNIFICANCE) / growth / (SPREAD * max(1, kept)))


def promise_today(loss: FloatArray, bound: float | None, span: float) -> PromiseToday:
    """Return whether a promise still holds, however often this is asked
    (`geval.statistics.anytime`).

    Args:
        loss: of kept answers that were checked at random, in order, shape (answers,); NaN where
            nothing is at stake.
        bound: the promised share of errors; None where the mean loss is promised to be below 0.
        span: how far a difference can be from 0, where no share is promised.
    """
    seen = loss[~np.isnan(loss)]
    if not len(seen):
        return PromiseToday(0, None, None, None, Holding.OPEN)
    lowest, highest = (-span, span) if bound is None else (0.0, 1.0)
    (ends,) = confidence_sequence(seen, [len(seen)], lowest=lowest, highest=highest)
    promised = bound or 0.0
    holding = Holding.OPEN
    if ends.low > promised:
        holding = Holding.BROKEN
    elif ends.high <= promised:
        holding = Holding.HOLDS
    return PromiseToday(len(seen), float(seen.mean()), ends.low, ends.high, holding)


def weight_of_rated(kept: np.ndarray, rated: np.ndarray) -> FloatArray | None:
    """Return for how many outputs each rated one stands: of the kept outputs and of the others,
    some were rated so far, each a random sample (post-stratification: Cochran, 1977). None where
    nobody rated any of these or of those.

    Args:
        kept, rated: masks of shape (outputs,).
    """
    weight = np.ones(len(kept))
    for stratum in (kept, ~kept):
        if not stratum.any():
            continue
        if not (stratum & rated).any():
            return None
        weight[stratum] = stratum.sum() / (stratum & rated).sum()
    return weight


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of outputs with their weights and documents; each has shape (outputs,)."""

    values: FloatArray
    weight: FloatArray
    document: IntArray


def moved(pairs: Mapping[str, tuple[Sample, Sample]]) -> tuple[str, ...]:
    """Return the names whose means differ between two samples, by Welch's t over documents (1947),
    adjusted over all names (Holm, 1979); samples with too few documents are left out."""
    p_values = {
        name: p
        for name, (before, after) in pairs.items()
        if (p := _p_of(before, after)) is not None
    }
    adjusted = holm([*p_values.values()]) if p_values else []
    return tuple(name for name, p in zip(p_values, adjusted, strict=True) if p <= SIGNIFICANCE)


def _p_of(before: Sample, after: Sample) -> float | None:
    sides = [_mean(side) for side in (before, after)]
    if None in sides:
        return None
    (mean, variance, count), (other, other_variance, other_count) = (
        side for side in sides if side is not None
    )
    total = variance + other_variance
    if not total:
        return 1.0 if mean == other else 0.0
    freedom = total**2 / (variance**2 / (count - 1) + other_variance**2 / (other_count - 1))
    return 2 * float(t_cdf(-abs(mean - other) / math.sqrt(total), freedom))


def _mean(sample: Sample) -> tuple[float, float, int] | None:
    """Return the weighted mean, its variance over documents and their number; None for too few."""
    counts = ~np.isnan(sample.values)
    values, weight = sample.values[counts], sample.weight[counts]
    _documents, document = np.unique(sample.document[counts], return_inverse=True)
    number = len(_documents)
    if number < INTERVAL_DOCUMENTS:
        return None
    mean = float((weight * values).sum() / weight.sum())
    influence = sums(document, weight * (values - mean) / weight.sum(), number)
    return mean, float((influence**2).sum()) * number / (number - 1), number
