"""Convert lists of (document, system, value) to the tables that statistics use."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Means that are equal as fractions differ in their last bits as floats; ties are decided on the
# exact means.
DIGITS = 10


def table(
    documents: IntArray, systems: IntArray, values: FloatArray, *, shape: tuple[int, int]
) -> FloatArray:
    """A (documents, systems) table of values, NaN where there is none; of several values for a cell
    the last counts.

    Args:
        documents, systems: shape (n,), positions in the table.
        values: shape (n,).
    """
    filled = np.full(shape, np.nan)
    filled[documents, systems] = values
    return filled


def rater_tables(
    documents: IntArray,
    systems: IntArray,
    raters: IntArray,
    values: FloatArray,
    *,
    shape: tuple[int, int, int],
) -> FloatArray:
    """A (raters, documents, systems) array of ratings, NaN where a rater gave none."""
    filled = np.full(shape, np.nan)
    filled[raters, documents, systems] = values
    return filled


def mean_over_raters(ratings: FloatArray) -> FloatArray:
    """The mean rating of each cell over those who rated it.

    Args:
        ratings: shape (raters, documents, systems), NaN for missing.

    Returns:
        Shape (documents, systems), rounded to 10 decimals so that means which are equal as
            fractions are equal here
        too; NaN where nobody rated.
    """
    present = ~np.isnan(ratings)
    count = present.sum(axis=0)
    total = np.where(present, ratings, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, np.round(total / count, DIGITS), np.nan)
