"""How many kept answers are checked, whether a promise holds by them, and what moved."""

import numpy as np
import pytest

from geval.improving.policy_watch import (
    Holding,
    Sample,
    check_share,
    moved,
    promise_today,
    weight_of_rated,
)
from geval.reports.drawings.kept_errors import ErrorPoint, KeptErrors, kept_errors


@pytest.mark.parametrize(
    ("kept", "bound", "share"),
    # ln 40 / (0.1 ln 2 + 0.9 ln (0.9 / 0.95)) = 178.6 checks, of ten times as many as are kept
    [(0, 0.05, 1.0), (17, 0.05, 1.0), (100, 0.05, 0.1786), (1786, 0.05, 0.01), (100, None, 0.1786)],
)
def test_a_share_of_kept_answers_is_checked(kept: int, bound: float | None, share: float) -> None:
    assert check_share(kept, bound) == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize(
    ("loss", "bound", "holding"),
    [
        ([], 0.05, Holding.OPEN),
        ([np.nan] * 500, 0.05, Holding.OPEN),
        ([0.0] * 20, 0.05, Holding.OPEN),
        ([0.0] * 400, 0.05, Holding.HOLDS),
        ([0.0, 1.0] * 50, 0.05, Holding.BROKEN),
        ([0.0] * 19 + [1.0], 0.05, Holding.OPEN),
        ([-0.5] * 300, None, Holding.HOLDS),
        ([0.5] * 300, None, Holding.BROKEN),
        ([0.5, -0.5] * 150, None, Holding.OPEN),
    ],
)
def test_checks_show_whether_a_promise_holds(
    loss: list[float], bound: float | None, holding: Holding
) -> None:
    today = promise_today(np.array(loss), bound, 4.0)

    assert today.holding == holding
    assert today.checks == np.count_nonzero(~np.isnan(np.array(loss)))
    assert (today.error is None) is (today.checks == 0)


def sample(mean: float, documents: int = 40, *, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    document = np.repeat(np.arange(documents), 2)
    values = mean + rng.normal(size=documents)[document] + rng.normal(size=len(document))
    return Sample(values, np.ones(len(values)), document)


def test_what_moved_is_named() -> None:
    pairs = {
        "texts": (sample(0, seed=1), sample(0, seed=2)),
        "judge": (sample(0, seed=3), sample(2, seed=4)),
        "people": (sample(0, seed=5), sample(5, documents=9, seed=6)),  # too few documents
    }

    assert moved(pairs) == ("judge",)
    assert moved({}) == ()


def test_weights_count_in_what_moved() -> None:
    """Half of the later outputs are higher, and stand for few."""
    before, after = sample(0, seed=1), sample(0, seed=2)
    is_high = np.arange(80) % 2 == 0
    values = after.values + np.where(is_high, 3, 0)

    equal = Sample(values, np.ones(80), after.document)
    weighted = Sample(values, np.where(is_high, 0.01, 1.0), after.document)

    assert moved({"texts": (before, equal)}) == ("texts",)
    assert moved({"texts": (before, weighted)}) == ()


def test_rated_outputs_stand_for_all_that_were_kept_or_not() -> None:
    kept = np.repeat([True, False], [8, 4])
    rated = np.zeros(12, dtype=bool)
    rated[[0, 1, 8]] = True

    weight = weight_of_rated(kept, rated)

    assert weight is not None
    assert weight[[0, 8]].tolist() == [4, 4]
    assert weight[rated].sum() == 12
    assert weight_of_rated(kept, rated & kept) is None
    assert weight_of_rated(kept, rated & ~kept) is None
    assert weight_of_rated(kept[:8], rated[:8]) is not None


def test_the_numbers_of_a_curve_name_the_first_judges_part() -> None:
    points = [ErrorPoint(0.5, 0.01, 0.0, 0.05, 0.5), ErrorPoint(1.0, 0.04, None, None, 0.75)]

    drawing = kept_errors(
        KeptErrors("this policy", points), [], promised=0.05, kept=1.0, is_share=True, title="",
        width=340,
    )  # fmt: skip

    assert drawing.rows == (
        ("this policy", "50 %, 50 % by the first", "1.0 %", "[0.0 %, 5.0 %]"),
        ("this policy", "100 %, 75 % by the first", "4.0 %", "–"),
    )
    assert "all are the first judge's, it is as without a policy" in drawing.caption
