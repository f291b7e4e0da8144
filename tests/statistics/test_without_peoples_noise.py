"""A judge's correlation as it would be with ratings that hold no noise."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.attenuation import disattenuated
from geval.statistics.jackknife import LeftOut
from tests.statistics.tables import rated


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def corrected(ratings, judge):
    outputs, given = rated(ratings)
    return disattenuated(outputs, given, judge.ravel(), LeftOut.each(outputs.documents))


def made(rng, *, raters=3, documents=400, systems=5, noise=1.0):
    quality = rng.normal(0, 1, (documents, systems))
    judge = 0.7 * quality + rng.normal(0, 0.7, quality.shape)
    return quality, quality + rng.normal(0, noise, (raters, *quality.shape)), judge


def test_for_everybodys_ratings_the_reliability_is_icc_3_k(rng):
    """Shrout and Fleiss' (1979) ICC(3,k), by the two-way analysis of variance written out."""
    _, ratings, judge = made(rng, documents=60)
    ratings += np.array([0.0, 0.5, -1.0])[:, None, None]
    table = ratings.reshape(3, -1).T
    n, k = table.shape
    rows = k * ((table.mean(axis=1) - table.mean()) ** 2).sum() / (n - 1)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    icc = (rows - error) / rows
    r = np.corrcoef(table.mean(axis=1), judge.ravel())[0, 1]
    found = corrected(ratings, judge)
    assert found.reliability.value == pytest.approx(icc, abs=1e-12)
    assert found.estimate.value == pytest.approx(r / np.sqrt(icc), abs=1e-12)


def by_definition(table, judge, weight):
    """The reliability of the mean, and r over its root: table of shape (raters, outputs), of which
    not everybody rated everything; weights sum to the number of outputs."""
    count, mean = (~np.isnan(table)).sum(axis=0), np.nanmean(table, axis=0)
    n = weight.sum()

    def moment(x, y):
        return ((weight * x * y).sum() - (weight * x).sum() * (weight * y).sum() / n) / (n - 1)

    noise = (weight * np.nansum((table - mean) ** 2, axis=0)).sum() / (weight * (count - 1)).sum()
    reliability = 1 - noise * (weight / count).sum() / n / moment(mean, mean)
    r = moment(mean, judge) / np.sqrt(moment(mean, mean) * moment(judge, judge))
    return reliability, r / np.sqrt(reliability)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_with_gaps_and_weights_it_is_the_analysis_of_variance_written_out(rng, is_weighted):
    _, ratings, judge = made(rng, documents=12)
    table, scores = ratings.reshape(3, 60), judge.ravel()
    table[1, ::2] = table[2, ::3] = np.nan
    weight = rng.uniform(1, 5, 60) if is_weighted else np.ones(60)
    scores[50:] = np.nan
    outputs = Outputs.full(12, 5).weighted(weight if is_weighted else None)

    found = disattenuated(outputs, Ratings.of_table(table), scores, LeftOut.each(12))

    own = weight[:50] / weight[:50].mean()
    reliability, r = by_definition(table[:, :50], scores[:50], own)
    assert found.reliability.value == pytest.approx(reliability, abs=1e-12)
    assert found.estimate.value == pytest.approx(r, abs=1e-12)


def test_strictness_is_a_weighted_mean_where_outputs_count_by_weights(rng):
    _, ratings, judge = made(rng, documents=12)
    table, scores, weight = ratings.reshape(3, 60), judge.ravel(), rng.uniform(1, 5, 60)
    weight /= weight.mean()
    outputs = Outputs.full(12, 5).weighted(weight)

    found = disattenuated(outputs, Ratings.of_table(table), scores, LeftOut.each(12))

    def moment(x, y):
        return ((weight * x * y).sum() - (weight * x).sum() * (weight * y).sum() / 60) / 59

    mean = table.mean(axis=0)
    rest = table - mean
    rest -= np.average(rest, axis=1, weights=weight)[:, None]
    noise = (weight * rest**2).sum() / (2 * 60 * (1 - 1 / 60))
    assert found.reliability.value == pytest.approx(1 - noise / 3 / moment(mean, mean), abs=1e-12)


def half_width(without):
    """The jackknife's standard error times Student's t, whose degrees of freedom are one less than
    the documents that its variance rests on (Kish, 1965)."""
    squares = (without - without.mean()) ** 2
    freedom = squares.sum() ** 2 / (squares**2).sum() - 1
    assert freedom < len(without) - 1
    error = np.sqrt((len(without) - 1) / len(without) * squares.sum())
    return stats.t.ppf(0.975, freedom) * error


def test_where_ratings_have_gaps_the_interval_is_exactly_the_jackknife(rng):
    _, ratings, judge = made(rng, documents=100)
    ratings[0, :, 0] = np.nan

    found = corrected(ratings, judge)

    without = np.array([
        corrected(np.delete(ratings, d, axis=1), np.delete(judge, d, axis=0)).estimate.value
        for d in range(100)
    ])  # fmt: skip
    half = half_width(without)
    value = found.estimate.value
    assert found.interval.ends == pytest.approx((value - half, value + half), rel=1e-6)


def test_the_interval_is_the_jackknife_over_documents(rng):
    _, ratings, judge = made(rng, documents=100)
    found = corrected(ratings, judge)
    without = np.array(
        [
            corrected(np.delete(ratings, d, axis=1), np.delete(judge, d, axis=0)).estimate.value
            for d in range(100)
        ]
    )
    low, high = found.interval.ends
    # How strict people are is not estimated anew without each document.
    assert (high - low) / 2 == pytest.approx(half_width(without), rel=0.01)
    assert (high + low) / 2 == pytest.approx(found.estimate.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda ratings: ratings[:1], "fewer than 30 outputs were rated by two people"),
        (lambda ratings: ratings[:, :4], "fewer than 30 outputs were rated by two people"),
        (lambda ratings: ratings * 0 + 3, "all the same"),
        (lambda ratings: np.random.default_rng(1).normal(size=ratings.shape), "mostly noise"),
    ],
    ids=["one rater", "few outputs", "constant", "noise"],
)
def test_too_little_to_know_the_noise_by_gives_the_reason(rng, change, reason):
    _, ratings, judge = made(rng, documents=40)
    ratings = change(ratings)
    found = corrected(ratings, judge[: ratings.shape[1]])
    assert found.estimate.value is None
    assert reason in found.estimate.reason
    assert found.interval.ends is None
