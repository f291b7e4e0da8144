"""How far people mark the same parts of texts.

Characters that nobody marked are no agreement worth counting and have no natural number, so that
kappa tends to the F1 of two annotators (Hripcsak and Rothschild, 2005, "Agreement, the F-measure,
and reliability in information retrieval").
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluations.statistics.jackknife import LeftOut, no_interval
from evaluations.statistics.layout import mean_of, sums
from evaluations.statistics.pairing import FloatArray, IntArray
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate

LEAST_TEXTS = 10
FEW_TEXTS = f"fewer than {LEAST_TEXTS} outputs were marked by two people"


@dataclass(frozen=True)
class MarkedText:
    """What people marked in a text: by annotator, the spans [start, end) in characters."""

    document: int
    spans: dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class SpanAgreement:
    """F1 over characters of all pairs of people, over `texts` that two people marked: `pairs`
    of people, each in one text."""

    f1: Estimate
    interval: Interval
    texts: int
    pairs: int


def span_agreement(texts: Iterable[MarkedText], documents: int) -> SpanAgreement:
    """Pairwise F1: twice the characters that both marked, by the sum of what each marked.

    Args:
        documents: how many there are, the units of the interval.
    """
    rows = [
        (number, text.document, both, first + second)
        for number, text in enumerate(texts)
        for both, first, second in _overlaps(list(text.spans.values()))
    ]
    found = len({number for number, *_rest in rows})
    if found < LEAST_TEXTS:
        return SpanAgreement(
            Estimate.undefined(FEW_TEXTS), no_interval(FEW_TEXTS), found, len(rows)
        )
    _number, document, both, total = np.array(rows).T
    by_document = [sums(document, one.astype(float), documents) for one in (2 * both, total)]
    f1 = float(by_document[0].sum() / by_document[1].sum())
    return SpanAgreement(Estimate(f1), _interval(f1, document, by_document), found, len(rows))


def _interval(f1: float, document: IntArray, by_document: Sequence[FloatArray]) -> Interval:
    used = np.unique(document)
    left_out = LeftOut.each(len(used))
    both, total = (left_out.sums(one[used]) for one in by_document)
    return left_out.interval(f1, mean_of(both, total), counting=len(used))


def _overlaps(
    annotators: Sequence[list[tuple[int, int]]],
) -> Iterable[tuple[int, int, int]]:
    """Of each two people: how many characters both marked, and each."""
    marked = [_characters(spans) for spans in annotators]
    for first, second in itertools.combinations(marked, 2):
        yield len(first & second), len(first), len(second)


def _characters(spans: Iterable[tuple[int, int]]) -> set[int]:
    return set().union(*(range(start, end) for start, end in spans))
