"""How far a judge in a rater's place is behind that rater: against a slow computation, with ties,
and how often its interval holds."""

import numpy as np
import pytest
from scipy import stats

from evaluations.statistics.agreement import judge_minus_a_rater
from evaluations.statistics.layout import Outputs, Ratings

DOCUMENTS, SYSTEMS, RATERS = 20, 5, 3


def corpus(seed: int, documents: int = DOCUMENTS) -> tuple[Outputs, np.ndarray, np.ndarray]:
    """Outputs, ratings of shape (raters, outputs) with some missing, and a judge's scores."""
    rng = np.random.default_rng(seed)
    count = documents * SYSTEMS
    outputs = Outputs(
        np.repeat(np.arange(documents), SYSTEMS), np.tile(np.arange(SYSTEMS), documents),
        documents, SYSTEMS,
    )  # fmt: skip
    quality = rng.normal(3, 1, count)
    given = np.clip(np.round(quality + rng.normal(0, 0.8, (RATERS, count))), 1, 5)
    judge = np.clip(np.round(quality + rng.normal(0, 0.8, count)), 1, 5)
    given[0, rng.random(count) < 0.1] = np.nan
    judge[rng.random(count) < 0.1] = np.nan
    return outputs, given, judge


def slow(outputs: Outputs, given: np.ndarray, judge: np.ndarray, kept: np.ndarray) -> float:
    """The mean over raters of the mean over documents, coefficient by coefficient."""
    of_raters = []
    for rater in range(len(given)):
        others = np.delete(given, rater, axis=0)
        mean = np.round(np.nanmean(others, axis=0), 10)
        differences = []
        for document in np.flatnonzero(kept):
            at = (
                (outputs.document == document) & ~np.isnan(given[rater]) & ~np.isnan(judge)
                & ~np.isnan(mean)
            )  # fmt: skip
            if at.sum() < 2 or np.ptp(mean[at]) == 0:
                continue
            rhos = [
                0.0 if np.ptp(side[at]) == 0 else stats.spearmanr(side[at], mean[at]).statistic
                for side in (judge, given[rater])
            ]
            if any(np.ptp(side[at]) for side in (judge, given[rater])):
                differences.append(rhos[0] - rhos[1])
        of_raters.append(np.mean(differences))
    return float(np.mean(of_raters))


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_a_computation_document_by_document(seed: int) -> None:
    outputs, given, judge = corpus(seed)
    everything = np.ones(DOCUMENTS, dtype=bool)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge)

    assert found.value == pytest.approx(slow(outputs, given, judge, everything))
    left_out = np.array([
        slow(outputs, given, judge, np.arange(DOCUMENTS) != one) for one in range(DOCUMENTS)
    ])  # fmt: skip
    variance = (DOCUMENTS - 1) / DOCUMENTS * ((left_out - left_out.mean()) ** 2).sum()
    assert found.error == pytest.approx(np.sqrt(variance))


def test_a_judge_that_ties_everything_is_behind_by_what_raters_reach() -> None:
    outputs, given, _judge = corpus(3)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), np.full(len(outputs), 3.0))

    assert found.value is not None
    assert found.value < -0.4


@pytest.mark.parametrize("level", ["dataset", "system"])
def test_other_levels_have_it_where_there_are_units_enough(level: str) -> None:
    outputs, given, judge = corpus(4)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge, level=level)  # type: ignore[arg-type]

    assert found.value is not None
    assert (found.error is None) == (level == "system")  # five systems are too few
    assert bool(found.reason) == (level == "system")


def test_of_fewer_than_ten_documents_there_is_no_interval() -> None:
    outputs, given, judge = corpus(5, documents=9)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge)

    assert found.low(0.95) is None
    assert "fewer than 10 documents" in found.reason


def test_more_judges_compared_bring_the_lower_end_down() -> None:
    outputs, given, judge = corpus(6)
    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge)

    ends = [found.low(1 - 0.05 / judges) for judges in (1, 2, 12)]

    assert ends == sorted(ends, reverse=True)  # type: ignore[type-var]
    assert found.value is not None
    assert ends[0] is not None
    assert ends[0] < found.value
