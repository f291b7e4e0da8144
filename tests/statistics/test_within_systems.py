"""What a judge adds by reading: ranks and scores within systems, held against who wrote it."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from geval.reports.verdicts.check_figures import (
    View,
    filled_scores,
    judge_checks,
)
from geval.statistics.agreement import ratings_of_the_bar
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.null_judges import (
    annotator_scores,
    document_scores,
    group_scores,
    system_scores,
)
from geval.statistics.scales import Scale
from geval.statistics.thresholds import WITHIN_OUTPUTS
from geval.statistics.within_systems import (
    less_system_means,
    level_within,
    outputs_within,
    p_beyond_length,
    ratings_within_systems,
)
from tests.thresholds.three_points import pins

SCALE = Scale(1, 5)
NAN = np.nan


def world(
    documents: int = 60, systems: int = 6, apart: float = 1.2, seed: int = 0
) -> tuple[Outputs, Ratings, np.ndarray]:
    """Three careful raters of systems that differ by `apart`, and the outputs' quality."""
    rng = np.random.default_rng(seed)
    outputs = Outputs.full(documents, systems)
    quality = (
        3 + apart * rng.normal(0, 1, systems)[outputs.system] + rng.normal(0, 0.8, len(outputs))
    )
    ratings = np.clip(np.round(quality + rng.normal(0, 0.5, (3, len(outputs)))), 1, 5)
    return outputs, Ratings.of_table(ratings), quality


def test_a_value_less_its_systems_mean() -> None:
    outputs = Outputs.full(3, 2)
    values = np.array([1.0, 10.0, 2.0, NAN, 6.0, 20.0])

    found = less_system_means(outputs, values)

    np.testing.assert_array_equal(found, [-2.0, -5.0, -1.0, NAN, 3.0, 5.0])


def test_a_rating_less_the_raters_mean_of_the_system() -> None:
    outputs = Outputs.full(2, 2)
    table = np.array([[1.0, 5.0, 3.0, NAN], [2.0, 2.0, 2.0, 4.0]])

    found = ratings_within_systems(outputs, Ratings.of_table(table))

    np.testing.assert_array_equal(found.values_of(0), [-1.0, 0.0, 1.0, NAN])
    np.testing.assert_array_equal(found.values_of(1), [0.0, -1.0, 0.0, 1.0])


@pins("WITHIN_OUTPUTS", {9: None, 10: 20, 11: 22})
def test_systems_with_enough_outputs_count(value: int, expected: int | None) -> None:
    outputs = Outputs.full(value, 2)

    found = outputs_within(outputs, np.ones(len(outputs)), np.ones(len(outputs)))

    assert (None if found is None else int(found.sum())) == expected


@pins("WITHIN_SYSTEMS", {1: None, 2: 20, 3: 30})
def test_it_takes_two_systems(value: int, expected: int | None) -> None:
    outputs = Outputs.full(WITHIN_OUTPUTS, 4)
    scores = np.where(outputs.system < value, 1.0, NAN)

    found = outputs_within(outputs, np.ones(len(outputs)), scores)

    assert (None if found is None else int(found.sum())) == expected


@pytest.mark.parametrize(("systems", "level"), [(2, "summary"), (1, "dataset")])
def test_the_level_within_systems(systems: int, level: str) -> None:
    outputs = Outputs.full(5, systems)

    assert level_within(outputs, np.ones(len(outputs), dtype=bool)) == level


def test_null_judges_see_no_rating_of_what_they_predict() -> None:
    outputs = Outputs.full(3, 2)
    human = np.array([1.0, 2.0, 3.0, NAN, 5.0, 4.0])

    np.testing.assert_array_equal(system_scores(outputs, human), [4.0, 4.0, 3.0, 3.0, 2.0, 2.0])
    np.testing.assert_array_equal(document_scores(outputs, human), [2.0, 1.0, NAN, 3.0, 4.0, 5.0])


def test_the_group_alone_knows_its_other_documents() -> None:
    outputs = replace(Outputs.full(3, 2), group=np.array([0, 0, 1]))
    human = np.array([1.0, 2.0, 3.0, NAN, 5.0, 4.0])

    scores = group_scores(outputs, human)

    assert scores is not None
    np.testing.assert_array_equal(scores, [3.0, 3.0, 1.5, 1.5, NAN, NAN])
    assert group_scores(Outputs.full(3, 2), human) is None


def test_who_rated_it_counts_where_each_output_has_one_rating() -> None:
    outputs = Outputs.full(3, 1)
    table = np.array([[1.0, 3.0, NAN], [NAN, NAN, 4.0]])

    found = annotator_scores(outputs, Ratings.of_table(table))

    assert found is not None
    np.testing.assert_array_equal(found, [3.0, 1.0, NAN])
    assert annotator_scores(outputs, Ratings.of_table(table[:1])) is None
    assert annotator_scores(outputs, Ratings.of_table(np.ones((2, 3)))) is None


def test_who_wrote_it_ranks_across_systems_and_against_people_within() -> None:
    outputs, ratings, quality = world()
    human = ratings.means()
    who = system_scores(outputs, human)
    reader, unknown = np.clip(np.round(quality), 1, 5), np.full(len(outputs), NAN)

    of_who, of_reader = (
        judge_checks(outputs, human, ratings, ratings, scores, unknown, SCALE, View())
        for scores in (who, reader)
    )

    assert of_who.overall.interval.low > 0.3
    assert of_who.within.correlation.value < -0.9
    assert of_reader.within.interval.low > 0.3
    assert of_reader.within.passes
    assert of_reader.within.p_nearer < 0.001


@pins("SCORED_SHARE", {0.949: True, 0.95: False, 0.951: False})
def test_missing_scores_are_filled_in_where_too_many_are(value: float, expected: bool) -> None:
    human = np.full(1000, 4.0)
    scores = np.where(np.arange(1000) < round(1000 * value), 2.0, NAN)
    ratings = Ratings.of_table(np.full((2, 1000), 4.0))

    found = filled_scores(human, scores, ratings, SCALE)

    assert (found is not None) is expected
    if found is not None:
        assert set(found[np.isnan(scores)]) == {4.0}


def test_scores_on_another_scale_are_filled_with_their_median() -> None:
    human = np.array([1.0, 2.0, 3.0, 4.0, NAN])
    scores = np.array([10.0, NAN, 30.0, 80.0, NAN])

    found = filled_scores(human, scores, None, SCALE)

    np.testing.assert_array_equal(found, [10.0, 30.0, 30.0, 80.0, NAN])


@pins("BAR_SHARE", {0.6: False, 2 / 3: True, 0.7: True})
def test_a_rater_who_agrees_much_less_than_the_middle_one_is_no_bar(
    value: float, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs, ratings, _quality = world()
    given = SimpleNamespace(
        documents=np.full(3, 20), means=lambda: np.array([0.6, 0.6, 0.6 * value])
    )
    monkeypatch.setattr("geval.statistics.agreement._against_others", lambda *_: given)

    found = ratings_of_the_bar.__wrapped__(outputs, ratings)

    assert found.active.tolist() == [True, True, expected]


@pytest.mark.parametrize("seed", range(4))
def test_the_bar_is_of_raters_that_agree(seed: int) -> None:
    outputs, ratings, _quality = world(seed=seed, apart=0.5)
    rng = np.random.default_rng(seed)
    table = np.array([ratings.values_of(rater) for rater in range(3)])
    careless = rng.random(len(outputs)) < 0.6
    table[0] = np.where(careless, rng.integers(1, 6, len(outputs)), table[0])

    honest, spoilt = (ratings_of_the_bar(outputs, of) for of in (ratings, Ratings.of_table(table)))

    assert honest is ratings
    assert spoilt.active.tolist() == [False, True, True]


def test_a_coin_for_each_system_follows_nobody_within_systems_on_pass_or_fail() -> None:
    rng, rates = np.random.default_rng(3), np.array([0.1, 0.9, 0.95, 0.98])
    outputs = Outputs.full(150, 4)
    truth = rng.random(len(outputs)) < rates[outputs.system]
    errs = rng.random((3, len(outputs))) < 0.02
    ratings = Ratings.of_table(np.where(errs, ~truth, truth).astype(float))
    coin = (rng.random(len(outputs)) < np.array([0.03, 0.98, 0.99, 0.995])[outputs.system]) * 1.0

    found = judge_checks(
        outputs, ratings.means(), ratings, ratings, coin, np.ones(600), Scale(0, 1), View()
    )

    assert found.overall.interval.low > 0.2
    assert abs(found.within.correlation.value) < 0.1


def best_in_the_middle(length: np.ndarray) -> np.ndarray:
    return 1.2 * (0.8 - np.abs(length))


@pytest.mark.parametrize("of_length", [lambda length: 0.9 * length, best_in_the_middle])
@pytest.mark.parametrize(("documents", "systems"), [(60, 5), (200, 1)])
def test_a_judge_of_system_and_length_adds_nothing_to_them(
    of_length: Callable[[np.ndarray], np.ndarray], documents: int, systems: int
) -> None:
    blind, reading = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        outputs = Outputs.full(documents, systems)
        words = rng.integers(20, 200, len(outputs)).astype(float)
        told = rng.normal(0, 0.7, systems)[outputs.system] + of_length((words - 110) / 52)
        quality = told + rng.normal(0, 0.5, len(outputs))
        human = np.clip(np.round(3 + quality + rng.normal(0, 0.4, (3, len(outputs)))), 1, 5).mean(0)
        for p_values, scores in (
            (blind, told),
            (reading, quality + rng.normal(0, 0.4, len(quality))),
        ):
            p_values.append(
                p_beyond_length(outputs, human, np.round(3 + scores), words, by_system=systems > 1)
            )

    assert sum(p <= 0.025 for p in blind) <= 2
    assert sum(p <= 0.025 for p in reading) == 12


def test_raters_of_few_points_are_compared_as_they_rated() -> None:
    """A judge that equals the truth is not farther off than one that errs like a rater, though
    ties less a mean are none."""
    rng, rates = np.random.default_rng(1), np.array([0.85, 0.9, 0.93, 0.95])
    outputs = Outputs.full(150, 4)
    truth = rng.random(len(outputs)) < rates[outputs.system]
    errs = rng.random((4, len(outputs))) < 0.04
    *people, erring = np.where(errs, ~truth, truth).astype(float)
    ratings = Ratings.of_table(np.array(people))

    perfect, like_a_rater = (
        judge_checks(
            outputs, ratings.means(), ratings, ratings, scores, np.ones(600), Scale(0, 1), View()
        ).within
        for scores in (truth.astype(float), erring)
    )

    assert perfect.passes
    assert perfect.test.winning_rate.value >= like_a_rater.test.winning_rate.value
    assert perfect.p_nearer < 0.001


def test_a_judge_of_the_topic_adds_nothing_within_groups() -> None:
    blind, reading = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        outputs = replace(Outputs.full(240, 1), group=np.arange(240) % 12)
        topic = 3 + rng.normal(0, 1, 12)[outputs.group]
        quality = topic + rng.normal(0, 0.6, 240)
        human = np.clip(np.round(quality + rng.normal(0, 0.4, (3, 240))), 1, 5).mean(0)
        for p_values, scores in ((blind, topic), (reading, quality + rng.normal(0, 0.4, 240))):
            p_values.append(
                p_beyond_length(
                    outputs,
                    human,
                    np.round(scores + rng.normal(0, 0.2, 240)),
                    np.full(240, NAN),
                    by_system=False,
                )
            )

    assert sum(p <= 0.025 for p in blind) <= 2
    assert sum(p <= 0.025 for p in reading) == 12
