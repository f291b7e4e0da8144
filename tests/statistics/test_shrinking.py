"""Proven gains are larger than true ones; what is quoted beside them is nearer to the truth."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from geval.statistics.shrinking import shrunken

CONFIDENCE = 0.99


def looks(
    truth: float, *, spread: float, documents: int, tries: int = 20_000
) -> list[tuple[float, float]]:
    """Gains and half-widths of the looks that prove a true gain, whose differences over documents
    have this standard deviation."""
    rng = np.random.default_rng(1)
    gains = rng.normal(truth, spread / np.sqrt(documents), tries)
    squares = rng.chisquare(documents - 1, tries) / (documents - 1)
    widths = (
        stats.t.ppf((1 + CONFIDENCE) / 2, documents - 1) * spread * np.sqrt(squares / documents)
    )
    return [(g, w) for g, w in zip(gains, widths, strict=True) if g > w][:1000]


def quoted(gain: float, width: float, documents: int) -> float:
    return shrunken(gain, width, confidence=CONFIDENCE, freedom=documents - 1)


@pytest.mark.parametrize(("truth", "documents"), [(0.042, 40), (0.05, 100), (0.1, 40)])
def test_where_few_looks_prove_likely_gains_are_much_nearer_to_the_truth(
    truth: float, documents: int
) -> None:
    proven = looks(truth, spread=0.3, documents=documents)
    raw = np.array([gain for gain, _ in proven]) - truth
    likely = np.array([quoted(gain, width, documents) for gain, width in proven]) - truth

    assert raw.mean() > 0.4 * truth
    assert abs(likely.mean()) < 0.4 * raw.mean()
    assert np.mean(likely**2) < 0.7 * np.mean(raw**2)


@pytest.mark.parametrize(("truth", "documents"), [(0.1, 100), (0.2, 40), (0.2, 100)])
def test_where_most_looks_prove_likely_gains_are_off_by_little(
    truth: float, documents: int
) -> None:
    likely = [quoted(*look, documents) for look in looks(truth, spread=0.3, documents=documents)]

    assert np.mean(likely) == pytest.approx(truth, rel=0.15)


def test_a_small_true_gain_is_exaggerated_about_three_times_and_likely_gains_less_than_twice() -> (
    None
):
    proven = looks(0.042, spread=0.3, documents=40)

    assert np.mean([gain for gain, _ in proven]) == pytest.approx(0.14, abs=0.01)
    assert np.mean([quoted(*look, 40) for look in proven]) < 0.08


def test_a_gain_that_every_look_proves_stays_as_it_is() -> None:
    assert quoted(0.3, 0.05, 100) == pytest.approx(0.3, rel=0.01)


def test_a_gain_at_the_edge_of_what_proves_shrinks_most() -> None:
    shares = [quoted(gain, 0.1, 40) / gain for gain in (0.101, 0.12, 0.15, 0.2, 0.3)]

    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.45


def test_a_loss_shrinks_as_a_gain_does_and_what_does_not_prove_stays() -> None:
    assert quoted(-0.15, 0.1, 40) == pytest.approx(-quoted(0.15, 0.1, 40))
    assert quoted(0.05, 0.1, 40) == 0.05


@pytest.mark.parametrize("z", [2.6, 3.2])
def test_it_is_halfway_between_the_mode_and_the_mean_of_the_conditional_likelihood(
    z: float,
) -> None:
    limit = stats.norm.ppf((1 + CONFIDENCE) / 2)

    def likelihood(value: float) -> float:
        proves = stats.norm.cdf(value - limit) + stats.norm.cdf(-value - limit)
        return float(stats.norm.pdf(z - value) / proves)

    mode = optimize.brute(lambda at: -likelihood(at[0]), [(0, z)], Ns=2000)[0]
    total, first = (
        integrate.quad(lambda at, k=power: at**k * likelihood(at), -15, 15)[0] for power in (0, 1)
    )

    # With many degrees of freedom the t interval is the normal one.
    found = shrunken(z, limit, confidence=CONFIDENCE, freedom=1e9)
    assert found == pytest.approx((mode + first / total) / 2, abs=1e-4)


def test_a_certain_gain_stays() -> None:
    assert shrunken(0.2, 1e-300, confidence=CONFIDENCE, freedom=50) == 0.2
