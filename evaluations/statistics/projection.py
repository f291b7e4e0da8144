"""What to rate next: how far more ratings would narrow an interval."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.layout import Outputs, complete, equal_pairs
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
    if interval.width is None or not documents:
        return ()
    half = interval.width / 2
    if half <= 0:
        return ()
    found = []
    for share in NARROWER:
        more = int(np.ceil(documents * (1 / share**2 - 1)))
        found.append(Projection(half * share, more, int(np.ceil(more * ratings_per_document))))
    return tuple(found)


def half_width_with(half_width: float, *, documents: int, wanted: float) -> float:
    """How wide plus or minus would be with another number of documents like these.

    Standard errors of means over documents shrink with the square root of how many there are, and
    Student's t with few of them is larger.

    Args:
        half_width: of the 95 % interval with as many `documents`; both counts are at least 2.
    """
    t = stats.t.ppf(0.975, np.array([wanted - 1, documents - 1]))
    return float(half_width * np.sqrt(documents / wanted) * t[0] / t[1])


def documents_for(half_width: float, *, documents: int, goal: float) -> int | None:
    """The least number of documents with which an interval would be at most plus or minus `goal`;
    None for more than a million."""
    low, high = 2, 1_000_000
    if half_width_with(half_width, documents=documents, wanted=high) > goal:
        return None
    while low < high:
        middle = (low + high) // 2
        if half_width_with(half_width, documents=documents, wanted=middle) <= goal:
            high = middle
        else:
            low = middle + 1
    return low


def document_gains(outputs: Outputs, human: FloatArray, judge: FloatArray) -> FloatArray:
    """How much rating each document would tell of a summary-level correlation; shape (documents,),
    NaN where rated.

    A document tells as much as the judge tells its outputs apart: where all scores are the same
    there is no correlation to be had. The gain is the share of pairs of outputs that the judge does
    not tie.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    is_rated = outputs.documents_with(~np.isnan(human))
    outputs, (judge,) = complete(outputs, judge)
    found = np.full(outputs.documents, np.nan)
    for block in outputs.blocks:
        if block.size < 2:
            continue
        scores = np.sort(judge[block.members], axis=1)
        found[block.groups] = 1 - equal_pairs(scores) / (block.size * (block.size - 1) / 2)
    return np.where(is_rated, np.nan, found)
