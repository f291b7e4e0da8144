"""Bootstrap intervals of summary-, system- and dataset-level correlations over documents, systems,
or both.

Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using
Resampling Methods": documents, systems or both are drawn with replacement; a system drawn twice
ties with itself, by definition. Percentile intervals after Efron (1979).

Coefficients of many resamples of systems are computed at once. Drawing systems repeats columns, so
that ranks and pair orders are sums over systems: with the signs of differences stored as a matrix
per document, a thousand resamples are a single matrix product. The centred rank of a value is half
the sum of its signs against all others, ties counting 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from geval.statistics.arrays import sums
from geval.statistics.correlation import Coefficient, Level, coefficient_of, coefficients_of_rows
from geval.statistics.types import DIGITS, FloatArray, IntArray

Over = Literal["documents", "systems", "both"]
# Percentile intervals need about a thousand (Efron and Tibshirani, 1993).
RESAMPLES = 1000
# More documents are drawn, or swapped between judges, in this many groups: the result is as good,
# and memory does not grow with documents times resamples.
MOST_GROUPS = 2000
# The most cells of resampled tables in memory at a time: 16 MB of floats.
_BLOCK_CELLS = 2_000_000


@dataclass(frozen=True)
class Interval:
    """An interval, or None with the reason."""

    low: float | None
    high: float | None
    reason: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends, or None without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_above_zero(self) -> bool:
        """Whether there is an interval that is completely above 0."""
        ends = self.ends
        return ends is not None and ends[0] > 0

    @property
    def leaves_out_zero(self) -> bool:
        """Whether there is an interval that excludes 0."""
        ends = self.ends
        return ends is not None and (ends[0] > 0 or ends[1] < 0)

    @property
    def width(self) -> float | None:
        return None if self.ends is None else self.ends[1] - self.ends[0]


@dataclass(frozen=True)
class Draws:
    """The documents and systems of each resample; None where that side is not resampled.

    `documents` has shape (resamples, documents), `systems` (resamples, systems).
    """

    documents: IntArray | None
    systems: IntArray | None

    def __len__(self) -> int:
        side = self.documents if self.documents is not None else self.systems
        return 0 if side is None else len(side)

    @cached_property
    def counts(self) -> FloatArray:
        """How often each resample holds each document; shape (resamples, documents)."""
        assert self.documents is not None
        resamples, documents = self.documents.shape
        places = np.arange(resamples)[:, None] * documents + self.documents
        drawn = np.bincount(places.ravel(), minlength=resamples * documents)
        return drawn.reshape(resamples, documents).astype(float)

    @cached_property
    def system_counts(self) -> FloatArray:
        """How often each resample holds each system; shape (resamples, systems)."""
        assert self.systems is not None
        resamples, systems = self.systems.shape
        places = np.arange(resamples)[:, None] * systems + self.systems
        drawn = np.bincount(places.ravel(), minlength=resamples * systems)
        return drawn.reshape(resamples, systems).astype(float)


def draw(
    shape: tuple[int, int], over: Over, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> Draws:
    """Draw resamples of a (documents, systems) table."""
    documents, systems = shape
    return Draws(
        rng.integers(0, documents, (resamples, documents)) if over != "systems" else None,
        rng.integers(0, systems, (resamples, systems)) if over != "documents" else None,
    )


def bootstrap_samples(
    human: FloatArray,
    judge: FloatArray,
    coefficient: Coefficient,
    draws: Draws,
    *,
    level: Level = "summary",
) -> FloatArray:
    """Return a correlation on each resample; NaN where it is undefined there.

    Args:
        human, judge: shape (documents, systems), NaN for missing.

    Returns:
        Shape (resamples,).
    """
    missing = np.isnan(human) | np.isnan(judge)
    human, judge = np.where(missing, np.nan, human), np.where(missing, np.nan, judge)
    if level == "system":
        return _system_level(human, judge, coefficient, draws)
    if level in ("session", "dataset"):  # the same for a table
        tables = (_resampled(human, judge, draws, number) for number in range(len(draws)))
        return np.array([_dataset(x, y, coefficient) for x, y in tables])
    if draws.systems is None:
        return resample_means(coefficients_of_rows(human, judge, coefficient), draws)
    samples = []
    at_once = max(1, _BLOCK_CELLS // max(1, human.size))
    for start in range(0, len(draws), at_once):
        block = slice(start, start + at_once)
        by_document = drawn_coefficients(human, judge, draws.system_counts[block], coefficient).T
        weights = np.ones_like(by_document) if draws.documents is None else draws.counts[block]
        present = ~np.isnan(by_document)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = (weights * np.where(present, by_document, 0.0)).sum(axis=1)
            samples.append(total / (weights * present).sum(axis=1))
    return np.concatenate(samples) if samples else np.empty(0)


def resample_means(
    by_document: FloatArray, draws: Draws, weight: FloatArray | None = None
) -> FloatArray:
    """Return the mean over documents on each resample of documents; shape (resamples,).

    Args:
        by_document: shape (documents,), NaN where a document has no value.
        draws: resamples of the documents, or of fewer groups of them.
        weight: shape (documents,), the sampling weights, which documents keep when drawn.
    """
    groups = draws.counts.shape[1]
    sides = [np.nan_to_num(by_document), (~np.isnan(by_document)).astype(float)]
    if weight is not None:
        sides = [side * weight for side in sides]
    with np.errstate(invalid="ignore", divide="ignore"):
        total, counted = (draws.counts @ in_groups(side, groups) for side in sides)
        means: FloatArray = total / counted
    return means


def in_groups(by_document: FloatArray, groups: int) -> FloatArray:
    """Sum over groups of documents, which are drawn or swapped together where there are many; shape
    (groups,), or unchanged if there are no more documents than groups."""
    if len(by_document) <= groups:
        return by_document
    return sums(np.arange(len(by_document)) % groups, by_document, groups)


def _system_level(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, draws: Draws
) -> FloatArray:
    """Compute system-level coefficients; system means are weighted sums over documents, so all
    resamples are one matrix product."""
    counts = np.ones((len(draws), len(human))) if draws.documents is None else draws.counts
    rated = counts @ (~np.isnan(human)).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [
            np.round((counts @ np.nan_to_num(side)) / rated, DIGITS) for side in (human, judge)
        ]
    if draws.systems is not None:
        means = [np.take_along_axis(side, draws.systems, axis=1) for side in means]
    return coefficients_of_rows(means[0], means[1], coefficient)


def _resampled(
    human: FloatArray, judge: FloatArray, draws: Draws, number: int
) -> tuple[FloatArray, FloatArray]:
    rows = draws.documents[number] if draws.documents is not None else np.arange(human.shape[0])
    columns = draws.systems[number] if draws.systems is not None else np.arange(human.shape[1])
    return human[np.ix_(rows, columns)], judge[np.ix_(rows, columns)]


def _dataset(human: FloatArray, judge: FloatArray, coefficient: Coefficient) -> float:
    present = ~np.isnan(human)
    estimate = coefficient_of(human[present], judge[present], coefficient)
    return np.nan if estimate.value is None else estimate.value


# The sums of squares of equal values are not exactly 0 as floats.
_LEAST = 1e-9


def _signs(rows: FloatArray) -> FloatArray:
    """Return the sign of each value minus each of the others, 0 where one is missing; shape
    (documents, systems, systems)."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.sign(rows[:, :, None] - rows[:, None, :]))


def drawn_coefficients(
    human: FloatArray, judge: FloatArray, counts: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """Return a coefficient for each document and each resample of systems.

    Args:
        human, judge: shape (documents, systems), NaN at the same cells.
        counts: shape (resamples, systems), how often each system was drawn.

    Returns:
        Shape (documents, resamples), NaN where either is constant.
    """
    if coefficient == "pearson":
        return _drawn_pearson(human, judge, counts)
    weights = counts[None, :, :] * (~np.isnan(human)).astype(float)[:, None, :]
    x, y = _signs(human), _signs(judge)
    if coefficient == "spearman":
        ranks = [np.matmul(counts[None], np.swapaxes(side, 1, 2)) for side in (x, y)]
        products = [
            (weights * a * b).sum(axis=2)
            for a, b in ((ranks[0], ranks[1]), (ranks[0],) * 2, (ranks[1],) * 2)
        ]
    else:
        products = [
            (np.matmul(counts[None], matrix) * counts[None]).sum(axis=2)
            for matrix in (x * y, np.abs(x), np.abs(y))
        ]
    return _ratio(products[0], products[1], products[2])


def _drawn_pearson(human: FloatArray, judge: FloatArray, counts: FloatArray) -> FloatArray:
    present = (~np.isnan(human)).astype(float)
    # Values are centred first, so that sums of squares keep their precision.
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (
            np.where(
                present > 0, side - (np.nansum(side, axis=1) / present.sum(axis=1))[:, None], 0.0
            )
            for side in (human, judge)
        )
        n = present @ counts.T
        tables = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
        sums = {name: table @ counts.T for name, table in tables.items()}
        products = [
            sums[a + b] - sums[a] * sums[b] / n for a, b in (("x", "y"), ("x", "x"), ("y", "y"))
        ]
    return _ratio(products[0], products[1], products[2])


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return a correlation from its sums, clipped to [-1, 1]; NaN where either is constant."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = product / np.sqrt(first * second)
    return np.where((first > _LEAST) & (second > _LEAST), np.clip(value, -1.0, 1.0), np.nan)
