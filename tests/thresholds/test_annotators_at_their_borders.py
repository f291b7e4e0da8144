"""What severity, competence and agreement on spans take, and who is warned of."""

from typing import Any

import numpy as np
import pytest

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.careless_signs import Signs
from geval.statistics.chance_raters import FEW_AGREE, Copy, _is_copy, _reason, _Test
from geval.statistics.latent_classes import (
    LatentClasses,
    RaterCompetence,
    latent_classes,
)
from geval.statistics.rater_effects import _Errors, _rater, many_facets
from geval.statistics.span_agreement import Mark, MarkedText, span_agreement
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(9)


def people(raters: int, outputs: int, values: int = 3) -> np.ndarray:
    """Ratings of people who mostly agree; shape (raters, outputs)."""
    truth = np.arange(outputs) % values
    table = np.tile(truth, (raters, 1)).astype(float)
    wrong = RNG.random(table.shape) < 0.25
    return np.where(wrong, RNG.integers(0, values, table.shape), table)


def competences(table: np.ndarray) -> LatentClasses:
    outputs = Outputs.full(table.shape[1], 1)
    return latent_classes(outputs, Ratings.of_table(table), has_intervals=False)


@pins("COMPETENCE_RATERS", {2: False, 3: True, 4: True})
def test_annotators_for_competence(value: int, expected: bool) -> None:
    assert (not competences(people(value, 60)).reason) is expected


@pins("COMPETENCE_OUTPUTS", {49: False, 50: True, 51: True})
def test_outputs_with_two_ratings_for_competence(value: int, expected: bool) -> None:
    assert (not competences(people(3, value)).reason) is expected


@pins("COMPETENCE_SHARED", {29: False, 30: True, 31: True})
def test_outputs_that_a_competent_annotator_shares(value: int, expected: bool) -> None:
    table = people(4, 80)
    table[0, value:] = np.nan

    assert (competences(table).raters[0].estimate.value is not None) is expected


@pins("RATING_VALUES", {10: True, 11: True, 12: False})
def test_different_ratings_for_competence_and_severity(value: int, expected: bool) -> None:
    table = people(3, 132, value)
    outputs = Outputs.full(132, 1)

    assert (not competences(table).reason) is expected
    severities = many_facets(outputs, Ratings.of_table(table), has_intervals=False)
    assert (not severities.reason) is expected


@pins("SPLIT", {0.79: True, 0.8: False, 0.81: False})
def test_an_output_whose_class_is_not_clear_is_split(value: float, expected: bool) -> None:
    surest = np.array([0.95, value])
    found = LatentClasses((RaterCompetence.undefined("none"),), surest, surest, surest)

    assert found.split.tolist() == ([1] if expected else [])


@pins("SEVERITY_SHARED", {19: False, 20: True, 21: True})
def test_outputs_that_an_annotator_with_a_severity_shares(value: int, expected: bool) -> None:
    table = people(3, 60)
    table[0, value:] = np.nan

    found = many_facets(Outputs.full(60, 1), Ratings.of_table(table), has_intervals=False)

    assert (found.raters[0].logits.value is not None) is expected


def severity(error: float = 0.3, documents: int = 40) -> Any:
    errors = _Errors(np.array([0.3]), np.array([error]), documents)
    values = np.array([1.0, 2.0, 3.0])
    share = np.full(61, 1 / 61)
    return _rater(0, np.array([0.4]), np.array([0.0, 0.0, 0.0]), values, share, errors)


@pins("SEVERITY_ERROR", {1.99: True, 2.0: True, 2.01: False})
def test_a_severity_that_is_hardly_known_has_no_value(value: float, expected: bool) -> None:
    assert (severity(error=value).logits.value is not None) is expected


@pins("SEVERITY_DOCUMENTS", {19: False, 20: True, 21: True})
def test_documents_for_the_interval_of_a_severity(value: int, expected: bool) -> None:
    found = severity(documents=value)

    assert found.logits.value is not None
    assert (found.logits_interval.ends is not None) is expected
    assert (found.points_interval.ends is not None) is expected


def test_the_interval_of_a_severity_is_students_t_of_its_documents() -> None:
    low, high = 0.4 - 2.022691 * 0.3, 0.4 + 2.022691 * 0.3  # t of 39 degrees of freedom

    assert severity(documents=40).logits_interval.ends == pytest.approx((low, high), abs=1e-6)


@pins("SPAN_OUTPUTS", {9: False, 10: True, 11: True})
def test_outputs_that_two_people_marked(value: int, expected: bool) -> None:
    texts = [MarkedText(at, {0: [Mark(0, 10 + at)], 1: [Mark(4, 14)]}) for at in range(value)]

    assert (span_agreement(texts, value).f1.value is not None) is expected


@pins("SUSPECT_ITEMS", {9: False, 10: True, 11: True})
def test_items_before_signs_together_name_anybody(value: int, expected: bool) -> None:
    assert Signs(value, 100.0, 1.0, 1.0, 1.0).are_enough is expected


@pins("SIGNS_RATIO", {29: False, 30: True, 31: True})
def test_how_much_likelier_signs_are_without_reading(value: float, expected: bool) -> None:
    assert Signs(40, 1.0, value / 2, 2.0, 1.0).are_enough is expected


@pins("CHANCE_LEVEL", {0.01: True, 0.02: True, 0.03: False})
def test_who_is_above_chance(value: float, expected: bool) -> None:
    assert _Test(30, 0.5, value).is_above is expected


@pins("CHANCE_ERROR", {0.04: True, 0.05: True, 0.06: False})
def test_how_often_honest_people_may_be_named(value: float, expected: bool) -> None:
    assert (not _reason(_Test(30, 0.0, 0.5), 1 - value, 1.0)) is expected


@pins("CHANCE_ITEMS", {7: False, 8: True, 9: True})
def test_items_before_anybody_is_called_no_better_than_chance(value: int, expected: bool) -> None:
    assert (not _reason(_Test(value, 0.0, 0.5), 1.0, 1.0)) is expected


@pins("CHANCE_AGREE", {0.33: False, 1 / 3: True, 0.34: True})
def test_the_share_who_agree_before_anybody_is_called_careless(
    value: float, expected: bool
) -> None:
    assert (_reason(_Test(30, 0.0, 0.5), 1.0, value) != FEW_AGREE) is expected


@pins("COPY_ITEMS", {19: False, 20: True, 21: True})
def test_items_before_anybody_is_said_to_copy(value: int, expected: bool) -> None:
    assert _is_copy(Copy(0, 1, value, value), [Copy(0, 2, 10, 100)]) is expected


@pins("COPY_SHARE", {0.94: False, 0.95: True, 0.96: True})
def test_the_share_of_same_answers_of_a_copy(value: float, expected: bool) -> None:
    copy = Copy(0, 1, round(100 * value), 100)

    assert _is_copy(copy, [Copy(0, 2, 10, 100)]) is expected
