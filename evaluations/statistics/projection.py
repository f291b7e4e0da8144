"""What to rate next: how far more ratings would narrow an interval."""

from dataclasses import dataclass

import numpy as np

from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.resampling import Interval

NARROWER = (0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Projection:
    """So many more rated documents (and ratings) would bring the interval to plus or minus
    `half_width`."""

    half_width: float
    documents: int
    ratings: int


def projections(
    interval: Interval, *, documents: int, ratings_per_document: float
) -> tuple[Projection, ...]:
    """How many more ratings bring an interval to three quarters, a half and a quarter of its width.

    Widths of intervals over documents shrink with the square root of how many there are, if the new
    ones are like the old ones.

    Args:
        documents: how many are rated and scored. Those that do not count, because all their outputs
            have the same rating or score, are among them, as they will be among the next.
    """
    if interval.low is None or interval.high is None or not documents:
        return ()
    half = (interval.high - interval.low) / 2
    if half <= 0:
        return ()
    found = []
    for share in NARROWER:
        more = int(np.ceil(documents * (1 / share**2 - 1)))
        found.append(Projection(half * share, more, int(np.ceil(more * ratings_per_document))))
    return tuple(found)


def document_gains(human: FloatArray, judge: FloatArray) -> FloatArray:
    """How much rating each document would tell of a summary-level correlation; shape (documents,),
    NaN where rated.

    A document tells as much as the judge tells its outputs apart: where all scores are the same
    there is no correlation to be had. The gain is the share of pairs of outputs that the judge does
    not tie.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
    """
    is_rated = (~np.isnan(human)).any(axis=1)
    with np.errstate(invalid="ignore"):
        differ = judge[:, :, None] != judge[:, None, :]
    both = ~np.isnan(judge)[:, :, None] & ~np.isnan(judge)[:, None, :]
    pairs = both.sum(axis=(1, 2)) - (~np.isnan(judge)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (differ & both).sum(axis=(1, 2)) / pairs
    return np.where(is_rated | (pairs == 0), np.nan, share)
