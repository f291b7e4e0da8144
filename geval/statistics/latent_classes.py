"""Dawid and Skene's model: ratings as labels of an unknown class of each output.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
algorithm": outputs have classes of unknown frequency; each annotator has a table of how often they
give each value to outputs of each class. Estimated by EM from the shares of votes. `SMOOTHING`
ratings are added to every cell of a table and to every class, so that a class an annotator never
met says nothing about them.

Values of the scale are unordered categories, and annotators independent given an output's class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from geval.statistics.arrays import Ratings, sums
from geval.statistics.thresholds import (
    CLASSES_OUTPUTS,
    CLASSES_RATERS,
    CLASSES_SHARED,
    RATING_VALUES,
    SPLIT,
)
from geval.statistics.types import FloatArray, IntArray

MOST_ROUNDS, CHANGE = 300, 1e-5
SMOOTHING = 0.1
FEW_RATERS = f"fewer than {CLASSES_RATERS} annotators share {CLASSES_SHARED} outputs with others"
FEW_OUTPUTS = f"fewer than {CLASSES_OUTPUTS} outputs have ratings by two annotators"
ONE_VALUE = "all ratings are the same"
MANY_VALUES = f"ratings take more than {RATING_VALUES} values, too many for categories"


@dataclass(frozen=True, eq=False)
class Labels:
    """Ratings as labels. `item`, `rater` and `code` have shape (ratings,), ordered by item;
    `values` are the categories."""

    item: IntArray
    rater: IntArray
    code: IntArray
    values: FloatArray
    items: int
    raters: int

    @classmethod
    def of(cls, ratings: Ratings) -> "Labels":
        values, code = np.unique(ratings.value, return_inverse=True)
        rated, item = np.unique(ratings.output, return_inverse=True)
        return cls(item, ratings.rater, code, values, len(rated), ratings.raters)

    @property
    def classes(self) -> int:
        return len(self.values)

    @cached_property
    def cell(self) -> IntArray:
        """The rater and code of each rating as a single number."""
        return self.rater * self.classes + self.code

    @cached_property
    def _first(self) -> IntArray:
        return np.searchsorted(self.item, np.arange(self.items))

    def over_items(self, of_rating: FloatArray) -> FloatArray:
        """Sums over the ratings of each item; shape (items, ...) for (ratings, ...)."""
        sums: FloatArray = np.add.reduceat(of_rating, self._first, axis=0)
        return sums

    def counts(self, posterior: FloatArray) -> FloatArray:
        """Return how often each rater gave each code to items of each class; shape (raters, codes,
        classes)."""
        columns = [
            sums(self.cell, posterior[self.item, index], self.raters * self.classes)
            for index in range(self.classes)
        ]
        return np.stack(columns, axis=-1).reshape(self.raters, self.classes, self.classes)

    def majority(self) -> FloatArray:
        """Return the share of each item's ratings that are of each class; shape (items,
        classes)."""
        share = self.over_items(np.eye(self.classes)[self.code])
        majority: FloatArray = share / share.sum(axis=1, keepdims=True)
        return majority


def dawid_skene(labels: Labels, begin: FloatArray, *, smoothing: float = SMOOTHING) -> FloatArray:
    """Fit Dawid and Skene's model; return each item's probability of each class.

    Args:
        begin: shape (items, classes), initial probabilities of classes.
        smoothing: how many ratings are added to each cell.
    """
    posterior = begin
    for _ in range(MOST_ROUNDS):
        common, table = _maximized(labels, posterior, smoothing)
        with np.errstate(divide="ignore"):
            logs = np.log(table).reshape(-1, labels.classes)[labels.cell]
            renewed = special.softmax(np.log(common) + labels.over_items(logs), axis=-1)
        change = np.abs(renewed - posterior).max()
        posterior = renewed
        if change < CHANGE:
            break
    return posterior


def _maximized(
    labels: Labels, posterior: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Return the frequency of each class, shape (classes,), and the probability with which each
    rater gives each code to each class, shape (raters, codes, classes)."""
    common = posterior.sum(axis=0) + smoothing
    given = labels.counts(posterior) + smoothing
    total = given.sum(axis=1, keepdims=True)
    table = np.divide(given, total, out=np.zeros_like(given), where=total > 0)
    return common / common.sum(), table


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """The model's results for outputs, of shape (outputs,) each, NaN for an output without ratings.

    `expected` is the posterior mean of the class's value, `surest` the probability of the most
    likely class, and `likeliest` that class's value. `reason` says why there is no model.
    """

    expected: FloatArray
    surest: FloatArray
    likeliest: FloatArray
    reason: str = ""

    @property
    def split(self) -> IntArray:
        """Return outputs with an unclear class, the least clear first."""
        places = np.flatnonzero(self.surest < SPLIT)
        return places[np.argsort(self.surest[places], kind="stable")]


def latent_classes(ratings: Ratings) -> LatentClasses:
    """Fit the model to all ratings."""
    expected, surest, likeliest = (np.full(ratings.outputs, np.nan) for _ in range(3))
    reason = why_not(ratings)
    if not reason:
        labels = Labels.of(ratings)
        posterior = dawid_skene(labels, labels.majority())
        rated = np.flatnonzero(ratings.count > 0)
        expected[rated] = posterior @ labels.values
        surest[rated] = posterior.max(axis=1)
        likeliest[rated] = labels.values[posterior.argmax(axis=1)]
    return LatentClasses(expected, surest, likeliest, reason)


def why_not(ratings: Ratings) -> str:
    """Return why the model cannot be fitted to ratings; empty if they can."""
    values = len(np.unique(ratings.value))
    if np.count_nonzero(ratings.shared >= CLASSES_SHARED) < CLASSES_RATERS:
        return FEW_RATERS
    if np.count_nonzero(ratings.count > 1) < CLASSES_OUTPUTS:
        return FEW_OUTPUTS
    if values < 2:
        return ONE_VALUE
    return MANY_VALUES if values > RATING_VALUES else ""
