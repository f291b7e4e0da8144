"""What to rate next: how much more ratings would narrow an interval, as expected and as a promise.

The variance of documents is itself estimated from few of them. From twenty, the expected number of
documents is off by a quarter and more, so a second number is enough in nine of ten cases: the
variance that future documents add, relative to that of the present ones, follows Fisher's F with
the number of future documents and that of the present ones minus one as degrees of freedom (Wang
and Kupper 1997, for planned widths). For weighted documents the variance is less well known
(`weighted.freedom_share`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, complete, equal_pairs
from geval.statistics.distributions import f_ppf, t_ppf
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import CONFIDENCE, PROMISE
from geval.statistics.types import FloatArray

NARROWER = (0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Projection:
    """How many more rated documents (and ratings) are expected to narrow the interval to plus or
    minus `half_width`; the promised numbers are enough in nine of ten cases."""

    half_width: float
    documents: int
    ratings: int
    promised_documents: int
    promised_ratings: int


def projections(
    interval: Interval, *, documents: int, ratings_per_document: float, freedom: float = 1.0
) -> tuple[Projection, ...]:
    """Return how many more ratings narrow an interval to three quarters, a half and a quarter of
    its width, if the new documents are like the old ones.

    Args:
        documents: how many are rated and scored, including documents that do not count because all
            their outputs have the same rating or score, as later ones will include such documents
            too.
        freedom: as for `half_width_with`.
    """
    if interval.width is None or documents < 2:
        return ()
    half = interval.width / 2
    if half <= 0:
        return ()
    projected = []
    for share in NARROWER:
        likely, promised = (
            documents_for(
                half, documents=documents, goal=half * share, assurance=assurance, freedom=freedom
            )
            for assurance in (None, PROMISE)
        )
        if likely is None or promised is None:
            continue
        more = [likely - documents, promised - documents]
        ratings = [int(np.ceil(size * ratings_per_document)) for size in more]
        projected.append(Projection(half * share, more[0], ratings[0], more[1], ratings[1]))
    return tuple(projected)


def half_width_with(
    half_width: float,
    *,
    documents: int,
    wanted: float,
    assurance: float | None = None,
    freedom: float = 1.0,
) -> float:
    """Return the half-width with another number of documents like these.

    Standard errors of means over documents shrink with the square root of how many there are, and
    Student's t with few of them is larger.

    Args:
        half_width: of the 95 % interval with as many `documents`; both counts are at least 2.
        assurance: the probability with which it will be no wider; None for the likely width.
        freedom: what each document tells of how much they vary, 1 where all count alike; what is
            promised depends on it.
    """
    tells = np.array([wanted, documents]) * (1.0 if assurance is None else freedom)
    t = t_ppf((1 + CONFIDENCE) / 2, np.maximum(tells - 1, 1.0))
    likely = float(half_width * np.sqrt(documents / wanted) * t[0] / t[1])
    if assurance is None or wanted <= documents:
        return likely
    old, new = max(1.0, tells[1] - 1), tells[0] - tells[1]
    variance = float(f_ppf(assurance, new, old))
    return likely * float(np.sqrt((old + new * variance) / (old + new)))


def documents_for(
    half_width: float,
    *,
    documents: int,
    goal: float,
    assurance: float | None = None,
    freedom: float = 1.0,
) -> int | None:
    """Return the least number of documents with which an interval would be at most plus or minus
    `goal`; None for more than a million.

    Args:
        assurance, freedom: as for `half_width_with`.
    """

    def width(wanted: int) -> float:
        return half_width_with(
            half_width, documents=documents, wanted=wanted, assurance=assurance, freedom=freedom
        )

    low, high = 2, 1_000_000
    return None if width(high) > goal else least(lambda wanted: width(wanted) <= goal, low, high)


def least(is_enough: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least count from `low` that is enough; `high` must be enough, and so must every
    count above one that is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def document_gains(outputs: Outputs, human: FloatArray, judge: FloatArray) -> FloatArray:
    """Return how informative rating each document would be for a summary-level correlation; shape
    (documents,), NaN where rated.

    The more the judge distinguishes a document's outputs, the more informative it is: where all
    scores are equal there is no correlation. The gain is the share of pairs of outputs that the
    judge does not tie.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    is_rated = outputs.documents_with(~np.isnan(human))
    outputs, (judge,) = complete(outputs, judge)
    gains = np.full(outputs.documents, np.nan)
    for block in outputs.blocks:
        if block.size < 2:
            continue
        scores = np.sort(judge[block.members], axis=1)
        gains[block.groups] = 1 - equal_pairs(scores) / (block.size * (block.size - 1) / 2)
    return np.where(is_rated, np.nan, gains)
