"""The definition of "better" wherever two judges are compared, or a judge before and after a
change: a higher mean correlation with people *on the same documents, ties counted*.

A document counts if people rank anything in it: their mean varies over the outputs that both judges
scored. A judge that ties all these outputs ranks nothing there, and counts as 0. Published tables
leave such documents out, separately for each judge (see `correlation`); in such a comparison, a
judge that ties all outputs of the documents that are hard for it wrongly looks better.

On single outputs, `who_agrees` says which of two judges agrees with people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geval.statistics.arrays import Outputs, complete, mean_of, sums
from geval.statistics.correlation import Coefficient, coefficients_by_document, mean_of_documents
from geval.statistics.types import DIGITS, FloatArray, IntArray

NOTHING_RANKED = "in no document do people rank outputs that both judges scored"
# An output's class; "rest" means that neither agrees, or one does and the other is not clearly off.
ONLY_FIRST, BOTH, ONLY_SECOND, REST = range(4)


@dataclass(frozen=True)
class Ranked:
    """The number of documents in which people rank outputs, and in how many of these each judge
    does."""

    documents: int
    first: int
    second: int


@dataclass(frozen=True, eq=False)
class SameDocuments:
    """Two judges in the documents in which people rank anything.

    `counting` is a mask of these, `counts` the numbers of outputs that people rated and both judges
    scored, `weight` the documents' sampling weights and `group` their groups (None where all are
    equal, or each is by itself); `of_first` and
    `of_second` are coefficients from `coefficients_by_document`, NaN where people or the judge tie
    all outputs. Shape (documents,) each.
    """

    counting: np.ndarray
    counts: FloatArray
    of_first: FloatArray
    of_second: FloatArray
    weight: FloatArray | None = None
    group: IntArray | None = None

    @cached_property
    def first(self) -> FloatArray:
        """The first judge's coefficients, 0 where it ties all outputs; NaN where the document does
        not count."""
        return ties_as_0(self.of_first, self.counting)

    @cached_property
    def second(self) -> FloatArray:
        """The second judge's coefficients, in the same way."""
        return ties_as_0(self.of_second, self.counting)

    @cached_property
    def difference(self) -> FloatArray:
        """The first judge's coefficient minus the second's; shape (documents,)."""
        return self.first - self.second

    @property
    def means(self) -> tuple[float, float]:
        """Both judges' means over documents, NaN where none counts."""
        first, second = (
            mean_of_documents(values, self.weight) for values in (self.first, self.second)
        )
        return first, second

    @property
    def ranked(self) -> Ranked:
        first, second = (
            int(np.count_nonzero(~np.isnan(side[self.counting])))
            for side in (self.of_first, self.of_second)
        )
        return Ranked(int(self.counting.sum()), first, second)

    def at(self, places: Sequence[int] | IntArray) -> "SameDocuments":
        """Select documents by position, in this order."""
        chosen = np.asarray(places, dtype=np.int64)
        weight = None if self.weight is None else self.weight[chosen]
        group = None if self.group is None else self.group[chosen]
        return SameDocuments(
            self.counting[chosen],
            self.counts[chosen],
            self.of_first[chosen],
            self.of_second[chosen],
            weight,
            group,
        )

    @cached_property
    def independent(self) -> tuple[FloatArray, FloatArray | None]:
        """The differences of units that are independent, and their weights: documents, or groups
        with the mean and the sum of the weights of their documents."""
        if self.group is None:
            return self.difference, self.weight
        _groups, indexes = np.unique(self.group, return_inverse=True)
        weight = np.ones(len(indexes)) if self.weight is None else self.weight
        counted = np.where(np.isnan(self.difference), 0.0, weight)
        total = sums(indexes, np.nan_to_num(self.difference) * counted, len(_groups))
        of_groups = sums(indexes, counted, len(_groups))
        return mean_of(total, of_groups), of_groups


def on_same_documents(
    outputs: Outputs,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    coefficient: Coefficient = "spearman",
) -> SameDocuments:
    """Compare two judges on the outputs that both scored and people rated.

    Args:
        human, first, second: shape (outputs,), NaN for missing.
    """
    outputs, (human, *judges) = complete(outputs, human, first, second)
    sides = [coefficients_by_document(outputs, human, side, coefficient) for side in judges]
    return SameDocuments(
        outputs.documents_ranked(human),
        outputs.by_document(),
        sides[0],
        sides[1],
        outputs.document_weight,
        outputs.group,
    )


def ranked_by_document(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient = "spearman"
) -> FloatArray:
    """Return a judge's coefficient in each document in which people rank anything, 0 where it ties
    all outputs; NaN elsewhere. Shape (documents,).

    Args:
        human, judge: shape (outputs,), NaN for missing; for a comparison, judges need the same
            outputs.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    coefficients = coefficients_by_document(outputs, human, judge, coefficient)
    return ties_as_0(coefficients, outputs.documents_ranked(human))


def ties_as_0(by_document: FloatArray, counting: np.ndarray) -> FloatArray:
    """Return a judge's coefficients with 0 where only the judge ties all outputs; shape
    (documents,).

    Args:
        by_document: coefficients from `coefficients_by_document`.
        counting: in which documents people rank anything.
    """
    return np.where(counting, np.nan_to_num(by_document), np.nan)


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
