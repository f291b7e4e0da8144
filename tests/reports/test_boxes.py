"""The box of many documents is drawn from its ends; that of few from their values."""

import numpy as np

from geval.reports.figures import MOST_POINTS, box_of


def test_few_values_are_sent_as_they_are() -> None:
    assert box_of(np.array([0.123456, -1.0])) == {"y": [0.1235, -1.0]}


def test_of_many_values_only_the_box_is_sent() -> None:
    values = np.arange(4000.0)

    assert len(values) > MOST_POINTS
    assert box_of(values) == {
        "q1": [999.5],
        "median": [1999.5],
        "q3": [2999.5],
        "mean": [1999.5],
        "lowerfence": [0.0],
        "upperfence": [3999.0],
    }


def test_whiskers_end_at_values_within_one_and_a_half_boxes() -> None:
    values = np.concatenate([np.linspace(0, 1, MOST_POINTS), [-5.0, 9.0]])

    found = box_of(values)

    assert (found["lowerfence"], found["upperfence"]) == ([0.0], [1.0])
