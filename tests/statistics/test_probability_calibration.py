"""A judge's probabilities against single ratings: Brier score, calibration error and
overconfidence."""

import itertools

import numpy as np
import pytest

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.probability_calibration import (
    brier_difference,
    brier_of_each,
    brier_of_guessing,
    counts_of_ratings,
    probability_calibration,
    read_nothing,
    shares_of_ratings,
    squared_calibration_error,
)
from geval.statistics.types import FloatArray

POINTS = (1.0, 2.0, 3.0)


def drawn(
    documents: int = 30, systems: int = 5, raters: int = 3, seed: int = 1
) -> tuple[Outputs, FloatArray, Ratings]:
    """Outputs, the distribution from which each one's ratings are drawn, and the ratings."""
    rng = np.random.default_rng(seed)
    outputs = Outputs.full(documents, systems)
    truth = rng.dirichlet(np.ones(len(POINTS)), len(outputs))
    table = [[rng.choice(POINTS, p=row) for row in truth] for _ in range(raters)]
    return outputs, truth, Ratings.of_table(np.array(table))


def test_ratings_become_shares_of_points_and_those_between_points_are_left_out() -> None:
    nobody, between = [np.nan, np.nan], [1.5, np.nan]
    ratings = Ratings.of_table(np.array([[1, 1], [2, 3], nobody, between]).T)

    shares = shares_of_ratings(ratings, POINTS)

    assert shares[:2].tolist() == [[1, 0, 0], [0, 0.5, 0.5]]
    assert np.isnan(shares[2:]).all()
    assert counts_of_ratings(ratings, POINTS)[0].tolist() == [2, 0, 0]


def test_the_brier_score_is_the_mean_squared_distance_from_each_rating() -> None:
    outputs, truth, ratings = drawn()
    each = [
        sum((truth[at][place] - (value == point)) ** 2 for place, point in enumerate(POINTS))
        for at, value in zip(ratings.output, ratings.value, strict=True)
    ]

    found = probability_calibration(outputs, truth, shares_of_ratings(ratings, POINTS))

    assert found.brier.value == pytest.approx(np.mean(each))


def test_ratings_of_an_output_share_its_weight() -> None:
    """The first output has two ratings and the second one; each output counts once."""
    ratings = Ratings.of_table(np.array([[1, 3], [2, np.nan]]))
    judge = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])

    found = probability_calibration(Outputs.full(2, 1), judge, shares_of_ratings(ratings, POINTS))

    assert found.brier.value == pytest.approx(((0 + 2) / 2 + 2) / 2)
    assert found.brier.interval.ends is None


def test_what_reads_nothing_stands_beside() -> None:
    outputs, truth, ratings = drawn(documents=400)
    people = shares_of_ratings(ratings, POINTS)

    found = read_nothing(outputs, people, counts_of_ratings(ratings, POINTS))
    judge = probability_calibration(outputs, truth, people)

    pairs = [
        a != b
        for at in range(len(outputs))
        for a, b in itertools.combinations(ratings.value[ratings.output == at], 2)
    ]
    assert found.uniform == pytest.approx(2 / 3)
    assert found.people == pytest.approx(np.mean(pairs))
    assert judge.brier.value == pytest.approx(found.people, abs=0.02)
    assert judge.gain.value == pytest.approx(judge.brier.value - found.marginal)


def test_no_constant_guess_does_better_than_guessing_on_the_same_ratings() -> None:
    """So a judge that reads nothing is never better than guessing, not even by chance."""
    rng = np.random.default_rng(2)
    outputs = Outputs.full(8, 2)
    table = rng.choice(POINTS, (1, len(outputs)), p=[0.5, 0.3, 0.2])
    people = shares_of_ratings(Ratings.of_table(table), POINTS)
    guessing = outputs.mean(brier_of_guessing(outputs, people))

    constants = rng.dirichlet(np.ones(3), 500)
    scores = [outputs.mean(brier_of_each(each[None, :], people)) for each in constants]

    assert min(scores) >= guessing
    assert min(scores) == pytest.approx(guessing, abs=0.02)


def by_hand(outputs: Outputs, judge: FloatArray, people: FloatArray) -> float:
    """The squared calibration error by pairs of outputs of different documents."""
    total = 0.0
    for point in range(judge.shape[1]):
        edges = np.unique(np.quantile(judge[:, point], np.linspace(0, 1, 11)[1:-1]))
        place = np.searchsorted(edges, judge[:, point], side="right")
        for at in np.unique(place):
            inside = np.flatnonzero(place == at)
            apart = judge[inside, point] - people[inside, point]
            document = outputs.document[inside]
            documents = len(set(document))
            products = sum(
                apart[a] * apart[b]
                for a, b in itertools.product(range(len(inside)), repeat=2)
                if document[a] != document[b]
            )
            total += products * documents / (documents - 1) / len(inside)
    return float(total / judge.size)


def test_the_calibration_error_is_of_products_of_different_documents() -> None:
    outputs, truth, ratings = drawn(documents=40)
    people = shares_of_ratings(ratings, POINTS)
    judge = truth**3 / (truth**3).sum(axis=1, keepdims=True)

    squared = squared_calibration_error(outputs, judge, people)

    assert squared.value == pytest.approx(by_hand(outputs, judge, people))
    found = probability_calibration(outputs, judge, people)
    assert found.error.value == pytest.approx(np.sqrt(squared.value))


def test_right_probabilities_have_no_calibration_error_on_average() -> None:
    squared = []
    for seed in range(200):
        outputs, truth, ratings = drawn(documents=20, seed=seed)
        people = shares_of_ratings(ratings, POINTS)
        squared.append(squared_calibration_error(outputs, truth, people).value)

    error = np.std(squared) / np.sqrt(len(squared))
    assert abs(np.mean(squared)) < 3 * error


def test_overconfidence_is_that_of_the_likeliest_point() -> None:
    outputs = Outputs.full(2, 1)
    judge = np.array([[0.9, 0.1, 0.0], [0.4, 0.4, 0.2]])
    people = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])

    found = probability_calibration(outputs, judge, people)

    assert found.confidence == pytest.approx((0.9 + 0.4) / 2)
    assert found.right == pytest.approx((0.5 + 0.5) / 2)  # a tie counts half
    assert found.over.value == pytest.approx(0.15)


def test_the_diagram_has_bins_of_equal_mass_over_all_points() -> None:
    outputs, truth, ratings = drawn(documents=200)

    curve = probability_calibration(outputs, truth, shares_of_ratings(ratings, POINTS)).curve

    assert len(curve) == 10
    assert sum(at.outputs for at, _interval in curve) == 3 * len(outputs)
    assert max(abs(at.score - at.rating) for at, _interval in curve) < 0.05
    for at, interval in curve:
        assert interval.low is not None
        assert interval.high is not None
        assert 0 <= interval.low <= at.rating <= interval.high <= 1


def test_of_two_judges_the_difference_is_on_the_same_ratings() -> None:
    outputs, truth, ratings = drawn()
    people = shares_of_ratings(ratings, POINTS)
    uniform = np.full(truth.shape, 1 / 3)

    found = brier_difference(outputs, truth, uniform, people)

    alone = [probability_calibration(outputs, judge, people) for judge in (truth, uniform)]
    assert found.value == pytest.approx(alone[0].brier.value - alone[1].brier.value)
    assert found.interval.leaves_out_zero


def test_intervals_of_all_that_is_said_together_are_wider() -> None:
    outputs, truth, ratings = drawn()

    found = probability_calibration(outputs, truth, shares_of_ratings(ratings, POINTS), joint=0.999)

    for measured in (found.brier, found.gain, found.over, found.error):
        assert measured.interval.ends is not None
        assert measured.joint.ends is not None
        assert measured.joint.ends[1] > measured.interval.ends[1]


def test_outputs_count_by_their_weights() -> None:
    outputs, truth, ratings = drawn(documents=40)
    people = shares_of_ratings(ratings, POINTS)
    twice = np.where(outputs.document < 20, 2.0, 1.0)
    again = np.concatenate([np.arange(len(outputs)), np.flatnonzero(outputs.document < 20)])
    again = again[np.argsort(outputs.document[again], kind="stable")]
    repeated = Outputs(outputs.document[again], outputs.system[again], 40, 5)

    weighted = probability_calibration(outputs.weighted(twice), truth, people)
    plain = probability_calibration(repeated, truth[again], people[again])

    assert weighted.brier.value == pytest.approx(plain.brier.value)
    assert weighted.gain.value == pytest.approx(plain.gain.value)
    assert weighted.over.value == pytest.approx(plain.over.value)
