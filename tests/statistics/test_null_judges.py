"""Judges that read nothing: the best constant, shuffled scores, and length alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.alt_test import alt_test, nearest_constant, p_of_nearer
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


def test_without_scores_there_are_none_by_length() -> None:
    assert np.isnan(length_scores(np.full(3, np.nan), np.arange(3.0))).all()


def test_a_constant_scores_what_the_judge_scored() -> None:
    np.testing.assert_array_equal(
        constant_scores(np.array([1.0, np.nan, 2.0]), 4.0), [4.0, np.nan, 4.0]
    )


@pytest.mark.parametrize(
    ("ratings", "shuffles"),
    [(0, 20), (1_000, 20), (1_001, 19), (1_250, 16), (4_000, 5), (4_001, 4), (10**7, 4)],
)
def test_more_ratings_need_fewer_shuffles(ratings: int, shuffles: int) -> None:
    assert shuffles_of(ratings) == shuffles


def people(outputs: int = 300, noise: float = 0.7) -> tuple[np.ndarray, Ratings]:
    """Quality of outputs, and three people's ratings of it on 1 to 5."""
    quality = RNG.normal(3, 1, outputs)
    given_ = np.clip(np.round(quality + RNG.normal(0, noise, (3, outputs))), 1, 5)
    return quality, Ratings.of_table(given_)


def test_the_best_constant_is_the_point_that_wins_most_often() -> None:
    _quality, ratings = people()

    best = nearest_constant(ratings, (1, 2, 3, 4, 5))

    advantages = {
        point: alt_test(ratings, np.full(300, float(point))).advantage.value
        for point in (1, 2, 3, 4, 5)
    }
    assert best == max(advantages, key=lambda point: advantages[point] or 0)
    assert best == 3


def test_a_judge_that_reads_is_nearer_than_the_best_constant_and_a_shuffled_one_is_not() -> None:
    quality, ratings = people()
    documents = np.arange(300) // 3
    judge = np.clip(np.round(quality), 1, 5)
    constant = np.full(300, nearest_constant(ratings, (1, 2, 3, 4, 5)))

    nearer = p_of_nearer(ratings, judge, constant, documents)
    shuffled = p_of_nearer(ratings, shuffled_scores(judge, RNG), constant, documents)

    assert nearer is not None
    assert nearer < 1e-6
    assert shuffled is not None
    assert shuffled > 0.5


def test_a_constant_is_not_nearer_than_itself() -> None:
    _quality, ratings = people()
    constant = np.full(300, 3.0)

    assert p_of_nearer(ratings, constant, constant, np.arange(300)) is None


def test_scores_that_are_no_nearer_are_called_nearer_in_at_most_six_percent() -> None:
    # Both are the same distance from people on average: one rounds up, the other down.
    errors = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        quality = np.repeat(rng.normal(0, 1, 40), 4) + rng.normal(0, 1, 160)
        ratings = Ratings.of_table(quality + rng.normal(0, 0.7, (3, 160)))
        first, second = (quality + rng.normal(0, 1, 160) for _ in range(2))
        p = p_of_nearer(ratings, first, second, np.repeat(np.arange(40), 4))
        errors += p is not None and p <= 0.05
    assert errors <= 0.06 * 300 + 4  # chance of 300 trials


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


def test_the_majority_counts_outputs_by_their_weights() -> None:
    people = np.array([True, True, False])

    assert majority_of(people).passes
    assert not majority_of(people, np.array([1.0, 1.0, 3.0])).passes
    assert majority_of(people, np.array([1.0, 1.0, 3.0])).share == 0.6
