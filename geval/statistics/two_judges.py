"""Two judges on the same outputs: which of them agrees with people, and their scores."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.types import DIGITS, FloatArray, IntArray

# An output's class; "rest" means that neither agrees, or one does and the other is not clearly off.
ONLY_FIRST, BOTH, ONLY_SECOND, REST = range(4)


def who_agrees(human: FloatArray, first: FloatArray, second: FloatArray, unit: float) -> IntArray:
    """Return which of two judges agrees with people on each output.

    A judge agrees within half a unit of the human mean. Exactly one agrees where it does and the
    other is more than a whole unit away: in between, neither is claimed.

    Args:
        human, first, second: shape (outputs,), complete.
        unit: a step of the scale.
    """
    a, b = (np.round(np.abs(side - human), DIGITS) for side in (first, second))
    near, far = unit / 2, unit
    return np.select(
        [(a <= near) & (b <= near), (a <= near) & (b > far), (b <= near) & (a > far)],
        [BOTH, ONLY_FIRST, ONLY_SECOND],
        REST,
    )


@dataclass(frozen=True, eq=False)
class ScoreGrid:
    """How many outputs got each pair of scores: `counts` has shape (points of the first, points of
    the second)."""

    points: FloatArray
    counts: IntArray

    @property
    def same(self) -> float:
        """The share of outputs to which both give the same point."""
        return float(np.trace(self.counts) / max(1, self.counts.sum()))


def score_grid(first: FloatArray, second: FloatArray, points: FloatArray) -> ScoreGrid:
    """Count pairs of scores at their nearest points; between two points, at the higher.

    Args:
        first, second: shape (outputs,), complete.
        points: rising.
    """
    middles = (points[1:] + points[:-1]) / 2
    rows, columns = (
        np.searchsorted(middles, np.round(side, DIGITS), side="right") for side in (first, second)
    )
    counts = np.bincount(rows * len(points) + columns, minlength=len(points) ** 2)
    return ScoreGrid(points, counts.reshape(len(points), len(points)))
