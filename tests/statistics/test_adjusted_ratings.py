"""Ratings adjusted for severity by the many-facet Rasch model, held to slow implementations of its
definition."""

import itertools
from math import exp, log

import numpy as np
import pytest
from scipy import optimize

from geval.statistics.arrays import Ratings
from geval.statistics.rater_effects import (
    ALONE,
    CHANGE,
    MANY_VALUES,
    ONE_VALUE,
    _Conditional,
    _Patterns,
    adjusted_ratings,
)

RIDGE = 0.01
GRID = np.linspace(-10, 10, 61)


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

    severity, steps = model_of(table).fitted()

    slow = optimize.minimize(loss_by_enumeration, np.zeros(5), args=(table,), tol=1e-10)
    assert severity == pytest.approx(slow.x[:-1] - slow.x[:-1].mean(), abs=1e-4)
    assert steps == pytest.approx([0, slow.x[-1], 0], abs=1e-4)


def test_two_annotators_and_two_values_have_a_closed_form() -> None:
    # 30 outputs where only the first passes, 12 where only the second does; the rest says nothing.
    first = [1.0] * 30 + [0.0] * 12 + [1.0] * 40 + [0.0] * 18
    second = [0.0] * 30 + [1.0] * 12 + [1.0] * 40 + [0.0] * 18

    severity, _steps = model_of(np.array([first, second])).fitted()

    half = log(30 / 12) / 2
    assert severity == pytest.approx([-half, half], abs=1e-3)


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


def test_adjusted_ratings_are_posterior_means_of_what_an_average_annotator_gives() -> None:
    table = drawn([-0.8, 0.0, 0.8], outputs=45)
    table[0, :20] = table[2, 25:] = np.nan
    severity, logs = model_of(table).fitted()

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
    adjusted = adjusted_ratings(Ratings.of_table(table)).values
    assert adjusted == pytest.approx(posterior @ average, abs=1e-6)


def test_outputs_of_annotators_who_cannot_be_compared_have_no_value() -> None:
    table = np.full((6, 121), np.nan)
    table[:3, :70] = drawn([-0.5, 0.0, 0.5], outputs=70)
    table[3, :19] = table[3, 120] = 2  # too few are shared
    table[4:, 70:120] = drawn([0.0, 0.3], outputs=50)  # nobody shares theirs

    adjusted = adjusted_ratings(Ratings.of_table(table)).values

    assert not np.isnan(adjusted[:70]).any()
    assert np.isnan(adjusted[70:]).all()


APART = np.full((2, 60), np.nan)
APART[0, :30], APART[1, 30:] = np.arange(30) % 3, np.arange(30) % 2


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.full((2, 30), 4.0), ONE_VALUE),
        (np.where(np.eye(2, 30) > 0, 1.0, np.nan), ONE_VALUE),
        (np.random.default_rng(0).random((2, 30)), MANY_VALUES),
        (APART, ALONE),
    ],
)
def test_without_differences_an_ordinal_scale_or_links_there_is_no_model(
    table: np.ndarray, reason: str
) -> None:
    adjusted = adjusted_ratings(Ratings.of_table(table))

    assert adjusted.reason == reason
    assert np.isnan(adjusted.values).all()
