"""Rating scales: their points, and the usual scale that given ratings show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.scales import Scale, usual_scale_for


def test_points_run_from_end_to_end_in_steps() -> None:
    assert Scale(1, 3, step=0.5).points == (1, 1.5, 2, 2.5, 3)


def test_a_point_is_found_in_spite_of_rounding() -> None:
    assert Scale(0, 1, step=0.1).point_at(0.30000000000000004) == 0.3


@pytest.mark.parametrize("bad", [(5, 1, 1), (1, 1, 1), (1, 5, 0), (0, 10_000, 1)])
def test_impossible_scales_are_refused(bad: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="a scale"):
        Scale(*bad)


@pytest.mark.parametrize(
    ("ratings", "ends"),
    [
        ([1, 5], (1, 5)),
        ([0, 1], (0, 1)),
        ([2.67, 4], (1, 4)),
        ([0, 5], (0, 5)),
        ([10], (1, 10)),
        ([-3, 3], (-3, 3)),
    ],
)
def test_ratings_show_the_narrowest_usual_scale(
    ratings: list[float], ends: tuple[float, float]
) -> None:
    scale = usual_scale_for(ratings)

    assert (scale.lowest, scale.highest) == ends


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_the_usual_scale_holds_all_ratings_it_was_found_for(ratings: list[float]) -> None:
    scale = usual_scale_for(ratings)

    assert all(scale.holds(rating) for rating in ratings)
