"""Weighted coefficients, means and intervals are those of a population in which every value occurs
as often as its weight says; without weights nothing changes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.correlation import COEFFICIENTS, coefficient_of, correlations
from geval.statistics.jackknife import LeftOut, interval_of_difference
from geval.statistics.pass_fail import pass_fail
from geval.statistics.ppi import Parts, ppi_table
from geval.statistics.resampling import draw, resample_means
from geval.statistics.same_documents import SameDocuments
from geval.statistics.scales import Scale
from geval.statistics.significance import permutation_tests
from geval.statistics.weighted import kish

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("seed", range(5))
def test_whole_weights_give_what_scipy_gives_for_repeated_values(
    coefficient: str, seed: int
) -> None:
    rng = chance(seed)
    x, y = rng.integers(0, 6, 60).astype(float), rng.integers(0, 4, 60).astype(float)
    x, weight = x + y, rng.integers(1, 7, 60)

    found = coefficient_of(x, y, coefficient, weight=weight.astype(float))  # type: ignore[arg-type]

    expected = SCIPY[coefficient](np.repeat(x, weight), np.repeat(y, weight)).statistic
    assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_documents_have_the_weighted_coefficients_of_their_outputs(coefficient: str) -> None:
    rng = chance()
    outputs = Outputs.full(12, 5)
    human, judge = rng.integers(1, 6, 60).astype(float), rng.normal(size=60).round(1)
    weight = rng.uniform(1, 3, 60)
    human[:5] = 3.0

    found = correlations(outputs.weighted(weight), human, judge)

    rows = weight.reshape(12, 5)
    alone = [
        coefficient_of(human[five], judge[five], coefficient, weight=weight[five]).value  # type: ignore[arg-type]
        for five in np.arange(60).reshape(12, 5)
    ]
    assert alone[0] is None
    assert np.isnan(found.by_document[coefficient][0])  # type: ignore[index]
    np.testing.assert_allclose(found.by_document[coefficient][1:], alone[1:])  # type: ignore[index]
    expected = np.average(np.array(alone[1:], dtype=float), weights=rows.mean(axis=1)[1:])
    of_summary = found.estimates[coefficient]["summary"].value  # type: ignore[index]
    assert of_summary == pytest.approx(expected)


def test_documents_drawn_whole_keep_their_own_coefficients() -> None:
    rng = chance()
    outputs, weight = Outputs.full(10, 4), np.repeat(rng.uniform(1, 5, 10), 4)
    human, judge = rng.normal(size=(2, 40))

    plain, weighted = (
        correlations(one, human, judge) for one in (outputs, outputs.weighted(weight))
    )

    for coefficient in COEFFICIENTS:
        by_document = plain.by_document[coefficient]
        np.testing.assert_array_equal(by_document, weighted.by_document[coefficient])
        assert weighted.estimates[coefficient]["summary"].value == pytest.approx(
            np.average(by_document, weights=weight[::4])
        )


def test_system_means_are_weighted_means() -> None:
    rng = chance()
    outputs, weight = Outputs.full(30, 4), rng.uniform(1, 5, 120)
    human = rng.normal(size=120)

    found = outputs.weighted(weight).means_by_system(human)

    table, of_table = human.reshape(30, 4), weight.reshape(30, 4)
    np.testing.assert_allclose(found, np.average(table, axis=0, weights=of_table))


def test_equal_weights_give_the_same_intervals_and_tests() -> None:
    rng = chance()
    outputs = Outputs.full(40, 4)
    by_document, other = rng.normal(0.3, 0.2, (2, 40))
    by_document[3] = np.nan
    weight = np.full(40, 2.5)
    documents, draws = LeftOut.each(40), draw((40, 1), "documents", rng=chance())
    counting = np.ones(40, dtype=bool)
    same = SameDocuments(counting, outputs.by_document(), by_document, other)

    pairs = [
        (documents.mean_interval(by_document), documents.mean_interval(by_document, 0.95, weight)),
        (
            interval_of_difference(same),
            interval_of_difference(replace(same, weight=weight)),
        ),
    ]
    for plain, weighted in pairs:
        assert weighted.ends == pytest.approx(plain.ends)
    np.testing.assert_allclose(
        resample_means(by_document, draws), resample_means(by_document, draws, weight)
    )
    one, two = (
        permutation_tests([same.difference], rng=chance(), weights=[own])[0]
        for own in (None, weight)
    )
    assert two.p == one.p


def test_the_jackknife_leaves_weighted_documents_out_one_by_one() -> None:
    rng = chance()
    values, weight = rng.normal(size=25), rng.uniform(1, 4, 25)
    mean = np.average(values, weights=weight)
    left_out = [
        np.average(np.delete(values, at), weights=np.delete(weight, at)) for at in range(25)
    ]
    error = np.sqrt(24 / 25 * ((left_out - np.mean(left_out)) ** 2).sum())
    half = stats.t.ppf(0.975, int(kish(weight)) - 1) * error

    found = LeftOut.each(25).mean_interval(values, weight=weight)

    assert found.ends == pytest.approx((mean - half, mean + half))


def test_permutations_swap_weighted_differences() -> None:
    rng = chance()
    first, second = rng.normal(size=(2, 8))
    weight = rng.uniform(1, 4, 8)
    difference = weight * (first - second)
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    sums = np.abs(signs @ difference)

    (found,) = permutation_tests([first - second], rng=rng, weights=[weight])

    assert found.observed == pytest.approx(difference.sum() / weight.sum())
    assert found.exact
    assert found.p == pytest.approx(np.mean(sums >= abs(difference.sum()) - 1e-9))


def test_shares_of_passing_are_of_weighted_outputs() -> None:
    rng = chance()
    outputs = Outputs.full(100, 2)
    human = (rng.random(200) < 0.6).astype(float)
    judge = np.where(rng.random(200) < 0.8, human, 1 - human)
    weight = np.where(human > 0, rng.integers(1, 4, 200), 1).astype(float)

    found = pass_fail(outputs.weighted(weight), human, judge, Scale(0, 1))

    assert found is not None
    assert found.outputs == 200
    passed, verdict = human > 0, judge > 0.5
    assert found.specificity.estimate.value == pytest.approx(
        weight[passed & verdict].sum() / weight[passed].sum()
    )


def test_a_judge_helps_a_weighted_mean_as_it_helps_a_plain_one() -> None:
    """With equal weights the estimate is that of PPI++, up to how lambda is estimated."""
    rng = chance()
    outputs = Outputs.full(400, 2)
    truth = rng.normal(3, 1, 800)
    judge = truth + rng.normal(0, 0.5, 800)
    human = np.where(rng.random(800) < 0.3, truth, np.nan)

    plain, weighted = (
        ppi_table(one, human, judge) for one in (outputs, outputs.weighted(np.full(800, 3.3)))
    )

    assert weighted.is_random
    for a, b in zip(plain.systems, weighted.systems, strict=True):
        assert a.mean is not None
        assert b.mean is not None
        assert abs(b.mean.estimate - a.mean.estimate) < 0.6 * a.mean.standard_error
        assert b.mean.standard_error == pytest.approx(a.mean.standard_error, rel=0.1)


def test_the_weighted_mean_is_active_inference_by_the_letter() -> None:
    """Zrnic and Candès' estimate: the judge's mean, times lambda, and the weighted mean of what
    people add to it."""
    rng = chance()
    judge = rng.normal(size=300)
    truth = judge + rng.normal(0, 1 + np.abs(judge), 300)
    probability = np.clip(0.2 + 0.2 * np.abs(judge), 0, 1)
    human = np.where(rng.random(300) < probability, truth, np.nan)
    rated = ~np.isnan(human)

    found = Parts.of(human, judge, 1 / probability).estimate()

    rest = (human - found.weight * judge)[rated]
    expected = found.weight * judge.mean() + np.average(rest, weights=1 / probability[rated])
    assert found.estimate == pytest.approx(expected)
    assert found.low is not None


def test_intervals_of_skewed_ratings_follow_halls_transformation() -> None:
    """Both ends are where the transformed statistic is Student's t."""
    rng = chance()
    human = np.where(rng.random(200) < 0.3, 5 - rng.exponential(1, 200), np.nan)
    rated = ~np.isnan(human)
    n = int(rated.sum())

    found = Parts.of(human, np.ones(200), np.full(200, 3.0)).estimate()

    assert found.low is not None
    assert found.high is not None
    added = (human[rated] - human[rated].mean()) / n * np.sqrt(n / (n - 2))
    error = np.sqrt((added**2).sum())
    skewness = (added**3).sum() / error**3
    for end, expected in ((found.low, 1), (found.high, -1)):
        t = (found.estimate - end) / error
        g = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
        assert g == pytest.approx(expected * stats.t.ppf(0.975, n - 2))
    assert found.estimate - found.low > found.high - found.estimate
