"""How a summary-level correlation becomes known as documents come in."""

from dataclasses import dataclass

import numpy as np

from evaluations.statistics.anytime import Ends, confidence_sequence
from evaluations.statistics.jackknife import LEAST_DOCUMENTS, LeftOut, within
from evaluations.statistics.pairing import FloatArray

MOST_STEPS = 30


@dataclass(frozen=True)
class Step:
    """The mean over the first `documents` with a coefficient, its 95 % interval, and the ends that
    hold at all steps together."""

    documents: int
    value: float
    low: float
    high: float
    anytime: Ends


def narrowing(by_document: FloatArray, *, most: int = MOST_STEPS) -> tuple[Step, ...]:
    """The correlation after ten documents and more, with the interval that a report would give it.

    Each interval is of its own number of documents: who stops at the first one they like is wrong
    more often than one time in twenty, but not with the ends that are valid at any time.

    Args:
        by_document: shape (documents,), in the order in which they came; NaN for one without a
            coefficient, which does not count.
        most: how many steps to take at most; the last is of all documents.
    """
    known = by_document[~np.isnan(by_document)]
    if len(known) < LEAST_DOCUMENTS:
        return ()
    at = np.unique(np.linspace(LEAST_DOCUMENTS, len(known), most).round().astype(int))
    found = []
    always = confidence_sequence(known, at.tolist())
    for count, anytime in zip(at.tolist(), always, strict=True):
        first = known[:count]
        interval = within(LeftOut.each(count).mean_interval(first), -1.0, 1.0)
        if interval.ends is not None:
            found.append(Step(count, float(first.mean()), *interval.ends, anytime))
    return tuple(found)
