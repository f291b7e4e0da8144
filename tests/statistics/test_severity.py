"""How strict annotators are by the many-facet Rasch model, held to slow implementations of its
definition."""

import itertools
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import optimize, stats

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.rater_effects import (
    ALIKE,
    ALONE,
    CHANGE,
    EXTREME,
    FEW_DOCUMENTS,
    FEW_SHARED,
    MANY_VALUES,
    ONE_VALUE,
    UNLINKED,
    _Conditional,
    _Patterns,
    many_facets,
)

RIDGE = 0.01
GRID = np.linspace(-10, 10, 61)


def alone(outputs: int) -> Outputs:
    """Each output in a document of its own."""
    return Outputs.full(outputs, 1)


def drawn(severity: list[float], outputs: int = 60, *, seed: int = 0) -> np.ndarray:
    """Ratings 1 to 3 under the model; shape (raters, outputs)."""
    rng = np.random.default_rng(seed)
    table = np.empty((len(severity), outputs))
    for at, quality in enumerate(rng.normal(0, 1.2, outputs)):
        for rater, own in enumerate(severity):
            logs = np.array([0, quality - own + 1, 2 * (quality - own)])
            p = np.exp(logs) / np.exp(logs).sum()
            table[rater, at] = 1 + rng.choice(3, p=p)
    return table


def loss_by_enumeration(parameters: np.ndarray, table: np.ndarray) -> float:
    """Minus the logarithm of the conditional likelihood, by listing all ways to reach each sum."""
    severity, steps = parameters[:-1] - parameters[:-1].mean(), [0.0, parameters[-1], 0.0]
    found = RIDGE / 2 * float(parameters @ parameters)
    for column in table.T:
        rated = [at for at, value in enumerate(column) if not np.isnan(value)]
        codes = [int(column[at]) - 1 for at in rated]

        def weight(given: tuple[int, ...], rated: list[int] = rated) -> float:
            return exp(sum(steps[k] - k * severity[at] for at, k in zip(rated, given, strict=True)))

        ways = itertools.product(range(3), repeat=len(rated))
        total = sum(weight(one) for one in ways if sum(one) == sum(codes))
        found -= log(weight(tuple(codes)) / total)
    return found


def test_severities_maximize_the_likelihood_given_each_outputs_sum() -> None:
    table = drawn([-0.6, 0.0, 0.2, 0.9])
    table[0, :15] = table[3, 20:35] = np.nan

    found = many_facets(alone(60), Ratings.of_table(table))

    slow = optimize.minimize(loss_by_enumeration, np.zeros(5), args=(table,), tol=1e-10)
    expected = slow.x[:-1] - slow.x[:-1].mean()
    assert [one.logits.value for one in found.raters] == pytest.approx(expected, abs=1e-4)
    assert found.steps == pytest.approx([-slow.x[-1], slow.x[-1]], abs=1e-4)


def test_two_annotators_and_two_values_have_a_closed_form() -> None:
    # 30 outputs where only the first passes, 12 where only the second does; the rest says nothing.
    first = [1.0] * 30 + [0.0] * 12 + [1.0] * 40 + [0.0] * 18
    second = [0.0] * 30 + [1.0] * 12 + [1.0] * 40 + [0.0] * 18

    found = many_facets(alone(100), Ratings.of_table(np.array([first, second])))

    lenient, strict = found.raters
    half = log(30 / 12) / 2
    assert [lenient.logits.value, strict.logits.value] == pytest.approx([-half, half], abs=1e-3)
    error = sqrt(1 / 30 + 1 / 12) / 2 * sqrt(42 / 41) * stats.t.ppf(0.975, 41)
    assert strict.logits_interval.ends == pytest.approx((half - error, half + error), abs=2e-3)


def test_of_few_differences_the_prior_takes_a_little() -> None:
    """Of four outputs on which two differ, three are for one: the half of the difference, under a
    normal prior of precision 0.01 on each severity."""
    first = [1.0] * 3 + [0.0] * 1 + [1.0] * 8 + [0.0] * 8
    second = [0.0] * 3 + [1.0] * 1 + [1.0] * 8 + [0.0] * 8

    lenient, strict = many_facets(alone(20), Ratings.of_table(np.array([first, second]))).raters

    def slope(half: float) -> float:
        return 2 * RIDGE * half - 2 * (3 - 4 / (1 + exp(-2 * half)))

    expected = optimize.brentq(slope, 0, 2, xtol=1e-12)
    assert strict.logits.value == pytest.approx(expected, abs=1e-5)
    assert lenient.logits.value == pytest.approx(-expected, abs=1e-5)


def model_of(table: np.ndarray) -> _Conditional:
    ratings = Ratings.of_table(table)
    return _Conditional(_Patterns.of(ratings, np.unique(ratings.value)))


def test_the_slope_is_that_of_the_loss() -> None:
    table = drawn([-0.6, 0.0, 0.9], outputs=12)
    table[0, :4] = np.nan
    model, at = model_of(table), np.array([-0.5, 0.1, 0.7, 0.3])

    _loss, slope = model._loss(at)

    for place, step in enumerate(1e-5 * np.eye(4)):
        rise = (model._loss(at + step)[0] - model._loss(at - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(rise, abs=1e-6)
    # Raising both: the ridge is all that says which severities are 0 on average.
    assert slope[:3].sum() == pytest.approx(RIDGE * at[:3].sum())


def test_errors_by_information_are_those_of_the_difference_of_two() -> None:
    first = [1.0] * 30 + [0.0] * 12 + [1.0] * 40
    second = [0.0] * 30 + [1.0] * 12 + [1.0] * 40
    model = model_of(np.array([first, second]))

    errors = model.errors(*model.fitted(), alone(82))

    half = sqrt(1 / 30 + 1 / 12) / 2
    assert errors.by_information == pytest.approx([half, half], rel=0.005)
    assert errors.clustered == pytest.approx([half * sqrt(42 / 41)] * 2, rel=0.005)
    assert errors.documents == 42


def test_adjusted_ratings_are_posterior_means_of_what_an_average_annotator_gives() -> None:
    table = drawn([-0.8, 0.0, 0.8], outputs=45)
    table[0, :20] = table[2, 25:] = np.nan
    found = many_facets(alone(45), Ratings.of_table(table))

    severity = [one.logits.value or 0.0 for one in found.raters]
    logs = np.array([0.0, -found.steps[0], 0.0])

    def probability(quality: float, own: float) -> np.ndarray:
        terms = np.exp(np.arange(3) * (quality - own) + logs)
        return np.asarray(terms / terms.sum())

    likelihood = np.ones((45, len(GRID)))
    for (rater, at), value in np.ndenumerate(table):
        if not np.isnan(value):
            likelihood[at] *= [probability(q, severity[rater])[int(value) - 1] for q in GRID]
    share = np.full(len(GRID), 1 / len(GRID))
    for _ in range(500):
        posterior = likelihood * share
        posterior /= posterior.sum(axis=1, keepdims=True)
        before, share = share, posterior.mean(axis=0)
        if np.abs(share - before).max() < CHANGE:
            break
    posterior = likelihood * share
    posterior /= posterior.sum(axis=1, keepdims=True)
    average = np.array([probability(q, 0.0) @ [1, 2, 3] for q in GRID])
    strict = np.array([probability(q, severity[2]) @ [1, 2, 3] for q in GRID])
    assert found.adjusted == pytest.approx(posterior @ average, abs=1e-6)
    assert found.raters[2].points.value == pytest.approx(share @ (average - strict), abs=1e-6)


def test_the_same_rating_is_worth_more_from_somebody_who_is_strict() -> None:
    table = drawn([-1.5, 0.0, 1.5], outputs=90)
    table[0, 30:60] = table[2, 60:] = np.nan
    table[:, 0] = [2, np.nan, np.nan]
    table[:, 1] = [np.nan, np.nan, 2]

    found = many_facets(alone(90), Ratings.of_table(table))

    assert found.adjusted[0] < found.adjusted[1]
    low, high = found.raters[2].points_interval.ends or (0.0, 0.0)
    assert 0 < low < (found.raters[2].points.value or 0.0) < high


def test_annotators_who_cannot_be_compared_have_a_reason() -> None:
    table = np.full((6, 120), np.nan)
    table[:3, :70] = drawn([-0.5, 0.0, 0.5], outputs=70)
    table[3, :19] = 2  # too few
    table[4:, 70:] = drawn([0.0, 0.3], outputs=50)  # nobody shares theirs

    found = many_facets(alone(120), Ratings.of_table(table))

    reasons = [one.logits.reason for one in found.raters]
    assert reasons == ["", "", "", FEW_SHARED, UNLINKED, UNLINKED]
    assert not np.isnan(found.adjusted[:70]).any()
    assert np.isnan(found.adjusted[70:]).all()


def test_somebody_who_is_always_stricter_has_no_size_of_it() -> None:
    table = np.array([[2.0] * 30 + [1.0] * 10, [1.0] * 40])
    table = np.column_stack([np.repeat(table, 40, axis=1), table])

    found = many_facets(alone(table.shape[1]), Ratings.of_table(table))

    assert {one.logits.reason for one in found.raters} == {EXTREME}


def test_annotators_who_never_differ_have_no_interval() -> None:
    rng = np.random.default_rng(1)
    table = np.tile(rng.integers(1, 6, 60).astype(float), (3, 1))

    for one in many_facets(alone(60), Ratings.of_table(table)).raters:
        assert one.points.value == pytest.approx(0, abs=1e-9)
        assert one.points_interval.reason == one.logits_interval.reason == ALIKE


def test_without_differences_without_an_ordinal_scale_or_documents_there_is_no_severity() -> None:
    same = many_facets(alone(30), Ratings.of_table(np.full((2, 30), 4.0)))
    fine = np.random.default_rng(0).random((2, 30))
    continuous = many_facets(alone(30), Ratings.of_table(fine))
    few = many_facets(Outputs.full(6, 10), Ratings.of_table(drawn([-0.5, 0.5])))

    assert (same.reason, continuous.reason) == (ONE_VALUE, MANY_VALUES)
    assert same.values.size == same.steps.size == 0
    nobody = many_facets(alone(30), Ratings.of_table(np.where(np.eye(2, 30) > 0, 1.0, np.nan)))
    assert nobody.reason == ONE_VALUE
    apart = np.full((2, 60), np.nan)
    apart[0, :30], apart[1, 30:] = np.arange(30) % 3, np.arange(30) % 2
    assert many_facets(alone(60), Ratings.of_table(apart)).reason == ALONE
    assert np.isnan(same.adjusted).all()
    assert few.raters[0].points.value is not None
    assert few.raters[0].points_interval.reason == FEW_DOCUMENTS
