"""The disorder of what people marked, and that of the same marks at random places."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.gamma import (
    Mark,
    disorder,
    disorder_beside_chance,
    dissimilarities,
    draws_for,
)

# What each person marked in texts of 200 characters, with categories a to c; and the disorder and
# the mean one of 1,500 random texts by pygamma-agreement 0.5.9 (positional and categorical
# dissimilarity, shuffled texts).
KNOWN = [
    ("69-75b 0-10a | 149-179a | 145-172a 67-70b 190-200b", 1.7737, 2.201),
    ("0-5a 0-10a | 24-30b | 20-28b | 0-5a 190-200b", 2.46485, 3.351),
    ("145-171a 0-10a | 150-170b 101-126b 190-200b", 1.60681, 1.56),
    ("69-78c 94-112a 0-10a | 74-78c | 77-84c 104-120b 190-200b", 1.55189, 2.35),
    (
        "161-186a 124-152a 22-35b 0-10a | 61-84a 164-182b 117-149c 164-171a 25-38b | "
        "57-89b 167-188b 116-147a 166-168b | 70-98b 116-149a 165-173a 36-51b 190-200b",
        1.15653,
        1.578,
    ),
    ("25-48b 9-19c 174-197b 0-10a | 15-33b 162-189c 67-90a 190-200b", 1.17582, 1.492),
    (
        "93-113a 55-84a 0-10a | 92-110a 41-67a | 98-111a 43-71a | 87-104a 57-82a 190-200b",
        0.92334,
        1.746,
    ),
    ("149-166b 115-137a 0-10a | 150-167b 117-142b 190-200b", 1.00855, 1.487),
]


def marks_of(text: str) -> list[list[Mark]]:
    return [[mark_of(*mark.split("-")) for mark in own.split()] for own in text.split("|")]


def mark_of(start: str, end: str) -> Mark:
    return Mark(int(start), int(end[:-1]), "abc".index(end[-1]))


def least_disorder(people: list[list[Mark]]) -> float:
    """By trying every way of putting marks together."""
    pairs = len(people) * (len(people) - 1) / 2
    known = [(person, mark) for person, own in enumerate(people) for mark in own]

    def cost(group: list[tuple[int, Mark]]) -> float:
        total = pairs
        for (_one, first), (_other, second) in itertools.combinations(group, 2):
            both = np.array([first, second], dtype=float)
            total += dissimilarities(both)[0, 1] - 1
        return total / pairs

    def best(left: list[tuple[int, Mark]], groups: list[list[tuple[int, Mark]]]) -> float:
        if not left:
            return sum(map(cost, groups))
        found = [best(left[1:], [*groups, [left[0]]])]
        for at, group in enumerate(groups):
            if left[0][0] not in {person for person, _mark in group}:
                found.append(best(left[1:], [*groups[:at], [*group, left[0]], *groups[at + 1 :]]))
        return min(found)

    return best(known, []) / (len(known) / len(people))


def test_marks_differ_by_their_ends_relative_to_their_lengths_and_by_their_categories() -> None:
    marks = np.array([[0, 10, 1], [0, 10, 1], [0, 10, 2], [5, 15, 1], [10, 20, 1]], dtype=float)

    # Ends 5 + 5 apart over lengths 10 + 10, squared; touching marks are as unlike as one and none.
    assert dissimilarities(marks)[0].tolist() == [0, 0, 1, 0.25, 1]


@pytest.mark.parametrize(("text", "known", "by_chance"), KNOWN)
def test_disorder_is_pygammas_and_so_is_that_of_random_texts(
    text: str, known: float, by_chance: float
) -> None:
    found = disorder_beside_chance(marks_of(text), 200, 300, np.random.default_rng(0))

    assert found is not None
    assert found.observed == pytest.approx(known, abs=1e-4)
    assert found.expected == pytest.approx(by_chance, rel=0.07)


MARK = st.builds(
    lambda start, length, category: Mark(start, start + length, category),
    st.integers(0, 30),
    st.integers(1, 12),
    st.integers(0, 1),
)


@given(st.lists(st.lists(MARK, max_size=2), min_size=2, max_size=4).filter(any))
def test_no_way_of_putting_marks_together_has_less_disorder(people: list[list[Mark]]) -> None:
    assert disorder(people) == pytest.approx(least_disorder(people))


def test_more_texts_need_fewer_random_ones_each() -> None:
    assert [draws_for(texts) for texts in (10, 100, 300, 100_000)] == [30, 30, 10, 1]


@pytest.mark.parametrize(
    ("people", "marks"), [(2, 5000), (3, 5000), (50, 50), (50, 5000), (6, 4), (13, 1)]
)
def test_texts_with_more_marks_than_can_be_aligned_are_given_up_at_once(
    people: int, marks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_args: object, **_more: object) -> None:
        raise AssertionError("the best alignments were searched for")

    monkeypatch.setattr("scipy.optimize.milp", search)
    monkeypatch.setattr("scipy.optimize.linear_sum_assignment", search)
    same = [Mark(at, at + 1000) for at in range(marks)]

    assert disorder([same] * people) is None
