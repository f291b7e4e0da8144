"""The statistics of the report, held to definitions, to other packages, and to slow direct
computations."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from geval.statistics.agreement import MEASUREMENTS
from geval.statistics.arrays import Outputs
from geval.statistics.bias import family_of
from geval.statistics.calibration import (
    ReliabilityBin,
    reliability_intervals,
)
from geval.statistics.correlation import COEFFICIENTS, coefficients_of_rows
from geval.statistics.resampling import bootstrap_samples, draw, drawn_coefficients
from geval.statistics.types import FloatArray
from tests.statistics.tables import (
    alpha_interval,
    complete_pairs,
    correlations,
    document_gains,
    human_ceiling,
    mean_over_raters,
    writer_bias,
)

seeds = st.integers(0, 10_000)


def some_table(
    seed: int, shape: tuple[int, ...], *, levels: int = 4, missing: float = 0.15
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, levels + 1, shape).astype(float)
    values[rng.random(shape) < missing] = np.nan
    return values


# Systems drawn several times


@pytest.mark.parametrize("over", ["systems", "both"])
@pytest.mark.parametrize("level", ["summary", "system"])
def test_resampling_is_what_taking_rows_and_columns_gives(over: str, level: str) -> None:
    human, judge = some_table(1, (8, 5), missing=0), some_table(2, (8, 5), missing=0)
    draws = draw(human.shape, over, rng=np.random.default_rng(0), resamples=20)  # type: ignore[arg-type]

    found = bootstrap_samples(human, judge, "kendall", draws, level=level)  # type: ignore[arg-type]

    assert draws.systems is not None
    for number in range(20):
        rows = np.arange(8) if draws.documents is None else draws.documents[number]
        part = np.ix_(rows, draws.systems[number])
        if level == "summary":
            by_document = coefficients_of_rows(human[part], judge[part], "kendall")
            expected = np.nan if np.isnan(by_document).all() else np.nanmean(by_document)
        else:
            expected = stats.kendalltau(
                human[part].mean(axis=0).round(10), judge[part].mean(axis=0).round(10)
            ).statistic
        np.testing.assert_allclose(found[number], expected, atol=1e-9)


# Agreement


@given(seeds, st.sampled_from(MEASUREMENTS))
@settings(max_examples=40)
def test_the_interval_of_alpha_is_the_jackknife_of_krippendorffs_alpha(
    seed: int, measurement: str
) -> None:
    ratings = some_table(seed, (3, 12, 4), missing=0.1)

    found = alpha_interval(ratings, measurement)  # type: ignore[arg-type]

    def disagreement(rows: np.ndarray) -> float:
        units = ratings[:, rows].reshape(3, -1)
        known = units[:, (~np.isnan(units)).sum(axis=0) > 1]
        return np.log(
            1 - krippendorff.alpha(reliability_data=known, level_of_measurement=measurement)
        )

    left_out = [disagreement(np.delete(np.arange(12), row)) for row in range(12)]
    error = np.sqrt(11 / 12 * ((left_out - np.mean(left_out)) ** 2).sum())
    half = stats.t.ppf(0.975, 11) * error
    ends = [1 - np.exp(disagreement(np.arange(12)) + side * half) for side in (1, -1)]
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-8)


def test_the_ceiling_is_the_mean_over_annotators_with_its_interval() -> None:
    ratings = some_table(5, (3, 40, 6), missing=0)

    found = human_ceiling(ratings)

    others = [mean_over_raters(np.delete(ratings, rater, axis=0)) for rater in range(3)]
    each = [
        correlations(ratings[rater], others[rater]).estimates["spearman"]["summary"].value or 0.0
        for rater in range(3)
    ]
    assert found.estimate.value == pytest.approx(np.mean(each))
    assert found.interval.low is not None
    assert found.interval.high is not None
    assert found.interval.low < np.mean(each) < found.interval.high
    assert human_ceiling(ratings[:1]).estimate.value is None


# Few ratings


# Calibration and bias


def bins(judge: FloatArray, human: FloatArray) -> list[ReliabilityBin]:
    outputs = Outputs.full(len(judge), 1)
    return [each for each, _interval in reliability_intervals(outputs, judge, human)]


@pytest.mark.parametrize("scores", [[1.0] * 5 + [2.0] * 2, [1, 2, 3, 4, 5] * 4, [4.0] * 60 + [5.0]])
def test_a_judge_with_few_values_has_a_bin_for_each(scores: list[float]) -> None:
    given = np.array(scores, dtype=float)

    filled = bins(given, given)

    assert [each.score for each in filled] == sorted(set(scores))
    assert [each.outputs for each in filled] == [scores.count(each) for each in sorted(set(scores))]


@given(seeds)
def test_reliability_bins_hold_every_output_once(seed: int) -> None:
    judge, human = (
        some_table(seed, (50,), levels=30, missing=0),
        some_table(seed + 1, (50,), missing=0),
    )

    filled = bins(judge, human)

    assert sum(each.outputs for each in filled) == 50
    assert sum(each.rating * each.outputs for each in filled) == pytest.approx(human.sum())
    assert [each.score for each in filled] == sorted(each.score for each in filled)


def test_writers_are_grouped_by_which_text_people_prefer() -> None:
    human = np.array([[5.0, 3.0], [2.0, 4.0], [3.0, 3.0], [4.0, 1.0]])
    judge = np.array([[3.0, 4.0], [2.0, 5.0], [3.0, 3.5], [4.0, 4.0]])

    found = writer_bias(human, judge, np.array([True, False]), np.array([False, True]))

    assert found is not None
    # people prefer the human's text in documents 1 and 4: (4 - 3 + 4 - 4) / 2
    assert {name: (group.gap, group.pairs) for name, (group, _) in found.groups.items()} == {
        "human": (0.5, 2),
        "equal": (0.5, 1),
        "llm": (3.0, 1),
    }
    assert writer_bias(human, judge, np.array([True, True]), np.array([False, False])) is None


# Comparisons


# What to rate next


def test_a_document_tells_as_much_as_the_judge_tells_its_outputs_apart() -> None:
    human = np.array([[1.0, 2.0, 3.0], [np.nan] * 3, [np.nan] * 3])
    judge = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1.0, 2.0, 2.0]])

    gains = document_gains(human, judge)

    assert np.isnan(gains[0])
    assert gains[1:].tolist() == [0.0, pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o", "gpt"),
        ("ChatGPT", "gpt"),
        ("meta/Llama-3.1-8B", "llama"),
        ("CodeLlama", "llama"),
        ("phi-3", "phi"),
        ("dolphin-2.9", ""),
        ("morphine", ""),
    ],
)
def test_a_family_is_a_whole_word_of_a_models_name(name: str, family: str) -> None:
    assert family_of(name) == family


@given(seeds, st.sampled_from(COEFFICIENTS))
def test_drawn_systems_are_columns_taken_so_often(seed: int, coefficient: str) -> None:
    human, judge = complete_pairs(some_table(seed, (5, 6)), some_table(seed + 1, (5, 6), levels=9))
    columns = np.random.default_rng(seed).integers(0, 6, (7, 6))
    counts = np.array([np.bincount(row, minlength=6) for row in columns], dtype=float)

    fast = drawn_coefficients(human, judge, counts, coefficient)  # type: ignore[arg-type]

    slow = [
        coefficients_of_rows(human[:, row], judge[:, row], coefficient)  # type: ignore[arg-type]
        for row in columns
    ]
    np.testing.assert_allclose(fast.T, slow, atol=1e-9)
