"""Agreement of people who mark parts of texts.

Unmarked characters are trivial agreement without a natural number, so that kappa tends to the F1 of
two annotators (Hripcsak and Rothschild, 2005, "Agreement, the F-measure, and reliability in
information retrieval").
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geval.statistics.arrays import mean_of, sums
from geval.statistics.jackknife import LeftOut, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import SPAN_OUTPUTS
from geval.statistics.types import Estimate, FloatArray, IntArray

FEW_TEXTS = f"fewer than {SPAN_OUTPUTS} outputs were marked by two people"


class Mark(NamedTuple):
    """Marked characters [start, end)."""

    start: int
    end: int


@dataclass(frozen=True)
class MarkedText:
    """The marks in a text, by annotator."""

    document: int
    marks: dict[int, list[Mark]]


@dataclass(frozen=True)
class SpanAgreement:
    """Pairwise F1 over characters, over `texts` that two people marked; `pairs` counts pairs of
    people within a text."""

    f1: Estimate
    interval: Interval
    texts: int
    pairs: int


def span_agreement(texts: Iterable[MarkedText], documents: int) -> SpanAgreement:
    """Compute pairwise F1: twice the characters that both marked, over the sum of what each marked.

    Args:
        documents: how many there are, the units of the interval.
    """
    shared = _shared(texts)
    rows = [
        (text.document, overlap, first + second)
        for text in shared
        for overlap, first, second in _overlaps(list(text.marks.values()))
    ]
    if len(shared) < SPAN_OUTPUTS:
        few = Estimate.undefined(FEW_TEXTS)
        return SpanAgreement(few, no_interval(FEW_TEXTS), len(shared), len(rows))
    document, overlap, total = np.array(rows, dtype=float).T
    f1, interval = _ratio(document.astype(int), 2 * overlap, total, documents)
    return SpanAgreement(Estimate(f1), interval, len(shared), len(rows))


def _shared(texts: Iterable[MarkedText]) -> list[MarkedText]:
    """Return the texts of two or more people of whom at least one marked something; in others they
    cannot differ."""
    return [text for text in texts if len(text.marks) > 1 and any(text.marks.values())]


def _ratio(
    document: IntArray, part: FloatArray, whole: FloatArray, documents: int
) -> tuple[float, Interval]:
    """Return the ratio of the sums of parts and wholes, with its interval over documents; shape
    (rows,) each."""
    parts, wholes = (sums(document, lengths, documents) for lengths in (part, whole))
    used = np.unique(document)
    left_out = LeftOut.each(len(used))
    value = float(parts.sum() / wholes.sum())
    without = mean_of(left_out.sums(parts[used]), left_out.sums(wholes[used]))
    return value, left_out.interval(value, without, counting=len(used))


def _overlaps(annotators: Sequence[Sequence[Mark]]) -> Iterable[tuple[int, int, int]]:
    """Yield for each pair of people how many characters both marked, and each of them."""
    end = max((mark.end for marks in annotators for mark in marks), default=0)
    marked = np.zeros((len(annotators), end), dtype=bool)
    for own, marks in zip(marked, annotators, strict=True):
        for mark in marks:
            own[mark.start : mark.end] = True
    sizes = np.count_nonzero(marked, axis=1).tolist()
    for first, second in itertools.combinations(range(len(annotators)), 2):
        yield int(np.count_nonzero(marked[first] & marked[second])), sizes[first], sizes[second]
