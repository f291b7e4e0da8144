"""Weighted kappa against worked figures, and its interval in simulation."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.types import FloatArray
from geval.statistics.weighted_kappa import KappaEstimate, kappa_lead, weighted_kappa
from tests.statistics.plain_definitions import kappa


def seen(rng: np.random.Generator, count: int, noise: float) -> tuple[FloatArray, FloatArray]:
    """People's and a judge's ratings from 1 to 5, most of them high."""
    quality = rng.normal(size=count)
    cuts = [-2.2, -1.6, -1.1, -0.3]
    sides = (np.searchsorted(cuts, quality + rng.normal(size=count) * own) + 1.0
             for own in (0.4, noise))  # fmt: skip
    people, judge = sides
    return people, judge


def of(people: FloatArray, judge: FloatArray, systems: int = 1) -> KappaEstimate:
    return weighted_kappa(Outputs.full(len(people) // systems, systems), people, judge)


@pytest.mark.parametrize("points", [2, 3, 5])
def test_it_is_cohens_on_the_points(points: int) -> None:
    rng = np.random.default_rng(points)
    people = rng.integers(0, points, 300).astype(float)
    judge = np.where(rng.random(300) < 0.7, people, rng.integers(0, points, 300))

    assert of(people, judge).estimate.value == pytest.approx(kappa(list(people), list(judge)))


def test_a_shift_and_large_numbers_are_no_matter_of_digits() -> None:
    people, judge = seen(np.random.default_rng(1), 200, 0.5)

    shifted = of(people, judge + 1).estimate.value or 0
    assert shifted < (of(people, judge).estimate.value or 0)
    assert of(people + 1e6, judge + 1e6 + 1).estimate.value == pytest.approx(shifted, rel=1e-6)


@pytest.mark.parametrize("same", [True, False])
def test_a_constant_agrees_by_chance_at_most(same: bool) -> None:
    people, _judge = seen(np.random.default_rng(2), 100, 0.5)

    kappa = of(np.full(100, 3.0) if same else people, np.full(100, 3.0))

    assert kappa.estimate.value == (None if same else pytest.approx(0, abs=1e-12))
    assert kappa.interval.low is None or kappa.interval.low <= 0


@pytest.mark.parametrize(("least", "enough"), [(0.3, True), (0.6, False), (0.9, None)])
def test_how_many_more_outputs_show_it(least: float, enough: bool | None) -> None:
    kappa = of(*seen(np.random.default_rng(3), 80, 0.8))

    more = kappa.more_for(least, 0.025)

    assert (None if more is None else more == 0) is enough


def test_the_better_of_two_leads() -> None:
    rng = np.random.default_rng(5)
    people, judge = seen(rng, 300, 0.5)
    other = rng.permutation(judge)
    outputs = Outputs.full(300, 1)

    lead = kappa_lead(outputs, people, judge, other)

    assert (lead.low or 0) > 0.4
    assert (kappa_lead(outputs, people, other, judge).high or 0) < -0.4
