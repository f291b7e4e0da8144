"""How often two raters (people or judges) make the same choice between two outputs.

The definition is MT-bench's (Zheng et al., 2023, section 4.2): the share of pairs of choices about
the same comparison, by different individuals, that are equal. Setup S1 has all choices, a tie being
one of three; setup S2 has only pairs of choices of which neither is a tie. Evenly spread random
choices agree in a third of pairs in S1, and in half in S2.

A choice is 1 (the first output), -1 (the second) or 0 (a tie).
"""

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from geval.statistics.jackknife import LeftOut, mapped, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import CHOICES_OF_EACH, INTERVAL_DOCUMENTS
from geval.statistics.types import Estimate, FloatArray

# One pair of choices about the same comparison: its document, and both choices.
ChoicePair = tuple[Hashable, int, int]
NOBODY = "no comparison was made by both"
ONE_SIDED = f"fewer than {CHOICES_OF_EACH} documents have a pair that agrees, or one that does not"
# Sums of probabilities are inexact as floats: a lead this small is a tie.
SAME = 1e-9
ONLY_TIES = "every pair of choices has a tie"


@dataclass(frozen=True)
class Agreed:
    """The share of equal pairs of choices, its interval over documents, and the numbers of pairs
    and documents."""

    estimate: Estimate
    interval: Interval
    pairs: int
    documents: int


@dataclass(frozen=True)
class ChoiceAgreement:
    """Agreement with ties (MT-bench's setup S1) and without (S2)."""

    with_ties: Agreed
    without_ties: Agreed


@dataclass(frozen=True)
class PairChoice:
    """A rater's choice in a comparison (two outputs of a document on a criterion)."""

    document: Hashable
    comparison: Hashable
    rater: Hashable
    value: int


def agreement_among(choices: Iterable[PairChoice]) -> ChoiceAgreement:
    """Return how often two different raters of a comparison agree; each pair of raters weighs the
    same."""
    by_comparison: dict[Hashable, list[PairChoice]] = defaultdict(list)
    for choice in choices:
        by_comparison[choice.comparison].append(choice)
    return agreement_of(
        (first.document, first.value, second.value)
        for made in by_comparison.values()
        for first, second in itertools.combinations(made, 2)
        if first.rater != second.rater
    )


def agreement_with(
    verdicts: Mapping[Hashable, int], choices: Iterable[PairChoice]
) -> ChoiceAgreement:
    """Return how often a judge agrees with a rater.

    Args:
        verdicts: the judge's choice by comparison.
    """
    return agreement_of(
        (choice.document, verdicts[choice.comparison], choice.value)
        for choice in choices
        if choice.comparison in verdicts
    )


def agreement_of(pairs: Iterable[ChoicePair]) -> ChoiceAgreement:
    """Agreement in pairs of choices, with their intervals."""
    listed = list(pairs)
    decided = [pair for pair in listed if pair[1] and pair[2]]
    return ChoiceAgreement(
        _agreed(listed, NOBODY), _agreed(decided, ONLY_TIES if listed else NOBODY)
    )


def _agreed(pairs: list[ChoicePair], why_none: str) -> Agreed:
    if not pairs:
        return Agreed(Estimate.undefined(why_none), no_interval(why_none), 0, 0)
    places: dict[Hashable, int] = {}
    indexes = np.array([places.setdefault(document, len(places)) for document, _, _ in pairs])
    equal = np.array([first == second for _, first, second in pairs], dtype=float)
    counted: FloatArray = np.bincount(indexes, weights=equal).astype(np.float64)
    of: FloatArray = np.bincount(indexes).astype(np.float64)
    return Agreed(
        Estimate(float(equal.mean())), share_interval(counted, of), len(pairs), len(places)
    )


def share_interval(counted: FloatArray, of: FloatArray) -> Interval:
    """Return the interval over documents of a share, a ratio of two sums: the jackknife on
    log-odds, as the plain one is too narrow for shares near 1.

    Args:
        counted, of: shape (documents,), counted cases and all cases of each document.
    """
    documents = LeftOut.each(len(of))
    fewest = min(np.count_nonzero(counted), np.count_nonzero(of - counted))
    if len(of) >= INTERVAL_DOCUMENTS and fewest < CHOICES_OF_EACH:
        return no_interval(ONE_SIDED)
    left_out = _log_odds(documents.sums(counted), documents.sums(of))
    on_log_odds = documents.interval(
        float(_log_odds(counted.sum(), of.sum())), left_out, counting=len(of)
    )
    return mapped(on_log_odds, lambda end: float(special.expit(end)))


def _log_odds(counted: FloatArray, of: FloatArray) -> FloatArray:
    """Return log-odds with half a case added to each side (Haldane, 1956), as shares may be 0 or
    1."""
    odds: FloatArray = np.log((counted + 0.5) / (of - counted + 0.5))
    return odds


def decided(value: float, tie: float, left: float | None) -> int:
    """Return a pairwise judge's verdict as a choice: what it prefers in both orders, else a tie.

    MT-bench counts a verdict that changes with the order as a tie.

    Args:
        value: the probability that the first is better, a tie counting half.
        tie: the probability of a tie.
        left: the preference for the text shown first, over both orders; None if only one order was
            asked.
    """
    bias = 0.0 if left is None else left - 0.5
    in_order, exchanged = value + bias, value - bias
    wins = max(value, 1 - value) - tie / 2
    if tie >= wins - SAME:
        return 0
    if min(in_order, exchanged) > 0.5 + SAME:
        return 1
    return -1 if max(in_order, exchanged) < 0.5 - SAME else 0
