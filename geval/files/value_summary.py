"""Count the values of a criterion in the files of a load, and guess its scale. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np

from geval.statistics.scales import (
    EXPECTED_SCALES,
    FEW,
    Scale,
    ScaleGuess,
    guess_scale,
    likely_scale,
    parted_guess,
    usual_scale_for,
)
from geval.statistics.types import FloatArray

# Means and metrics have many different values; beyond this number only their range is kept.
MOST_DIFFERENT = 1000


class ValueSummary:
    """Counts of values, and their range."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.total = 0
        self.lowest = float("inf")
        self.highest = float("-inf")
        # The highest point of the scale, where ratings state it ("4/5").
        self.top: float | None = None

    def add(self, value: float, times: int = 1) -> None:
        self.total += times
        counts = self.counts
        if value in counts:
            counts[value] += times
            return
        if value < self.lowest:
            self.lowest = value
        if value > self.highest:
            self.highest = value
        if len(counts) < MOST_DIFFERENT:
            counts[value] = times

    def add_all(self, values: FloatArray) -> None:
        """Add values of shape (values,), in order of first occurrence."""
        _different, first, counts = np.unique(values, return_index=True, return_counts=True)
        for place in np.argsort(first).tolist():
            self.add(float(values[first[place]]), int(counts[place]))

    def extend(self, other: "ValueSummary") -> None:
        """Add the values of another collection, as far as it counted them; its range is
        complete."""
        for value, count in other.counts.items():
            if value in self.counts or len(self.counts) < MOST_DIFFERENT:
                self.counts[value] = self.counts.get(value, 0) + count
        self.total += other.total
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)

    @property
    def range(self) -> tuple[float, float]:
        return self.lowest, self.highest

    @property
    def are_all_counted(self) -> bool:
        return sum(self.counts.values()) == self.total


def guess_of_values(
    ratings: ValueSummary,
    scores: ValueSummary,
    every_rating: Mapping[float, int] | None = None,
    *,
    ready: Sequence[Scale] = (),
    shown: Scale | None = None,
) -> ScaleGuess:
    """Guess the scale of a criterion's ratings, or else of its scores.

    Stray values are not searched among ratings with very many different values, such as means.

    Args:
        every_rating: how often each rating occurs, where `ratings` has not counted all.
        ready: the scales of ready criteria with this name; the first that holds all values wins.
        shown: the scale that a judge's raw replies show, which holds all ratings.
    """
    seen = ratings if ratings.total else scores
    for scale in (*_ending_at(ratings.top), *ready):
        if scale.spans(*seen.range):
            return ScaleGuess(scale)
    if shown is not None:
        return ScaleGuess(shown)
    if not ratings.total:
        return ScaleGuess(likely_scale(dict.fromkeys(scores.range, FEW)))
    if ratings.are_all_counted:
        return guess_scale(ratings.counts)
    parted = parted_guess(every_rating) if every_rating else None
    return parted or ScaleGuess(usual_scale_for(ratings.range))


def _ending_at(top: float | None) -> list[Scale]:
    """Return the usual scales with this highest point, and one of its own from 0."""
    if top is None:
        return []
    ends = [*((low, high) for low, high in EXPECTED_SCALES if high == top), (0.0, top)]
    return [Scale(lowest, highest) for lowest, highest in ends if highest > lowest]
