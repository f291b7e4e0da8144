"""Signs that somebody did not read count together, measured against what honest people of the
campaign do."""

from dataclasses import replace

import numpy as np
import pytest

from geval.statistics.careless_signs import (
    RaterWork,
    ReadingTimes,
    Signs,
    signs_of,
)

READS = ReadingTimes(12, 0.0, 0.9)
HONEST = RaterWork(12, 3, 3, READS, 5, 12, 0.4, 1.0)
PACES = np.linspace(-0.4, 0.4, 9)


def signs(person: RaterWork, others: RaterWork = HONEST) -> Signs:
    """A person among nine others, whose pace differs a little."""
    crowd = [
        replace(others, times=others.times and replace(others.times, pace=pace)) for pace in PACES
    ]
    return signs_of([person, *crowd])[0]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        # One sign alone is not enough; most of them need another one.
        ({"right": 2}, False),
        ({"times": ReadingTimes(12, -2.0, 0.0)}, False),
        ({"against_care": 1000.0}, False),
        ({"same": 8}, False),
        ({"right": 1, "times": ReadingTimes(12, -1.5, 0.0)}, True),
        ({"right": 2, "times": ReadingTimes(12, -1.5, 0.0), "against_care": 5.0}, True),
        ({"right": 1, "against_care": 5.0, "times": None}, True),
        # Who takes the time that the texts ask for is not named for that.
        ({"right": 1, "against_care": 5.0}, False),
        ({"same": 12, "expected": 0.1, "times": None, "checks": 0, "right": 0}, True),
        ({"same": 12, "expected": 0.9, "times": None, "checks": 0, "right": 0}, False),
        ({"checks": 20, "right": 8}, True),
        ({"right": 0, "items": 9}, False),
    ],
)
def test_signs_name_somebody_together(changes: dict[str, object], expected: bool) -> None:
    assert signs(replace(HONEST, **changes)).are_enough is expected  # type: ignore[arg-type]


def test_checks_that_most_people_miss_accuse_less() -> None:
    missing = replace(HONEST, right=1)

    assert signs(missing).checks > 3 * signs(missing, replace(HONEST, right=2)).checks


def test_times_are_measured_against_the_length_of_the_texts() -> None:
    words = [4, 12, 36, 108, 324, 972]
    reading = [3 + 0.25 * number for number in words]

    reader, clicker = (ReadingTimes.of(took, words) for took in (reading, [4.0, 5, 4, 5, 4, 5]))

    assert reader is not None
    assert clicker is not None
    assert reader.pace == pytest.approx(0.0)
    assert clicker.pace < -1
    assert reader.follows > 2 > clicker.follows
    assert ReadingTimes.of(reading[:5], words[:5]) is None
    same = ReadingTimes.of([4.0] * 6, words)
    assert same is not None
    assert np.isnan(same.follows)
