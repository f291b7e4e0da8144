"""Mathet, Widlöcher and Métivier's gamma (2015, "The unified and holistic method gamma (γ) for
inter-annotator agreement measure and alignment", Computational Linguistics 41(3)): how far people
mark the same parts of texts with the same categories, beyond chance.

Marks of several people that mean the same are aligned, at most one of each; an alignment's
disorder is the mean dissimilarity of its pairs, where nobody's mark is `ALONE` from everything.
What people did is split into alignments with the least disorder in total. Gamma is one less that
disorder by the disorder of random texts: the same people's marks, moved by chance.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geval.statistics.types import FloatArray, IntArray

# The dissimilarity of a mark and none (the paper's Δ∅); positions and categories count the same.
ALONE = 1.0
# Random texts for each text, as in the paper; fewer where there are many texts, whose sum counts.
DRAWS, ALL_DRAWS = 30, 3000
# Marks and alignments that are looked at in one text; with more it is left out. The time of the
# best alignments grows faster than their number, and they are searched for in each random text.
MOST_MARKS, MOST_ALIGNMENTS = 1000, 2000
# How often another place is tried for marks that came too near to other people's.
TRIES = 20


class Mark(NamedTuple):
    """Characters [start, end) that somebody marked, with the code of a category."""

    start: int
    end: int
    category: int = 0


@dataclass(frozen=True)
class Disorder:
    """Disorder of a text for each mark that a person made on average, as people marked it and as
    they would by chance, and how many these are."""

    observed: float
    expected: float
    marks: float


def disorder_beside_chance(
    people: Sequence[Sequence[Mark]], length: int, draws: int, rng: np.random.Generator
) -> Disorder | None:
    """The disorder of a text and the mean one of random texts; None if there are too many marks.

    Args:
        people: what each marked; at least two people, of whom one or more marked something.
        length: of the text, in characters.
    """
    observed = disorder(people)
    if observed is None:
        return None
    by_chance = []
    for moved in _random(people, length, draws, rng):
        value = disorder(moved)
        if value is None:
            return None
        by_chance.append(value)
    return Disorder(observed, float(np.mean(by_chance)), _marks(people))


def draws_for(texts: int) -> int:
    """How many random texts stand beside each."""
    return int(np.clip(ALL_DRAWS // max(texts, 1), 1, DRAWS))


def disorder(people: Sequence[Sequence[Mark]]) -> float | None:
    """The disorder of the best alignments, by the number of marks that a person made on average;
    None if there are too many marks to look at.

    Args:
        people: what each marked; one mark or more in all.
    """
    if sum(map(len, people)) > MOST_MARKS:
        return None
    person = np.repeat(np.arange(len(people)), [len(marks) for marks in people])
    marks = np.array([mark for own in people for mark in own], dtype=float).reshape(-1, 3)
    gained = _gained(person, dissimilarities(marks), len(people))
    # Each mark in an alignment of its own has a disorder of `ALONE`.
    return None if gained is None else (len(marks) * ALONE - gained) / _marks(people)


def dissimilarities(marks: FloatArray) -> FloatArray:
    """How unlike each two marks are in their places and categories; shape (marks, marks).

    Args:
        marks: shape (marks, 3): start, end and category.
    """
    start, end, category = marks.T
    apart = np.abs(start[:, None] - start) + np.abs(end[:, None] - end)
    long = end - start
    places = (apart / (long[:, None] + long)) ** 2
    unlike: FloatArray = ALONE * (places + (category[:, None] != category))
    return unlike


def _marks(people: Sequence[Sequence[Mark]]) -> float:
    return sum(map(len, people)) / len(people)


def _gained(person: IntArray, apart: FloatArray, people: int) -> float | None:
    """By how much the best alignments have less disorder than marks that stand alone."""
    from scipy import optimize, sparse  # noqa: PLC0415 (takes most of a second)

    pairs = people * (people - 1) / 2
    if people == 2:
        cut = np.count_nonzero(person == 0)
        gain = np.maximum(2 * ALONE - apart[:cut, cut:], 0.0)
        rows, columns = optimize.linear_sum_assignment(gain, maximize=True)
        return float(gain[rows, columns].sum())
    aligned = _alignments(person, apart, people)
    if aligned is None:
        return None
    there = aligned >= 0
    size = there.sum(axis=1)
    own = np.where(there, aligned, 0)
    unlike = np.full(len(aligned), pairs)
    for first, second in itertools.combinations(range(people), 2):
        both = there[:, first] & there[:, second]
        unlike += both * (apart[own[:, first], own[:, second]] / ALONE - 1)
    gain = ALONE * (size - unlike / pairs)
    is_better = gain > 1e-12
    gain, aligned, there = gain[is_better], aligned[is_better], there[is_better]
    if not len(gain):
        return 0.0
    rows, _person = np.nonzero(there)
    holds = sparse.csr_array(
        (np.ones(len(rows)), (aligned[there], rows)), shape=(len(person), len(gain))
    )
    used, each = np.unique(aligned[there], return_counts=True)
    if (each == 1).all():  # nothing to choose between
        return float(gain.sum())
    solution = optimize.milp(
        -gain,
        constraints=optimize.LinearConstraint(holds[used], -np.inf, 1),
        integrality=np.ones(len(gain)),
        bounds=optimize.Bounds(0, 1),
    )
    if solution.x is None:
        raise ArithmeticError(f"no best alignment was found: {solution.message}")
    return float(gain[solution.x > 0.5].sum())


def _alignments(person: IntArray, apart: FloatArray, people: int) -> IntArray | None:
    """The alignments of two or more marks that may be among the best; None if there are too many.

    An alignment with a mark so far from its others that both are better off apart is left out.

    Returns:
        Shape (alignments, people): the place of each person's mark, -1 for none.
    """
    # What a mark may be from the others in all: more, and it is better off alone.
    most = ALONE * (people * (people - 1) / 2 + people - 1)
    rows = np.full((1, people), -1)
    sums = np.zeros((1, people))
    for annotator in range(people):
        (own,) = np.nonzero(person == annotator)
        if not len(own):
            continue
        parts, totals = [rows], [sums]
        there = rows >= 0
        for mark in own.tolist():
            near = np.where(there, apart[mark, np.where(there, rows, 0)], 0.0)
            total = sums + near
            total[:, annotator] = near.sum(axis=1)
            is_near = (total < most).all(axis=1)
            added = rows[is_near].copy()
            added[:, annotator] = mark
            parts.append(added)
            totals.append(total[is_near])
        rows, sums = np.concatenate(parts), np.concatenate(totals)
        if len(rows) > MOST_ALIGNMENTS:
            return None
    aligned: IntArray = rows[(rows >= 0).sum(axis=1) > 1]
    return aligned


def _random(
    people: Sequence[Sequence[Mark]], length: int, draws: int, rng: np.random.Generator
) -> Iterator[list[list[Mark]]]:
    """Texts with as many people, each with the marks of one of them drawn at random, which are
    moved along the text together; what would leave it comes in again at its start.

    Places of two people differ by half a mark's mean length or more, where there is room.
    """
    apart = np.mean([mark.end - mark.start for own in people for mark in own]) / 2
    for _ in range(draws):
        drawn: list[Sequence[Mark]] = []
        while not any(drawn):
            drawn = [people[at] for at in rng.integers(len(people), size=len(people))]
        moved, shifts = [], np.empty(0)
        for own in drawn:
            tried = rng.uniform(0, length, TRIES)
            gap = np.abs(tried[:, None] - shifts)
            is_free = (np.minimum(gap, length - gap) >= apart).all(axis=1)
            shift = tried[is_free.argmax()]
            shifts = np.append(shifts, shift)
            moved.append([_moved(mark, shift, length) for mark in own])
        yield moved


def _moved(mark: Mark, shift: float, length: int) -> Mark:
    start = int(mark.start + shift) % length
    return Mark(start, start + mark.end - mark.start, mark.category)
