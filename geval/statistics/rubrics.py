"""Rubrics: criteria whose items are other criteria, of pass or fail, and their totals."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from geval.statistics.scales import ROUNDING, Scale
from geval.statistics.types import FloatArray


@dataclass(frozen=True)
class RubricItem:
    """A criterion of pass or fail, by its id, with its weight in a rubric."""

    pk: int
    scale: Scale
    weight: float = 1.0

    def shares(self, values: FloatArray) -> FloatArray:
        """Return where values are between the points, from 0 to 1; NaN off the scale."""
        shares = (values - self.scale.lowest) / (self.scale.highest - self.scale.lowest)
        return np.where((shares >= -ROUNDING) & (shares <= 1 + ROUNDING), shares, np.nan)

    def passes(self, values: FloatArray) -> FloatArray:
        """Return 1 from the middle of the scale on, as `pass_fail` counts passes, and 0 below it;
        NaN for missing values, and off the scale."""
        shares = self.shares(values)
        return np.where(np.isnan(shares), np.nan, shares >= 1 / 2)


@dataclass(frozen=True)
class Rubric:
    """A criterion, by its id, whose ratings and scores are computed from those of its items."""

    pk: int
    scale: Scale
    items: tuple[RubricItem, ...]

    def totals(self, passed: FloatArray, not_applicable: np.ndarray) -> FloatArray:
        """Return the total of each cell, such as one person's answers about an output: the weighted
        share of passed items among those that apply, on a straight line from the lowest to the
        highest point of the scale; shape (cells,).

        It is NaN where an item that applies has no answer, and where no item applies.

        Args:
            passed: shape (items, cells), from 0 for a fail to 1 for a pass, NaN for no answer.
            not_applicable: a mask of the answers "n/a", of the same shape.
        """
        weights = np.array([item.weight for item in self.items])[:, None]
        counting = np.where(not_applicable, 0.0, weights)
        reached = (counting * np.where(not_applicable, 0.0, passed)).sum(axis=0)
        with np.errstate(invalid="ignore"):
            share = reached / counting.sum(axis=0)
        total: FloatArray = self.scale.lowest + share * (self.scale.highest - self.scale.lowest)
        return total


def with_items(rubrics: Iterable[Rubric], criteria: Collection[int]) -> list[int]:
    """Return ids of criteria, and after them those of all items of the rubrics among them."""
    items = (item.pk for rubric in rubrics if rubric.pk in criteria for item in rubric.items)
    return list(dict.fromkeys([*criteria, *items]))
