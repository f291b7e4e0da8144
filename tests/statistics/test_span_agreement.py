"""How far people mark the same parts of texts."""

import numpy as np
import pytest

from evaluations.statistics.span_agreement import FEW_TEXTS, MarkedText, span_agreement


def slow_f1(texts: list[MarkedText]) -> float:
    """By counting the characters of each pair one by one."""
    both = total = 0
    for text in texts:
        people = sorted(text.spans)
        for first in people:
            for second in people:
                if first < second:
                    for at in range(100):
                        marks = [
                            any(start <= at < end for start, end in text.spans[one])
                            for one in (first, second)
                        ]
                        both += all(marks)
                        total += sum(marks)
    return 2 * both / total


def drawn(texts: int, seed: int = 0) -> list[MarkedText]:
    rng = np.random.default_rng(seed)
    found = []
    for document in range(texts):
        at = int(rng.integers(0, 60))
        found.append(
            MarkedText(
                document,
                {
                    rater: [(max(0, at + int(shift)), at + int(shift) + 20), (80, 90)]
                    for rater, shift in enumerate(rng.integers(-8, 9, 3))
                },
            )
        )
    return found


def test_it_is_the_f1_of_each_two_peoples_characters() -> None:
    # One marks 0-9, the other 5-14: five of both, ten of each; and overlapping spans count once.
    texts = [MarkedText(at, {1: [(0, 10)], 2: [(5, 15), (6, 12)]}) for at in range(10)]

    found = span_agreement(texts, 10)

    assert found.f1.value == 0.5
    assert (found.texts, found.pairs) == (10, 10)


def test_it_equals_a_count_by_hand_and_its_interval_holds_it() -> None:
    texts = drawn(25)

    found = span_agreement(texts, 25)

    assert found.f1.value == pytest.approx(slow_f1(texts))
    low, high = found.interval.ends or (1.0, 0.0)
    assert low < slow_f1(texts) < high


def test_somebody_who_marked_nothing_does_not_agree() -> None:
    texts = [MarkedText(at, {1: [(0, 10)], 2: []}) for at in range(12)]

    assert span_agreement(texts, 12).f1.value == 0.0


def test_it_takes_ten_texts_that_two_people_marked() -> None:
    texts = [*drawn(9), *(MarkedText(at, {1: [(0, 3)]}) for at in range(9, 30))]

    found = span_agreement(texts, 30)

    assert (found.f1.reason, found.interval.reason) == (FEW_TEXTS, FEW_TEXTS)


def test_intervals_cover_what_people_would_agree_on_in_other_texts() -> None:
    truth = slow_f1(drawn(2000, seed=99))
    ends = [span_agreement(drawn(30, seed), 30).interval.ends for seed in range(200)]

    assert 0.9 <= np.mean([one is not None and one[0] <= truth <= one[1] for one in ends]) <= 0.99
