"""Which answers of a judge are kept, and how often a promise about them is broken."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.risk_control import (
    EVERYTHING,
    Controlled,
    KeptError,
    Point,
    Stakes,
    binomial_tail,
    control,
    documents_to_prove,
    effective_number,
    point_at,
    share_ends,
    thresholds_of,
    upper_intraclass,
)


def stakes(
    rng: np.random.Generator,
    *,
    documents: int = 200,
    outputs: int = 3,
    risk: float = 0.3,
    power: float = 2.0,
    shared: float = 0.0,
    bound: float | None = 0.05,
    null: float = 0.3,
) -> Stakes:
    """The judge errs with `risk` where it is least sure, and less where it is surer; `shared` is
    how much of an error is the document's."""
    full = Outputs.full(documents, outputs)
    sure = rng.random((documents, outputs))
    own = rng.normal(size=(documents, outputs)) * np.sqrt(1 - shared)
    chance = stats.norm.cdf(own + np.sqrt(shared) * rng.normal(size=(documents, 1)))
    loss = (chance < risk * (1 - sure) ** power).astype(float).ravel()
    locked = np.repeat(rng.random(documents) < 0.4, outputs)
    others = (rng.random(len(full)) < null).astype(float)
    if bound is None:
        loss, others = loss + rng.normal(0, 0.5, len(full)), others + 0.5
    return Stakes(
        full, sure.ravel(), loss, others, -full.system.astype(float), ~locked, locked, bound
    )


@pytest.mark.parametrize(("errors", "count"), [(0, 59), (3, 100), (17, 40)])
def test_the_tail_is_binomial(errors: int, count: int) -> None:
    assert binomial_tail(errors / count, count, 0.05) == pytest.approx(
        stats.binom.cdf(errors, count, 0.05)
    )


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 40), (20, 20)])
def test_ends_are_exact(hits: int, count: int) -> None:
    expected = stats.binomtest(hits, count).proportion_ci(0.9, method="exact")

    assert share_ends(hits / count, count, 0.05) == pytest.approx((expected.low, expected.high))


def test_alike_outputs_count_as_one_and_others_singly() -> None:
    cluster, weight = np.repeat(np.arange(5), 4), np.ones(20)

    assert effective_number(cluster, weight, 1.0) == pytest.approx(5)
    assert effective_number(cluster, weight, 0.0) == pytest.approx(20)
    assert effective_number(np.arange(4), np.array([1.0, 1, 1, 3]), 1.0) == pytest.approx(3)


def test_how_alike_outputs_of_documents_are_at_most() -> None:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(200), 5)
    apart = rng.normal(size=1000)
    together = np.repeat(rng.normal(size=200), 5) + rng.normal(size=1000)

    assert 0 < upper_intraclass(cluster, apart) < 0.1
    assert 0.5 < upper_intraclass(cluster, together) < 0.65
    assert upper_intraclass(cluster, np.repeat(apart[:200], 5)) == 1
    assert upper_intraclass(cluster, np.zeros(1000)) == 1


def test_thresholds_keep_more_and_more_and_in_the_end_everything() -> None:
    values = thresholds_of(np.array([1.0, 2, 2, 3, np.nan]))

    assert values == [3.0, 2.0, EVERYTHING]
    assert thresholds_of(np.array([np.nan])) == []


def test_what_is_proven_keeps_what_was_promised() -> None:
    rng = np.random.default_rng(2)
    case = stakes(rng, documents=1000)

    controlled = control(case, error=0.05)

    assert controlled.proven is not None
    kept = controlled.curve[controlled.proven]
    assert 0.2 < kept.coverage < 0.7
    assert kept.error.high is not None
    assert kept.error.high <= 0.05
    whole = controlled.curve[-1]
    assert (whole.coverage, whole.coverage_low) == (1.0, 1.0)
    assert whole.error.p > 0.9


def test_a_mean_difference_is_tested_by_t_over_documents() -> None:
    rng = np.random.default_rng(3)
    case = stakes(rng, outputs=1, bound=None)
    case.loss[:] -= 0.6

    point = point_at(case, EVERYTHING, case.locked)

    expected = stats.ttest_1samp(case.loss[case.locked], 0, alternative="less")
    assert point.error.p == pytest.approx(expected.pvalue)
    assert control(case, error=0.05).proven is not None


def test_missing_answers_and_ratings_are_not_counted() -> None:
    rng = np.random.default_rng(4)
    case = stakes(rng)
    case.confidence[::2] = np.nan
    case.loss[1::4] = np.nan

    point = point_at(case, EVERYTHING, case.locked)

    counts = case.locked & ~np.isnan(case.confidence) & ~np.isnan(case.loss)
    assert point.error.outputs == counts.sum()


def test_where_who_wrote_it_is_as_good_nothing_is_proven() -> None:
    case = stakes(np.random.default_rng(7), risk=0.01, power=0, null=0.01, documents=1000)

    controlled = control(case, error=0.05)

    assert (controlled.proven, controlled.is_null_as_good) == (None, True)


def at_share(error: float, null: float, p: float = 0.2) -> Point:
    kept = KeptError(error, 0.0, 1.0, 100, 50, 100.0, p)
    return Point(EVERYTHING, 1.0, 1.0, 1.0, 1.0, kept, null, 0.01)


@pytest.mark.parametrize(
    ("training", "locked", "null", "is_planned"),
    [
        (0.08, 0.0499, 0.3, True),  # only the locked documents' own error is below the bound
        (0.08, 0.05, 0.3, False),
        (0.08, 0.0501, 0.3, False),
        (0.04, 0.059, 0.3, True),  # over all rated documents
        (0.04, 0.06, 0.3, False),
        (0.08, 0.02, 0.021, True),
        (0.08, 0.02, 0.02, False),
        (0.02, 0.02, 0.02, False),
    ],
)
def test_what_errs_less_than_promised_takes_more_documents(
    training: float, locked: float, null: float, is_planned: bool
) -> None:
    controlled = Controlled((at_share(locked, null),), (at_share(training, null),))

    needed = documents_to_prove(controlled, 0.05, rated=(60, 40), error=0.05)

    assert (needed is not None) is is_planned
