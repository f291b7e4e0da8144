"""Effects of probes: equal to plain formulas, found where planted, rarely where not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.sensitivity import Finding, sensitivity
from geval.statistics.significance import holm
from geval.statistics.thresholds import PROBE_RELIABILITY, PROBE_SPREAD

OUTPUTS = Outputs.full(12, 1)
RNG = np.random.default_rng(1)
PLAIN = RNG.normal(3, 1, (12, 2))


def of(found: list[Finding], name: str) -> Finding:
    return next(one for one in found if one.name == name)


def test_with_one_output_a_document_it_is_the_paired_t_test() -> None:
    padded = PLAIN.mean(axis=1) + RNG.normal(0.5, 1, 12)

    found = of(sensitivity(OUTPUTS, PLAIN, {"padded": padded}), "padded")

    gap = padded - PLAIN.mean(axis=1)
    test = stats.ttest_1samp(gap, 0)
    assert found.value == pytest.approx(gap.mean())
    assert found.p == pytest.approx(test.pvalue)
    assert found.interval is not None
    assert found.interval.ends == pytest.approx(tuple(test.confidence_interval(0.95)))


def test_p_values_are_adjusted_over_all_of_a_study() -> None:
    changed = {name: PLAIN.mean(axis=1) + RNG.normal(0.5, 1, 12) for name in ("a", "b", "c")}

    found = sensitivity(OUTPUTS, PLAIN, changed, human=RNG.normal(3, 1, 12))

    tested = [one.p for one in found if one.p is not None]
    assert [one.name for one in found] == ["a", "b", "c", "repeated", "severity", "spread", "noise"]
    assert_allclose([one.adjusted for one in found], holm(tested))


def left_out_of(values: np.ndarray) -> tuple[float, float]:
    """The standard error by values with each document left out, and half of a 95 % interval."""
    count = len(values)
    error = float(np.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum()))
    return error, float(stats.t.ppf(0.975, count - 1)) * error


DOCUMENTS = np.repeat(np.arange(14), [1, 2, 3, 4, 2, 3, 5, 1, 2, 3, 4, 2, 3, 2])
UNEVEN = Outputs(DOCUMENTS, np.arange(37) - np.searchsorted(DOCUMENTS, DOCUMENTS), 16, 5)


def askings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two askings about the outputs, shape (outputs, 2), some without an answer, and ratings."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, 37)
    scores = quality[:, None] + rng.normal(0, 0.8, (37, 2))
    scores[3, 1] = scores[9] = np.nan
    human = quality + rng.normal(0, 1, 37)
    human[18] = np.nan
    return scores, human


def test_effects_and_checks_of_few_and_many_outputs_a_document_leave_documents_out() -> None:
    scores, human = askings(4)
    plain = np.nanmean(np.where(np.isnan(scores).all(axis=1)[:, None], 0, scores), axis=1)
    plain[9] = np.nan
    padded = plain + np.random.default_rng(5).normal(0.3, 0.5, 37)

    found = sensitivity(UNEVEN, scores, {"padded": padded}, human)

    gaps = {
        "padded": padded - plain,
        "repeated": scores[:, 1] - scores[:, 0],
        "severity": plain - human,
    }
    for name, gap in gaps.items():
        there, finding = ~np.isnan(gap), of(found, name)
        without = np.array([gap[there & (at != DOCUMENTS)].mean() for at in range(14)])
        error, half = left_out_of(without)
        assert (finding.outputs, finding.documents) == (there.sum(), 14)
        assert finding.value == pytest.approx(gap[there].mean())
        assert finding.p == pytest.approx(2 * stats.t.sf(abs(finding.value or 0) / error, 13))
        assert finding.interval is not None
        assert finding.interval.ends == pytest.approx(
            (gap[there].mean() - half, gap[there].mean() + half)
        )


def test_the_spread_is_tested_on_its_logarithm_and_noise_on_fishers_z() -> None:
    scores, human = askings(6)
    plain = np.nanmean(np.where(np.isnan(scores).all(axis=1)[:, None], 0, scores), axis=1)

    found = sensitivity(UNEVEN, scores, {}, human)

    def log_ratio(kept: np.ndarray) -> float:
        return float(np.log(plain[kept].std() / human[kept].std()))

    def reliability(kept: np.ndarray) -> float:
        pairs = scores[kept]
        within = ((pairs[:, 1] - pairs[:, 0]) ** 2 / 2).mean()
        between = 2 * pairs.mean(axis=1).var(ddof=1)
        return float(np.arctanh((between - within) / (between + within)))

    checks = (
        ("spread", ~np.isnan(scores).all(axis=1) & ~np.isnan(human), log_ratio, np.exp),
        ("noise", ~np.isnan(scores).any(axis=1), reliability, np.tanh),
    )
    for name, there, measured, back in checks:
        finding, value = of(found, name), measured(there)
        without = np.array([measured(there & (at != DOCUMENTS)) for at in range(14)])
        error, half = left_out_of(without)
        least = np.log(PROBE_SPREAD) if name == "spread" else np.arctanh(PROBE_RELIABILITY)
        assert finding.value == pytest.approx(back(value))
        assert finding.p == pytest.approx(stats.t.cdf((value - least) / error, 13))
        assert finding.interval is not None
        assert finding.interval.ends == pytest.approx((back(value - half), back(value + half)))
        assert (finding.outputs, finding.documents) == (there.sum(), 14)


def test_what_is_the_same_in_every_document_is_certain() -> None:
    same = np.repeat(PLAIN[:, :1], 2, axis=1)

    found = sensitivity(OUTPUTS, same, {"up": same[:, 0] + 1, "down": same[:, 0] - 1})

    assert [(one.name, one.p) for one in found] == [
        ("up", 0.0), ("down", 0.0), ("repeated", 1.0), ("noise", 1.0)
    ]  # fmt: skip
    up, down = found[0].interval, found[1].interval
    assert up is not None
    assert down is not None
    assert (up.ends, down.ends) == (pytest.approx((1, 1)), pytest.approx((-1, -1)))
    # Two askings that say opposite things of every output have no reliability at all.
    opposite = np.array([[1.0, 5.0], [5.0, 1.0]] * 6)
    noise = of(sensitivity(OUTPUTS, opposite, {}), "noise")
    assert (noise.value, noise.p) == (pytest.approx(-0.999), 0.0)


@pytest.mark.parametrize(("documents", "is_enough"), [(9, False), (10, True), (11, True)])
def test_ten_documents_are_enough_for_every_finding(documents: int, is_enough: bool) -> None:
    holes = np.where(np.arange(12)[:, None] < 12 - documents, np.nan, PLAIN)

    found = sensitivity(OUTPUTS, holes, {"padded": holes[:, 0] + RNG.normal(0, 1, 12)}, PLAIN[:, 1])

    assert [one.name for one in found] == ["padded", "repeated", "severity", "spread", "noise"]
    for one in found:
        assert (one.value is not None) is is_enough
        assert one.reason == ("" if is_enough else f"{documents} documents count; 10 are needed")
        assert (one.outputs, one.documents) == (documents, documents)


def test_outputs_of_a_document_that_move_together_are_not_taken_for_many() -> None:
    outputs, shared = Outputs.full(12, 20), np.repeat(RNG.normal(0.4, 1, 12), 20)
    plain = np.repeat(RNG.normal(3, 1, (240, 1)), 2, axis=1)

    found = of(sensitivity(outputs, plain, {"padded": plain[:, 0] + shared}), "padded")

    assert found.p == pytest.approx(stats.ttest_1samp(shared[::20], 0).pvalue)
