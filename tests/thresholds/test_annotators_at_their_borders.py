"""What adjusted ratings, latent classes and agreement on spans take, and who is warned of."""

import numpy as np

from geval.statistics.arrays import Ratings
from geval.statistics.careless_signs import Signs
from geval.statistics.chance_raters import FEW_AGREE, Copy, _is_copy, _reason, _Test
from geval.statistics.latent_classes import LatentClasses, latent_classes
from geval.statistics.rater_effects import adjusted_ratings
from geval.statistics.span_agreement import Mark, MarkedText, span_agreement
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(9)


def people(raters: int, outputs: int, values: int = 3) -> np.ndarray:
    """Ratings of people who mostly agree; shape (raters, outputs)."""
    truth = np.arange(outputs) % values
    table = np.tile(truth, (raters, 1)).astype(float)
    wrong = RNG.random(table.shape) < 0.25
    return np.where(wrong, RNG.integers(0, values, table.shape), table)


def has_classes(table: np.ndarray) -> bool:
    return not latent_classes(Ratings.of_table(table)).reason


@pins("CLASSES_RATERS", {2: False, 3: True, 4: True})
def test_annotators_for_latent_classes(value: int, expected: bool) -> None:
    assert has_classes(people(value, 60)) is expected


@pins("CLASSES_OUTPUTS", {49: False, 50: True, 51: True})
def test_outputs_with_two_ratings_for_latent_classes(value: int, expected: bool) -> None:
    assert has_classes(people(3, value)) is expected


@pins("CLASSES_SHARED", {29: False, 30: True, 31: True})
def test_outputs_that_three_annotators_share_for_latent_classes(value: int, expected: bool) -> None:
    table = people(3, 80)
    table[0, value:] = np.nan

    assert has_classes(table) is expected


@pins("RATING_VALUES", {10: True, 11: True, 12: False})
def test_different_ratings_for_both_models(value: int, expected: bool) -> None:
    table = people(3, 132, value)

    assert has_classes(table) is expected
    assert (not adjusted_ratings(Ratings.of_table(table)).reason) is expected


@pins("SPLIT", {0.79: True, 0.8: False, 0.81: False})
def test_an_output_whose_class_is_not_clear_is_split(value: float, expected: bool) -> None:
    surest = np.array([0.95, value])
    classes = LatentClasses(surest, surest, surest)

    assert classes.split.tolist() == ([1] if expected else [])


@pins("SEVERITY_SHARED", {19: False, 20: True, 21: True})
def test_outputs_that_an_annotator_in_the_model_of_severity_shares(
    value: int, expected: bool
) -> None:
    table = np.column_stack([people(3, 60), [2, np.nan, np.nan]])
    table[0, value:60] = np.nan

    adjusted = adjusted_ratings(Ratings.of_table(table)).values

    assert (not np.isnan(adjusted[60])) is expected


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
