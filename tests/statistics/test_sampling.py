"""Samples have the size and the probabilities that they say."""

import numpy as np
import pytest

from geval.statistics.sampling import (
    active_probabilities,
    draw_systematically,
    equal_probabilities,
    in_any,
    predicted_errors,
    proportional_probabilities,
)


def test_units_are_drawn_as_often_as_their_probability_says() -> None:
    rng = np.random.default_rng(0)
    error = rng.exponential(size=40)
    wanted = active_probabilities(error, 12)

    drawn = np.array(
        [np.isin(np.arange(40), draw_systematically(wanted, rng)) for _ in range(1000)]
    )

    assert set(drawn.sum(axis=1)) == {12}
    assert np.abs(drawn.mean(axis=0) - wanted).max() < 4 * np.sqrt(0.25 / 1000)


def test_a_size_between_whole_numbers_is_rounded_up_or_down() -> None:
    rng = np.random.default_rng(0)
    sizes = {len(draw_systematically(np.full(10, 0.25), rng)) for _ in range(200)}
    assert sizes == {2, 3}


def test_every_unit_has_at_least_half_of_what_it_would_have_in_a_uniform_sample() -> None:
    probabilities = active_probabilities(np.array([0.0, 0.0, 1.0, 5.0, np.nan]), 2)
    assert probabilities.sum() == pytest.approx(2)
    assert (probabilities >= 0.5 * 2 / 5 - 1e-12).all()
    assert (probabilities <= 1).all()


def test_probabilities_are_proportional_but_at_most_one() -> None:
    found = proportional_probabilities(np.array([1.0, 1.0, 2.0, 100.0]), 2)
    assert found.tolist() == [0.25, 0.25, 0.5, 1.0]
    assert proportional_probabilities(np.zeros(4), 2).tolist() == [0.5] * 4
    assert proportional_probabilities(np.array([0.0, 3.0]), 2).tolist() == [1.0, 1.0]
    assert equal_probabilities(0, 3).tolist() == []


def test_samples_combine_if_they_were_drawn_independently() -> None:
    found = in_any(np.array([0.5, 0.0, 1.0]), np.array([0.5, 0.25, 0.1]))
    assert found.tolist() == [0.75, 0.25, 1.0]


def test_errors_are_predicted_where_they_were_large_before() -> None:
    rng = np.random.default_rng(0)
    judge, system = rng.uniform(1, 5, 600), np.arange(600) % 3
    spread = np.where(judge < 3, 1.0, 0.1) * np.where(system == 2, 3.0, 1.0)
    human = judge + rng.normal(size=600) * spread
    human[200:] = np.nan

    found = predicted_errors(human, judge, system)

    assert found[judge < 3].mean() > 2 * found[judge > 3].mean()
    assert found[system == 2].mean() > 1.5 * found[system == 1].mean()
    assert np.isnan(predicted_errors(np.full(3, np.nan), judge[:3], system[:3])).all()
    without_judges = predicted_errors(human, np.full(600, np.nan), system)
    assert without_judges[2] > without_judges[1]
