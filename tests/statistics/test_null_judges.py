"""Judges that read nothing: the best constant, shuffled scores, and length alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.arrays import Ratings
from geval.statistics.null_judges import (
    constant_scores,
    length_scores,
    shuffled_scores,
    shuffles_of,
)
from geval.statistics.pass_fail import majority_of

RNG = np.random.default_rng(5)


@given(st.lists(st.one_of(st.just(float("nan")), st.integers(1, 5).map(float)), max_size=30))
def test_shuffled_scores_are_the_same_scores_of_the_same_outputs(listed: list[float]) -> None:
    scores = np.array(listed)

    dealt = shuffled_scores(scores, np.random.default_rng(0))

    assert (np.isnan(dealt) == np.isnan(scores)).all()
    assert sorted(dealt[~np.isnan(dealt)]) == sorted(scores[~np.isnan(scores)])


def test_the_longest_text_gets_the_highest_score_and_equal_lengths_share_theirs() -> None:
    dealt = length_scores(
        np.array([5.0, 1.0, np.nan, 3.0, 2.0]), np.array([7.0, 9.0, 99.0, 7.0, 2.0])
    )

    np.testing.assert_allclose(dealt, [2.5, 5.0, np.nan, 2.5, 1.0])


def people(outputs: int = 300, noise: float = 0.7) -> tuple[np.ndarray, Ratings]:
    """Quality of outputs, and three people's ratings of it on 1 to 5."""
    quality = RNG.normal(3, 1, outputs)
    given_ = np.clip(np.round(quality + RNG.normal(0, noise, (3, outputs))), 1, 5)
    return quality, Ratings.of_table(given_)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_no_verdict_that_is_always_the_same_is_right_more_often_than_the_majority(
    listed: list[bool],
) -> None:
    people = np.array(listed)

    found = majority_of(people)

    assert found.share == pytest.approx(max(people.mean(), 1 - people.mean()))
    assert (people == found.passes).mean() == pytest.approx(found.share)
    # Gwet (2008): chance is 2p(1 - p) for the mean pass rate of both.
    passing = (people.mean() + found.passes) / 2
    chance = 2 * passing * (1 - passing)
    assert found.ac1 == pytest.approx((found.share - chance) / (1 - chance))


@pytest.mark.parametrize(
    ("ratings", "shuffles"),
    [(0, 20), (1_000, 20), (1_001, 19), (1_250, 16), (4_000, 5), (4_001, 4), (10**7, 4)],
)
def test_more_ratings_need_fewer_shuffles(ratings: int, shuffles: int) -> None:
    assert shuffles_of(ratings) == shuffles


def test_a_constant_scores_what_the_judge_scored() -> None:
    np.testing.assert_array_equal(
        constant_scores(np.array([1.0, np.nan, 2.0]), 4.0), [4.0, np.nan, 4.0]
    )
