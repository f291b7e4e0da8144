"""A rating scale: its points, what lies on it, and the usual scale that holds given ratings. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

# The scales in common use, narrowest first; ratings without a declared scale get the first that holds them all.
USUAL_SCALES = ((0, 1), (1, 3), (1, 4), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (1, 100), (0, 100))
MOST_POINTS = 1001


def short(number: float) -> str:
    """5.0 as "5", 2.5 as "2.5"."""
    return f"{number:g}"


@dataclass(frozen=True)
class Scale:
    """Ratings from `lowest` to `highest` in steps; `labels` name points by words ("Yes" -> 1.0)."""

    lowest: float
    highest: float
    step: float = 1.0
    labels: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.lowest < self.highest or self.step <= 0:
            raise ValueError(f"a scale needs lowest < highest and a positive step, not {self}")
        if (self.highest - self.lowest) / self.step > MOST_POINTS - 1:
            raise ValueError(f"a scale has at most {MOST_POINTS} points; {self} has more")

    def __str__(self) -> str:
        return f"{short(self.lowest)}-{short(self.highest)}"

    @cached_property
    def points(self) -> tuple[float, ...]:
        """All points, in rising order."""
        count = int((self.highest - self.lowest) / self.step + 1e-9) + 1
        return tuple(round(self.lowest + index * self.step, 9) for index in range(count))

    @property
    def is_integral(self) -> bool:
        """Whether every point is a whole number that is not negative, so that digits can spell it."""
        return all(point == int(point) and point >= 0 for point in self.points)

    def holds(self, value: float) -> bool:
        """Whether a value lies between the ends (a mean need not lie on a point)."""
        return self.lowest <= value <= self.highest

    def point_at(self, value: float) -> float | None:
        """The point a value stands on, or None between points and outside."""
        return next((point for point in self.points if abs(point - value) < 1e-9), None)


def usual_scale_for(values: Iterable[float]) -> Scale:
    """The narrowest usual scale that holds all values; their own range where none does.

    Raises:
        ValueError: there are no values.
    """
    low, high = min_and_max(values)
    for lowest, highest in USUAL_SCALES:
        if lowest <= low and high <= highest:
            return Scale(float(lowest), float(highest))
    top = max(high, low + 1.0)
    return Scale(low, top, step=max(1.0, (top - low) / 100))


def min_and_max(values: Iterable[float]) -> tuple[float, float]:
    listed = list(values)
    if not listed:
        raise ValueError("no values")
    return min(listed), max(listed)
