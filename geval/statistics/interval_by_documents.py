"""How the interval of a summary-level correlation narrows as documents arrive."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.anytime import AnytimeInterval, confidence_sequence
from geval.statistics.correlation import mean_of_documents
from geval.statistics.jackknife import LeftOut, within
from geval.statistics.thresholds import INTERVAL_DOCUMENTS
from geval.statistics.types import FloatArray

# Each step takes an interval to compute, and a figure of a column's width shows no more.
MOST_STEPS = 30


@dataclass(frozen=True)
class NarrowingStep:
    """The mean over the first `documents` with a coefficient, its 95 % interval, and the ends that
    are valid at all steps simultaneously."""

    documents: int
    value: float
    low: float
    high: float
    anytime: AnytimeInterval


def narrowing(
    by_document: FloatArray,
    weight: FloatArray | None = None,
    *,
    largest: float | None = None,
    most: int = MOST_STEPS,
) -> tuple[NarrowingStep, ...]:
    """Return the correlation after ten documents and more, with the interval that a report would
    give.

    Each interval is valid for its number of documents: stopping at the first one that pleases is
    wrong more often than one time in twenty, but not with the anytime-valid ends.

    Args:
        by_document: shape (documents,), in order of arrival; NaN for one without a coefficient,
            which does not count.
        weight: shape (documents,), the documents' sampling weights.
        largest: the largest possible weight of a document; None if these documents are all.
        most: the most steps; the last has all documents.
    """
    counts = ~np.isnan(by_document)
    values, weights = by_document[counts], None if weight is None else weight[counts]
    if len(values) < INTERVAL_DOCUMENTS:
        return ()
    sizes = np.unique(np.linspace(INTERVAL_DOCUMENTS, len(values), most).round().astype(int))
    steps = []
    always = anytime_mean(values, sizes.tolist(), weights, largest=largest)
    for count, anytime in zip(sizes.tolist(), always, strict=True):
        first, of_first = values[:count], None if weights is None else weights[:count]
        interval = LeftOut.each(count).mean_interval(first, weight=of_first)
        if interval.ends is not None:
            low, high = within(interval, -1.0, 1.0).ends or interval.ends
            steps.append(
                NarrowingStep(count, mean_of_documents(first, of_first), low, high, anytime)
            )
    # The last step is the current state; without it an earlier one would be taken for it.
    return tuple(steps) if steps and steps[-1].documents == len(values) else ()


def anytime_mean(
    values: FloatArray,
    at: Sequence[int],
    weight: FloatArray | None,
    *,
    largest: float | None = None,
    most: float = 1.0,
) -> tuple[AnytimeInterval, ...]:
    """Return the anytime-valid ends of a mean of coefficients after some numbers of documents.

    The rated documents were drawn before any is judged, so the largest weight is known before the
    first bet. Bets by the largest weight so far would be too high before the first document with a
    large weight: they missed the true value in 8 % of runs with weights of 1 and 100.

    Args:
        values: shape (documents,), complete; `weight` as well, None where all are equal.
        largest: the largest weight of all rated documents; None if these are all.
        most: the largest possible absolute value.
    """
    if weight is not None and largest is None:
        largest = float(weight.max())
    return confidence_sequence(
        values, at, lowest=-most, highest=most, weight=weight, largest=largest or 1.0
    )
