"""Draw a campaign's outputs by its design, and compute each output's probability of being drawn.

Pure and seeded, like `item_plan`.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.item_plan import FloatArray, IntArray, PlannedOutputs, stratified_sample
from geval.statistics.sampling import (
    UNIFORM_SHARE,
    active_probabilities,
    draw_systematically,
    equal_probabilities,
)


@dataclass(frozen=True)
class DrawnSample:
    """The outputs that a design chose. `probability` has shape (frame,), for each output that could
    have been chosen; None for a census and for samples without known probabilities."""

    outputs: PlannedOutputs
    frame: PlannedOutputs
    probability: FloatArray | None = None


@dataclass(frozen=True)
class SamplingUnits:
    """Sampling units: outputs, or documents with all their outputs (sessions as a whole).

    `at` has shape (outputs,), the unit of each; `count` is the number of units.
    """

    at: IntArray
    count: int

    @classmethod
    def of(cls, outputs: PlannedOutputs, *, whole_documents: bool) -> "SamplingUnits":
        if not whole_documents:
            return cls(np.arange(len(outputs)), len(outputs))
        together = outputs.documents if outputs.sessions is None else outputs.sessions
        _, indexes = np.unique(together, return_inverse=True)
        return cls(indexes, int(indexes.max()) + 1 if len(indexes) else 0)

    def size(self, outputs: int) -> int:
        """Return how many units have about this many outputs; at least one."""
        return max(1, round(outputs * self.count / max(1, len(self.at))))

    def error(self, of_outputs: FloatArray) -> FloatArray:
        """Return the root mean square over a unit's outputs, NaN where none is known; shape
        (units,)."""
        defined = ~np.isnan(of_outputs)
        total = np.bincount(self.at[defined], of_outputs[defined] ** 2, self.count)
        count = np.bincount(self.at[defined], minlength=self.count)
        with np.errstate(invalid="ignore"):
            return np.where(count > 0, np.sqrt(total / count), np.nan)

    def all_of(self, of_outputs: np.ndarray) -> np.ndarray:
        """Return which units have only outputs in a mask; shape (units,)."""
        lacking = np.bincount(self.at, ~of_outputs, self.count)
        return np.asarray(lacking == 0)


def uniform(
    outputs: PlannedOutputs, size: int, units: SamplingUnits, rng: np.random.Generator
) -> DrawnSample:
    """Draw units with equal probabilities."""
    count = min(units.size(size), units.count)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[rng.permutation(units.count)[:count]] = True
    probability = equal_probabilities(units.count, count)[units.at]
    return DrawnSample(outputs.at(np.flatnonzero(chosen[units.at])), outputs, probability)


def stratified(outputs: PlannedOutputs, size: int, rng: np.random.Generator) -> DrawnSample:
    """Draw equally many outputs of each system as far as possible. Which systems get one more is
    drawn as well, so that all with outputs left have the same chance."""
    chosen = stratified_sample(outputs, size, rng)
    _, system, available = np.unique(outputs.systems, return_inverse=True, return_counts=True)
    # The mean number of outputs drawn: full rounds, and an equal chance in the last.
    wanted, left = np.zeros(len(available)), float(min(size, len(outputs)))
    while left > 1e-9:
        open_ = wanted < available
        step = min(1.0, left / open_.sum())
        wanted[open_] += step
        left -= step * open_.sum()
    return DrawnSample(chosen, outputs, (wanted / available)[system])


def active(
    outputs: PlannedOutputs,
    error: FloatArray,
    size: int,
    units: SamplingUnits,
    rng: np.random.Generator,
    *,
    is_known: np.ndarray | None = None,
) -> DrawnSample:
    """Draw more of the units with a larger predicted error.

    Args:
        error: shape (outputs,), NaN where nothing is known.
        is_known: shape (outputs,), the outputs that need no rating. Units with only such outputs
            are not drawn, as they would add nothing. They get the probability with which they would
            have been drawn, so that campaigns can be combined.
    """
    of_units = units.error(error)
    skipped = np.zeros(units.count, dtype=bool) if is_known is None else units.all_of(is_known)
    left = np.flatnonzero(~skipped)
    if not len(left):
        return DrawnSample(outputs.at(np.array([], dtype=np.int64)), outputs)
    of_left = of_units[left]
    defined = of_left[~np.isnan(of_left)]
    usual = float(defined.mean()) if len(defined) else 1.0
    filled = np.nan_to_num(of_units, nan=usual)
    count = min(units.size(size), len(left))
    probability = np.empty(units.count)
    probability[left] = active_probabilities(filled[left], count)
    if skipped.any():
        probability[skipped] = _as_if_drawn(filled[skipped], filled[left], probability[left], count)
    chosen = np.zeros(units.count, dtype=bool)
    chosen[left[draw_systematically(probability[left], rng)]] = True
    return DrawnSample(outputs.at(np.flatnonzero(chosen[units.at])), outputs, probability[units.at])


def _as_if_drawn(
    error: FloatArray, of_others: FloatArray, probability: FloatArray, size: int
) -> FloatArray:
    """Return by the same rule the probabilities of units that are not drawn from.

    Args:
        error: shape (units,), their errors.
        of_others, probability: shape (others,), errors of those that are drawn from, and the
            probabilities that these have.
    """
    equal = UNIFORM_SHARE * equal_probabilities(len(of_others), size)[0]
    by_error = probability - equal
    below = (of_others > 0) & (by_error < 1 - UNIFORM_SHARE)
    times = float((by_error[below] / of_others[below]).max()) if below.any() else 0.0
    return np.asarray(equal + np.minimum(1 - UNIFORM_SHARE, times * error))
