"""Over systems, or systems and documents, judges are compared by a t test for new systems."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import TOO_FEW
from geval.statistics.resampling import Over
from geval.statistics.significance import new_systems_test
from geval.statistics.thresholds import INTERVAL_SYSTEMS

DOCUMENTS, SYSTEMS = 15, 12


def tables(systems: int = SYSTEMS) -> tuple[np.ndarray, ...]:
    """People's ratings, a good judge's scores and a bad one's; shape (documents, systems) each."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(DOCUMENTS, systems))
    human = np.round(quality, 1)
    return human, quality + 0.3 * rng.normal(size=quality.shape), rng.normal(size=quality.shape)


def rho(human: np.ndarray, judge: np.ndarray) -> np.ndarray:
    """By document, by scipy."""
    return np.array([stats.spearmanr(x, y).statistic for x, y in zip(human, judge, strict=True)])


def test_over_systems_p_is_that_of_leaving_each_out_by_hand() -> None:
    human, good, bad = tables()
    difference = rho(human, good).mean() - rho(human, bad).mean()
    left_out = np.array(
        [
            rho(human[:, stay], good[:, stay]).mean() - rho(human[:, stay], bad[:, stay]).mean()
            for stay in (np.arange(SYSTEMS) != out for out in range(SYSTEMS))
        ]
    )
    squared = ((left_out - left_out.mean()) ** 2).sum()
    error = np.sqrt((SYSTEMS - 1) / SYSTEMS * squared)

    found = new_systems_test(
        Outputs.full(DOCUMENTS, SYSTEMS), human.ravel(), good.ravel(), bad.ravel(), "spearman",
        "systems",
    )  # fmt: skip

    assert found.observed == pytest.approx(difference)
    assert found.p == pytest.approx(2 * stats.t.sf(difference / error, SYSTEMS - 1))
    assert (found.method, found.orderings, found.exact) == ("jackknife", 0, False)


@pytest.mark.parametrize("over", ["systems", "both"])
def test_of_too_few_systems_nothing_is_said(over: Over) -> None:
    few = INTERVAL_SYSTEMS - 1
    human, good, bad = (side.ravel() for side in tables(few))

    found = new_systems_test(Outputs.full(DOCUMENTS, few), human, good, bad, "spearman", over)

    assert found.p is None
    assert found.reason == TOO_FEW.format(10, "systems")
