"""The total of a rubric: the weighted share of passed items that apply, on the rubric's scale."""

import numpy as np
import pytest

from geval.statistics.rubrics import Rubric, RubricItem, with_items
from geval.statistics.scales import Scale

NAN, NA = np.nan, "n/a"


def rubric_of(*weights: float, scale: Scale | None = None) -> Rubric:
    items = (RubricItem(pk, Scale(0, 1), weight) for pk, weight in enumerate(weights, start=1))
    return Rubric(9, scale or Scale(1, 5), tuple(items))


@pytest.mark.parametrize(
    ("weights", "answers", "total"),
    [
        ((1, 1), (0, 0), 1),
        ((1, 1), (1, 1), 5),
        ((1, 1), (1, 0), 3),
        ((3, 1), (1, 0), 4),  # 1 + 3/4 * 4
        ((3, 1), (0, 1), 2),
        ((0.5, 0.25, 0.25), (1, 0, 1), 4),
        ((2, 1, 1), (NA, 1, 0), 3),
        ((2, 1, 1), (1, NA, NA), 5),
        ((2, 1, 1), (0, NA, 1), 1 + 4 / 3),
        ((1, 1), (1, NAN), NAN),
        ((1, 1), (NAN, NAN), NAN),
        ((1, 1), (NA, NAN), NAN),
        ((1, 1), (NA, NA), NAN),
        ((5,), (1,), 5),
    ],
)
def test_totals(weights: tuple[float, ...], answers: tuple[float | str, ...], total: float) -> None:
    skipped = np.array([[answer == NA] for answer in answers])
    passed = np.array([[NAN if answer == NA else answer] for answer in answers], dtype=float)

    (value,) = rubric_of(*weights).totals(passed, skipped)

    assert value == pytest.approx(total, nan_ok=True)


def test_totals_are_on_the_scale_of_the_rubric() -> None:
    passed, skipped = np.array([[0.0, 1, 1], [0, 0, 1]]), np.zeros((2, 3), dtype=bool)

    assert rubric_of(1, 3, scale=Scale(-10, 10)).totals(passed, skipped).tolist() == [-10, -5, 10]


@pytest.mark.parametrize(
    ("value", "passes"),
    [(2, 0.0), (2.49, 0.0), (2.5, 1.0), (3, 1.0), (1.9, NAN), (3.1, NAN), (NAN, NAN)],
)
def test_an_item_is_passed_from_the_middle_of_its_scale_on(value: float, passes: float) -> None:
    (found,) = RubricItem(1, Scale(2, 3)).passes(np.array([value]))

    assert found == pytest.approx(passes, nan_ok=True)


def test_items_are_read_with_their_rubric() -> None:
    assert with_items([rubric_of(1, 1)], [7]) == [7]
    assert with_items([rubric_of(1, 1)], [9, 2, 7]) == [9, 2, 7, 1]
