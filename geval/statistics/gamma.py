"""Mathet, Widlöcher and Métivier's gamma (2015, "The unified and holistic method gamma (γ) for
inter-annotator agreement measure and alignment", Computational Linguistics 41(3)): how far people
mark the same parts of texts with the same categories, beyond chance.

Marks of several people that mean the same are aligned, at most one of each; an alignment's disorder
is the mean dissimilarity of its pairs, where a missing mark has the dissimilarity `ALONE` to any
mark. The marks are split into alignments with the least total disorder. Gamma is 1 minus that
disorder over the disorder of random texts, in which the same people's marks are moved at random.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geval.statistics.types import FloatArray, IntArray

# The dissimilarity of a mark and a missing mark (the paper's Δ∅); positions and categories count
# equally.
ALONE = 1.0
# Random texts per text, as in the paper; fewer where there are many texts, as only their sum
# counts.
DRAWS, ALL_DRAWS = 30, 3000
# The most marks and alignments in a text; a text with more is left out. Finding the best alignments
# takes superlinear time, and is repeated for each random text.
MOST_MARKS, MOST_ALIGNMENTS = 1000, 2000
# How often another position is tried for marks that are too close to other people's.
TRIES = 20


class Mark(NamedTuple):
    """Marked characters [start, end), with the code of a category."""

    start: int
    end: int
    category: int = 0


@dataclass(frozen=True)
class Disorder:
    """Disorder of a text divided by the mean number of marks per person, observed and expected by
    chance, and that number of marks."""

    observed: float
    expected: float
    marks: float


def disorder_beside_chance(
    people: Sequence[Sequence[Mark]], length: int, draws: int, rng: np.random.Generator
) -> Disorder | None:
    """Return the disorder of a text and the mean disorder of random texts; None if there are too
    many marks.

    Args:
        people: each person's marks; at least two people, at least one of whom marked something.
        length: the text's length, in characters.
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
    """Return how many random texts to compare each text with."""
    return int(np.clip(ALL_DRAWS // max(texts, 1), 1, DRAWS))


def disorder(people: Sequence[Sequence[Mark]]) -> float | None:
    """Return the disorder of the best alignments, divided by the mean number of marks per person;
    None if there are too many marks.

    Args:
        people: what each marked; one mark or more in all.
    """
    if sum(map(len, people)) > MOST_MARKS:
        return None
    person = np.repeat(np.arange(len(people)), [len(marks) for marks in people])
    marks = np.array([mark for theirs in people for mark in theirs], dtype=float).reshape(-1, 3)
    gained = _gained(person, dissimilarities(marks), len(people))
    # A mark alone in its alignment has a disorder of `ALONE`.
    return None if gained is None else (len(marks) * ALONE - gained) / _marks(people)


def dissimilarities(marks: FloatArray) -> FloatArray:
    """Return the dissimilarity of each pair of marks in position and category; shape (marks,
    marks).

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
    """Return by how much the best alignments reduce the disorder, compared with unaligned marks."""
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
    present = aligned >= 0
    size = present.sum(axis=1)
    codes = np.where(present, aligned, 0)
    unlike = np.full(len(aligned), pairs)
    for first, second in itertools.combinations(range(people), 2):
        both_present = present[:, first] & present[:, second]
        unlike += both_present * (apart[codes[:, first], codes[:, second]] / ALONE - 1)
    gain = ALONE * (size - unlike / pairs)
    is_better = gain > 1e-12
    gain, aligned, present = gain[is_better], aligned[is_better], present[is_better]
    if not len(gain):
        return 0.0
    rows, _person = np.nonzero(present)
    holds = sparse.csr_array(
        (np.ones(len(rows)), (aligned[present], rows)), shape=(len(person), len(gain))
    )
    used, each = np.unique(aligned[present], return_counts=True)
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
    """Return the alignments of two or more marks that may be optimal; None if there are too many.

    An alignment is left out if one of its marks is so far from the others that separating it has
    less disorder.

    Returns:
        Shape (alignments, people): the position of each person's mark, -1 for none.
    """
    # The largest total dissimilarity of a mark to the others; beyond it the mark is better alone.
    most = ALONE * (people * (people - 1) / 2 + people - 1)
    rows = np.full((1, people), -1)
    sums = np.zeros((1, people))
    for annotator in range(people):
        (marks,) = np.nonzero(person == annotator)
        if not len(marks):
            continue
        parts, totals = [rows], [sums]
        present = rows >= 0
        for mark in marks.tolist():
            near = np.where(present, apart[mark, np.where(present, rows, 0)], 0.0)
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
    """Yield random texts with as many people, each with the marks of a randomly drawn person,
    shifted together along the text and wrapped around its end.

    Shifts of two people differ by at least half of a mark's mean length, where there is room.
    """
    apart = np.mean([mark.end - mark.start for marks in people for mark in marks]) / 2
    for _ in range(draws):
        drawn: list[Sequence[Mark]] = []
        while not any(drawn):
            drawn = [people[index] for index in rng.integers(len(people), size=len(people))]
        moved, shifts = [], np.empty(0)
        for marks in drawn:
            tried = rng.uniform(0, length, TRIES)
            gap = np.abs(tried[:, None] - shifts)
            is_free = (np.minimum(gap, length - gap) >= apart).all(axis=1)
            shift = tried[is_free.argmax()]
            shifts = np.append(shifts, shift)
            moved.append([_moved(mark, shift, length) for mark in marks])
        yield moved


def _moved(mark: Mark, shift: float, length: int) -> Mark:
    start = int(mark.start + shift) % length
    return Mark(start, start + mark.end - mark.start, mark.category)
