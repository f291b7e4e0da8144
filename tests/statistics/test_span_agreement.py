"""How far people mark the same parts of texts."""

import numpy as np
import pytest

from geval.statistics.span_agreement import Mark, MarkedText, span_agreement


def slow_f1(texts: list[MarkedText]) -> float:
    """By counting the characters of each pair one by one."""
    both = total = 0
    for text in texts:
        people = sorted(text.marks)
        for first in people:
            for second in people:
                if first < second:
                    for at in range(100):
                        marks = [
                            any(mark.start <= at < mark.end for mark in text.marks[one])
                            for one in (first, second)
                        ]
                        both += all(marks)
                        total += sum(marks)
    return 2 * both / total


def marked(document: int, *people: list[tuple[int, int]]) -> MarkedText:
    return MarkedText(
        document, {one: [Mark(*mark) for mark in own] for one, own in enumerate(people)}
    )


def drawn(texts: int, seed: int = 0, people: int = 3) -> list[MarkedText]:
    rng = np.random.default_rng(seed)
    found = []
    for document in range(texts):
        at = int(rng.integers(0, 60))
        found.append(
            MarkedText(
                document,
                {
                    rater: [Mark(max(0, at + int(shift)), at + int(shift) + 20), Mark(80, 90)]
                    for rater, shift in enumerate(rng.integers(-8, 9, people))
                },
            )
        )
    return found


def test_it_is_the_f1_of_each_two_peoples_characters() -> None:
    # One marks 0-9, the other 5-14: five of both, ten of each; and overlapping spans count once.
    texts = [marked(at, [(0, 10)], [(5, 15), (6, 12)]) for at in range(10)]

    found = span_agreement(texts, 10)

    assert found.f1.value == 0.5
    assert (found.texts, found.pairs) == (10, 10)


def test_it_equals_a_count_by_hand_and_its_interval_holds_it() -> None:
    texts = drawn(25)

    found = span_agreement(texts, 25)

    assert found.f1.value == pytest.approx(slow_f1(texts))
    low, high = found.interval.ends or (1.0, 0.0)
    assert low < slow_f1(texts) < high


def test_characters_of_a_long_text_that_many_people_marked_are_counted() -> None:
    long = 200_000
    texts = [MarkedText(at, {one: [Mark(0, long)] * 20 for one in range(20)}) for at in range(10)]

    assert span_agreement(texts, 10).f1.value == 1.0
