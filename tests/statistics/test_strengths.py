"""Strengths of systems from comparisons: what is expected at them is what people said, they are
given only where they are finite, and their uncertainty is that of documents."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.jackknife import TOO_FEW, LeftOut
from geval.statistics.preferences import (
    bradley_terry,
    davidson,
    davidson_intervals,
    next_pair_gains,
)
from geval.statistics.types import FloatArray

seeds = st.integers(0, 10_000)
NO_TIES = np.zeros((3, 3))


def symmetric(upper: FloatArray) -> FloatArray:
    return np.triu(upper, k=1) + np.triu(upper, k=1).T


def some_comparisons(seed: int, systems: int) -> tuple[FloatArray, FloatArray]:
    """Wins and ties of systems, each of which beat each other one now and then."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 30, (systems, systems)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins, symmetric(rng.integers(0, 9, (systems, systems)).astype(float))


@pytest.mark.parametrize(("won", "lost", "tied"), [(6, 2, 3), (2, 6, 3), (1_000_000, 1, 40)])
def test_two_systems_are_as_far_apart_as_the_logarithm_of_wins_by_losses(
    won: int, lost: int, tied: int
) -> None:
    wins, ties = np.array([[0.0, won], [lost, 0]]), np.array([[0.0, tied], [tied, 0]])

    found = davidson(wins, ties)

    assert found.strengths == pytest.approx(np.array([0.5, -0.5]) * np.log(won / lost))
    assert found.tie == pytest.approx(tied / np.sqrt(won * lost))


@given(seeds, st.integers(2, 5))
def test_at_the_strengths_as_many_wins_and_ties_are_expected_as_there_are(
    seed: int, systems: int
) -> None:
    wins, ties = some_comparisons(seed, systems)

    found = davidson(wins, ties)

    expected, expected_ties = np.zeros(systems), 0.0
    for a, b in itertools.combinations(range(systems), 2):
        half = (found.strengths[a] - found.strengths[b]) / 2
        shares = np.array([np.exp(half), np.exp(-half), found.tie])
        first, second, both = shares / shares.sum() * (wins[a, b] + wins[b, a] + ties[a, b])
        expected[a] += first + both / 2
        expected[b] += second + both / 2
        expected_ties += both
    np.testing.assert_allclose(expected, wins.sum(axis=1) + ties.sum(axis=1) / 2, rtol=1e-9)
    assert expected_ties == pytest.approx(ties.sum() / 2, rel=1e-9, abs=1e-9)
    assert found.strengths.sum() == pytest.approx(0, abs=1e-9)


@given(seeds, st.integers(2, 5))
def test_without_ties_the_model_is_bradley_and_terrys(seed: int, systems: int) -> None:
    wins, _ties = some_comparisons(seed, systems)

    found = bradley_terry(wins)

    apart = found.strengths[:, None] - found.strengths
    p, games = 1 / (1 + np.exp(-apart)), wins + wins.T
    np.testing.assert_allclose((games * p).sum(axis=1) - np.diag(games * p), wins.sum(axis=1))
    weight = games * p * (1 - p)
    information = np.diag(weight.sum(axis=1)) - weight
    np.testing.assert_allclose(found.covariance, np.linalg.pinv(information), atol=1e-9)
    assert found.tie == 0.0
    assert found.connected


def test_a_comparison_tells_most_where_the_difference_is_least_known() -> None:
    wins = np.array([[0, 50, 1.5], [50, 0, 1.5], [1.5, 1.5, 0]])

    gains = next_pair_gains(bradley_terry(wins))

    # All are equal, so p(1 - p) is 1/4. Of differences the variances are those of resistances
    # 1/25, 4/3 and 4/3 in a triangle, from 100 and 3 comparisons: 1/25 beside 8/3, 4/3 beside
    # 4/3 + 1/25.
    near = 1 / (25 + 3 / 8)
    far = 1 / (3 / 4 + 1 / (4 / 3 + 1 / 25))
    assert gains == pytest.approx({(0, 1): near / 4, (0, 2): far / 4, (1, 2): far / 4})


@pytest.mark.parametrize(
    ("wins", "ties", "are_finite"),
    [
        ([[0, 1], [1, 0]], [[0, 0], [0, 0]], True),
        ([[0, 3], [0, 0]], [[0, 0], [0, 0]], False),  # the second lost all
        ([[0, 9], [0, 0]], [[0, 1], [1, 0]], False),  # and ties do not say how far it is behind
        ([[0, 0], [0, 0]], [[0, 4], [4, 0]], True),  # nobody won, so that both are equal
        ([[0, 0], [0, 0]], [[0, 0], [0, 0]], False),  # never compared
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], NO_TIES, False),  # the third was never compared
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], NO_TIES, True),  # each lost to one by way of another
        ([[0, 5, 5], [0, 0, 5], [0, 0, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]], False),
        ([[0, 5, 5], [0, 0, 5], [0, 1, 0]], [[0, 1, 1], [1, 0, 0], [1, 0, 0]], True),
        ([[0, 5, 5], [0, 0, 5], [0, 1, 0]], NO_TIES, False),
        ([[0]], [[0]], False),
    ],
)
def test_strengths_are_given_where_they_are_finite(
    wins: list[list[int]], ties: list[list[int]], are_finite: bool
) -> None:
    found = davidson(np.array(wins, dtype=float), np.array(ties, dtype=float))

    assert found.connected is are_finite
    assert np.isfinite(found.strengths).all() == are_finite
    assert np.isfinite(found.covariance).all() == are_finite
    assert np.isfinite(found.tie) == are_finite
    assert np.abs(np.nan_to_num(found.strengths)).max() < 10


@pytest.mark.parametrize(("documents", "has_intervals"), [(9, False), (10, True), (11, True)])
def test_strengths_have_the_jackknife_over_documents(documents: int, has_intervals: bool) -> None:
    rng = np.random.default_rng(documents)
    wins = rng.integers(0, 4, (documents, 3, 3)).astype(float)
    wins[:, range(3), range(3)] = 0
    ties = np.array([symmetric(one) for one in rng.integers(0, 3, (documents, 3, 3)).astype(float)])

    fitted, intervals = davidson_intervals(wins, ties, LeftOut.each(documents), documents)

    assert (
        fitted.strengths.tolist() == davidson(wins.sum(axis=0), ties.sum(axis=0)).strengths.tolist()
    )
    if not has_intervals:
        reasons = {interval.reason for interval in intervals}
        assert reasons == {TOO_FEW.format(10, "documents")}
        return
    sides = [
        [np.delete(side, d, axis=0).sum(axis=0) for side in (wins, ties)] for d in range(documents)
    ]
    without = np.array([davidson(*side).strengths for side in sides])
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    t = {10: 2.262157, 11: 2.228139}[documents]
    half = t * np.sqrt((documents - 1) / documents * spread)
    ends = [interval.ends for interval in intervals]
    expected = np.stack([fitted.strengths - half, fitted.strengths + half], axis=1)
    np.testing.assert_allclose(np.array(ends, dtype=float), expected, rtol=1e-6)
