"""The statistics of the report, held to definitions, to other packages, and to slow direct
computations."""

import itertools

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
    equipercentile,
    reliability_intervals,
)
from geval.statistics.correlation import COEFFICIENTS, coefficients_of_rows
from geval.statistics.jackknife import TOO_FEW, LeftOut
from geval.statistics.preferences import davidson, davidson_intervals
from geval.statistics.projection import projections
from geval.statistics.resampling import Interval, bootstrap_samples, draw, drawn_coefficients
from geval.statistics.types import FloatArray
from tests.statistics.tables import (
    alpha_interval,
    complete_pairs,
    correlations,
    document_gains,
    family_bias,
    human_ceiling,
    krippendorff_alpha,
    length_bias,
    mean_over_raters,
    permutation_test,
    ppi_table,
    writer_bias,
)

RNG = np.random.default_rng(11)
seeds = st.integers(0, 10_000)


def some_table(
    seed: int, shape: tuple[int, ...], *, levels: int = 4, missing: float = 0.15
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, levels + 1, shape).astype(float)
    values[rng.random(shape) < missing] = np.nan
    return values


# Systems drawn several times


@given(seeds, st.sampled_from(COEFFICIENTS))
def test_drawn_systems_are_columns_taken_so_often(seed: int, coefficient: str) -> None:
    human, judge = complete_pairs(some_table(seed, (5, 6)), some_table(seed + 1, (5, 6), levels=9))
    columns = np.random.default_rng(seed).integers(0, 6, (7, 6))
    counts = np.array([np.bincount(row, minlength=6) for row in columns], dtype=float)

    found = drawn_coefficients(human, judge, counts, coefficient)  # type: ignore[arg-type]

    slow = [coefficients_of_rows(human[:, row], judge[:, row], coefficient) for row in columns]  # type: ignore[arg-type]
    np.testing.assert_allclose(found.T, slow, atol=1e-9)


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


def test_a_judge_does_not_differ_from_itself() -> None:
    human, judge = some_table(3, (10, 15)), some_table(4, (10, 15), levels=7)

    found = permutation_test(human, judge, judge.copy(), "spearman", rng=np.random.default_rng(0))

    assert found.observed == pytest.approx(0)
    assert found.p == 1.0


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


def test_prediction_powered_means_cover_the_truth_and_are_worth_more_ratings() -> None:
    covered = worth = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.normal(3, 1, (400, 2))
        judge = truth + rng.normal(0.5, 0.4, truth.shape)
        human = np.where(rng.random(truth.shape) < 0.2, truth, np.nan)
        table = ppi_table(human, judge)
        assert table.systems[0].mean
        covered += table.systems[0].mean.low <= truth[:, 0].mean() <= table.systems[0].mean.high
        worth += table.systems[0].mean.effective_ratings > 1.5 * table.systems[0].rated

    assert covered >= 52  # 95 % of 60, less four standard deviations
    assert worth == 60


def test_ratings_of_the_best_outputs_only_are_seen_to_be_no_random_sample() -> None:
    judge = RNG.normal(3, 1, (300, 2))
    chosen = np.where(judge > 3.5, judge, np.nan)
    at_random = np.where(RNG.random(judge.shape) < 0.3, judge, np.nan)

    assert not ppi_table(chosen, judge).is_random
    assert ppi_table(at_random, judge).is_random
    assert ppi_table(judge, judge).unlike is None


# Calibration and bias


@given(seeds)
def test_the_ordinal_map_rises_and_stays_within_the_ratings(seed: int) -> None:
    judge, human = (
        some_table(seed, (30,), levels=9, missing=0),
        some_table(seed + 1, (30,), missing=0),
    )

    fitted = equipercentile(judge, human)

    assert np.all(np.diff(fitted.fit) >= -1e-12)
    assert human.min() <= fitted.fit.min() <= fitted.fit.max() <= human.max()


def bins(judge: FloatArray, human: FloatArray) -> list[ReliabilityBin]:
    outputs = Outputs.full(len(judge), 1)
    return [each for each, _interval in reliability_intervals(outputs, judge, human)]


@pytest.mark.parametrize("scores", [[1.0] * 5 + [2.0] * 2, [1, 2, 3, 4, 5] * 4, [4.0] * 60 + [5.0]])
def test_a_judge_with_few_values_has_a_bin_for_each(scores: list[float]) -> None:
    given = np.array(scores, dtype=float)

    filled = bins(given, given)

    assert [each.score for each in filled] == sorted(set(scores))
    assert [each.outputs for each in filled] == [scores.count(each) for each in sorted(set(scores))]


def test_the_highest_score_that_many_have_is_not_put_with_lower_ones() -> None:
    given = np.concatenate([np.linspace(1, 4.9, 40), np.full(60, 5.0)])

    assert bins(given, given)[-1].score == 5.0


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


def test_a_judge_that_likes_length_is_found_out_at_equal_rating() -> None:
    words = RNG.integers(20, 200, (50, 6)).astype(float)
    human = RNG.normal(3, 1, (50, 6))

    likes = length_bias(human, human + words / 50, words)
    fair = length_bias(human, human + RNG.normal(0, 1, (50, 6)), words)

    assert likes.partial.value is not None
    assert likes.partial.value > 0.8
    assert likes.interval.low is not None
    assert likes.interval.low > 0.7
    assert fair.interval.low is not None
    assert fair.interval.high is not None
    assert fair.interval.low < 0.1 < fair.interval.high + 0.2


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


def test_a_judge_that_likes_its_own_family_is_found_out() -> None:
    human = RNG.normal(3, 1, (60, 4))
    own = np.array([True, False, False, False])
    judge = human + np.where(own, 1.0, 0.2) + RNG.normal(0, 0.3, human.shape)

    found = family_bias(human, judge, own, ~own)
    nobody = family_bias(human, judge, np.zeros(4, bool), ~own)

    assert found.partial.value == pytest.approx(0.8, abs=0.15)
    assert found.interval.low is not None
    assert found.interval.low > 0.6
    assert nobody.partial.value is None
    assert nobody.interval.reason


def test_a_judge_that_only_narrows_the_scale_does_not_prefer_a_family_that_writes_badly() -> None:
    own = np.array([True, False, False, False])
    human = RNG.normal(3, 1, (200, 4)) - own
    judge = 3 + 0.5 * (human - 3) + RNG.normal(0, 0.3, human.shape)

    found = family_bias(human, judge, own, ~own)

    assert found.interval.low is not None
    assert found.interval.high is not None
    assert found.interval.low < 0 < found.interval.high


# Comparisons


def test_davidsons_strengths_are_found_again_in_comparisons_made_from_them() -> None:
    strengths, tie = np.array([1.0, 0.2, -0.4, -0.8]), 0.8
    wins, ties = np.zeros((4, 4)), np.zeros((4, 4))
    for a, b in itertools.combinations(range(4), 2):
        half = (strengths[a] - strengths[b]) / 2
        shares = np.array([np.exp(half), np.exp(-half), tie])
        won, lost, tied = 1e6 * shares / shares.sum()  # so many that chance plays no part
        wins[a, b], wins[b, a], ties[a, b], ties[b, a] = won, lost, tied, tied

    found = davidson(wins, ties)

    np.testing.assert_allclose(found.strengths, strengths, atol=1e-3)
    assert found.tie == pytest.approx(tie, abs=1e-3)
    assert found.strengths.sum() == pytest.approx(0)


def test_systems_that_were_never_compared_have_no_strength() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 1

    assert not davidson(wins, np.zeros((4, 4))).connected


def compared_by_three(documents: int) -> tuple[FloatArray, FloatArray]:
    """Wins and ties of three systems by document, of three people who see outputs of document-wide
    quality; shape (documents, 3, 3)."""
    rng = np.random.default_rng(documents)
    wins, ties = np.zeros((2, documents, 3, 3))
    for document, quality in enumerate(rng.normal([0.3, 0.0, -0.3], 1, (documents, 3))):
        for (a, b), _person in itertools.product(itertools.combinations(range(3), 2), range(3)):
            gap = quality[a] - quality[b] + rng.normal(0, 0.3)
            if abs(gap) < 0.2:
                ties[document, a, b] += 1
                ties[document, b, a] += 1
            else:
                first, second = (a, b) if gap > 0 else (b, a)
                wins[document, first, second] += 1
    return wins, ties


def test_strengths_have_the_jackknife_over_documents() -> None:
    wins, ties = compared_by_three(20)

    fitted, intervals = davidson_intervals(wins, ties, LeftOut.each(20), 20)

    without = np.array(
        [
            davidson(*(np.delete(side, d, axis=0).sum(axis=0) for side in (wins, ties))).strengths
            for d in range(20)
        ]
    )
    error = np.sqrt(19 / 20 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    for strength, interval, half in zip(fitted.strengths, intervals, 2.093 * error, strict=True):
        assert interval.ends == pytest.approx((strength - half, strength + half), abs=2e-3)


def test_strengths_of_nine_documents_have_no_interval() -> None:
    fitted, intervals = davidson_intervals(*compared_by_three(9), LeftOut.each(9), 9)

    assert fitted.connected
    assert {interval.reason for interval in intervals} == {TOO_FEW.format(10, "documents")}


# What to rate next


def test_half_the_width_likely_takes_three_times_as_many_documents_more() -> None:
    found = projections(Interval(0.4, 0.6), documents=100, ratings_per_document=12)

    # Student's t is smaller with more documents, so slightly fewer do than by the square root.
    assert [(round(one.half_width, 3), one.documents, one.ratings) for one in found] == [
        (0.075, 76, 912),
        (0.05, 293, 3516),
        (0.025, 1464, 17568),
    ]
    for one in found:
        assert 1.1 < (100 + one.promised_documents) / (100 + one.documents) < 1.3
        assert one.promised_ratings == 12 * one.promised_documents
    assert projections(Interval(None, None), documents=10, ratings_per_document=1) == ()


def test_a_document_tells_as_much_as_the_judge_tells_its_outputs_apart() -> None:
    human = np.array([[1.0, 2.0, 3.0], [np.nan] * 3, [np.nan] * 3])
    judge = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1.0, 2.0, 2.0]])

    gains = document_gains(human, judge)

    assert np.isnan(gains[0])
    assert gains[1:].tolist() == [0.0, pytest.approx(2 / 3)]


def test_of_one_output_nothing_is_told_apart_and_of_two_all_or_nothing() -> None:
    human = np.full((3, 2), np.nan)
    judge = np.array([[1.0, np.nan], [4.0, 4.0], [1.0, 2.0]])

    gains = document_gains(human, judge)

    np.testing.assert_array_equal(gains, [np.nan, 0.0, 1.0])


def test_an_undefined_alpha_says_why() -> None:
    assert krippendorff_alpha(np.full((2, 3, 2), 4.0), "ordinal").reason
    assert alpha_interval(np.full((2, 3, 2), 4.0), "ordinal").reason


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
