"""Ratings and scores within systems: less their system's mean, so that what is left is what reading
a text adds to knowing who wrote it; and what it adds to knowing the text's length as well.

Whoever knows how good a system's other outputs were found ranks its new ones well across systems,
and not at all within one; who knows its length as well, does so within one, too.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.coefficients import ranks
from geval.statistics.correlation import Level
from geval.statistics.distributions import t_tail
from geval.statistics.thresholds import WITHIN_OUTPUTS, WITHIN_SYSTEMS
from geval.statistics.types import DIGITS, FloatArray, IntArray

# Pieces of the line over lengths, and outputs for each: enough for a length that is best.
MOST_PIECES, OUTPUTS_A_PIECE = 20, 5
# A smaller share of a side's variation is what rounding left.
NOTHING_LEFT = 1e-8


def outputs_within(outputs: Outputs, human: FloatArray, scores: FloatArray) -> np.ndarray | None:
    """Return a mask of the rated and scored outputs of systems with enough of these; shape
    (outputs,). None where fewer than `WITHIN_SYSTEMS` systems have `WITHIN_OUTPUTS` each.

    Args:
        human, scores: shape (outputs,), NaN for missing.
    """
    complete = ~np.isnan(human + scores)
    enough = sums(outputs.system[complete], None, outputs.systems) >= WITHIN_OUTPUTS
    if enough.sum() < WITHIN_SYSTEMS:
        return None
    return complete & enough[outputs.system]


def level_within(outputs: Outputs, counting: np.ndarray, points: int = 0) -> Level:
    """Return the level at which outputs are ranked within systems: the summary level, where a
    document has several of those that count. On a scale of two points most outputs of a document
    are tied, and less their systems' means they would be in the order of these: all outputs are
    taken at once there, with Pearson's r, which does not rank.

    Args:
        counting: a mask of shape (outputs,).
        points: of the scale, where that is known.
    """
    if points == 2:
        return "dataset"
    several = outputs.by_document(counting.astype(float)).max(initial=0) > 1
    return "summary" if several else "dataset"


def less_system_means(outputs: Outputs, values: FloatArray) -> FloatArray:
    """Return each value less the mean of its system's values; shape (outputs,), NaN for missing."""
    present = ~np.isnan(values)
    less = np.full(len(values), np.nan)
    less[present] = _less_group_means(outputs.system[present], values[present], outputs.systems)
    return less


@lru_cache(maxsize=4)
def ratings_within_systems(outputs: Outputs, ratings: Ratings) -> Ratings:
    """Return each rating less the mean of the rater's ratings of its system. It is cached for all
    judges on a criterion."""
    group = ratings.rater * np.int64(outputs.systems) + outputs.system[ratings.output]
    less = _less_group_means(group, ratings.value, ratings.raters * outputs.systems)
    return Ratings(ratings.output, ratings.rater, less, ratings.outputs, ratings.raters)


def p_beyond_length(
    outputs: Outputs, human: FloatArray, scores: FloatArray, words: FloatArray, *, by_system: bool
) -> float | None:
    """Return p of the one-sided test that scores follow people's mean no more than by what the
    length of a text tells, and by what it has in common with the document's other outputs, or where
    there are none with its group. None if all lengths are equal and nothing is in groups.

    What length tells is a broken line over the order of lengths, so that neither long nor short
    texts have to be the better ones, fitted by least squares to people's and to the judge's ranks;
    the test is of the partial correlation (Pearson's r), a t test of its numerator clustered by
    document. Ranks of what is left would not do: on few points they are in the order of what was
    taken off.

    Args:
        human, scores: shape (outputs,), NaN for missing.
        words: shape (outputs,), the length of each text, NaN where it is not known.
        by_system: whether ranks, lines and means are each system's own.
    """
    complete = np.flatnonzero(~np.isnan(human + scores))
    system = outputs.system[complete] if by_system else np.zeros(len(complete), dtype=np.int64)
    own_words = words[complete]
    is_equal = len(np.unique(own_words[~np.isnan(own_words)])) < 2
    if not by_system and is_equal and outputs.group is None:
        return None
    strata = [np.flatnonzero(system == each) for each in np.unique(system)]
    left = np.column_stack([human[complete], scores[complete]])
    fits = []
    for rows in strata:
        left[rows] = np.column_stack([ranks(side) for side in left[rows].T]) / len(rows)
        fits.append(np.linalg.qr(_broken_line(own_words[rows]))[0])
    unit = outputs.document[complete]
    if outputs.group is not None:
        is_alone = np.bincount(unit)[unit] == 1
        unit = np.where(is_alone, outputs.documents + outputs.group[unit], unit)
    _names, unit, size = np.unique(unit, return_inverse=True, return_counts=True)
    spread = left.var(axis=0)
    left = _less_lines_and_means(left, strata, fits, unit, size)
    if (left.var(axis=0) <= NOTHING_LEFT * spread).any():
        return 1.0
    clusters, cluster = np.unique(outputs.clustered.document[complete], return_inverse=True)
    of_cluster = sums(cluster, np.round(left.prod(axis=1), DIGITS), len(clusters))
    # Fitted lines take up some of what varies; means of documents and groups are within clusters.
    fitted = sum(basis.shape[1] for basis in fits)
    error = float(np.sqrt((of_cluster**2).sum() * len(left) / max(1, len(left) - fitted)))
    if len(clusters) < 2 or not error:
        return 1.0
    return float(t_tail(of_cluster.sum() / error, len(clusters) - 1))


def _less_lines_and_means(
    left: FloatArray,
    strata: Sequence[IntArray],
    fits: Sequence[FloatArray],
    unit: IntArray,
    size: IntArray,
) -> FloatArray:
    """Return values less what lines of strata and means of units fit together, by least squares;
    shape (outputs, sides). The means are taken off first (Frisch and Waugh, 1933).

    Args:
        strata, fits: the outputs of each stratum, and an orthonormal basis of its lines.
        unit: shape (outputs,), of `size` outputs each; those of one output have no mean.
    """
    scale = np.where(size > 1, 1 / np.sqrt(size), 0.0)

    def by_unit(rows: IntArray, columns: FloatArray) -> FloatArray:
        totals = [sums(unit[rows], column, len(size)) for column in columns.T]
        return np.column_stack(totals) * scale[:, None]

    lines = np.hstack([by_unit(rows, basis) for rows, basis in zip(strata, fits, strict=True)])
    sides = by_unit(np.arange(len(left)), left)
    onto = np.vstack([basis.T @ left[rows] for rows, basis in zip(strata, fits, strict=True)])
    normal = np.eye(lines.shape[1]) - lines.T @ lines
    slopes = np.linalg.lstsq(normal, onto - lines.T @ sides, rcond=1e-10)[0]
    fitted, start = np.zeros_like(left), 0
    for rows, basis in zip(strata, fits, strict=True):
        fitted[rows] = basis @ slopes[start : start + basis.shape[1]]
        start += basis.shape[1]
    means = (sides - lines @ slopes) * scale[:, None]
    return left - fitted - means[unit]


def _broken_line(words: FloatArray) -> FloatArray:
    """Return columns that span the broken lines over the order of lengths, constants included;
    shape (outputs, columns)."""
    is_known = ~np.isnan(words)
    constant = np.ones((len(words), 1))
    if len(np.unique(words[is_known])) < 2:
        return constant
    # A text of unknown length is neither long nor short.
    order = ranks(np.where(is_known, words, np.median(words[is_known]))) / len(words)
    pieces = int(np.clip(len(words) // OUTPUTS_A_PIECE, 1, MOST_PIECES))
    breaks = np.arange(pieces) / pieces
    return np.hstack([constant, np.maximum(order[:, None] - breaks, 0.0)])


def _less_group_means(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    means = mean_of(sums(group, values, groups), sums(group, None, groups))
    return np.round(values - means[group], DIGITS)
