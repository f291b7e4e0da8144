"""What a judge finds and keeps beside the raters in whose place it is: by definition, and how often
its ends are wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.beside_raters import beside_raters
from geval.statistics.paired_labels import EffectivePairs
from geval.statistics.types import FloatArray


def by_definition(table: FloatArray, judge: FloatArray, kind: int) -> tuple[float, float, int]:
    """The judge's share, a rater's, and how many outputs count; `table` is raters by outputs."""
    judges, raters, outputs = [], [], set()
    for rater, own in enumerate(table):
        for output, rating in enumerate(own):
            others = [row[output] for at, row in enumerate(table) if at != rater]
            others = [each for each in others if not np.isnan(each)]
            if np.isnan(rating) or np.isnan(judge[output]) or not others:
                continue
            passes = sum(others) / len(others)
            if passes != 0.5 and (passes > 0.5) == bool(kind):
                judges.append(judge[output] == kind)
                raters.append(rating == kind)
                outputs.add(output)
    return float(np.mean(judges)), float(np.mean(raters)), len(outputs)


def test_each_is_compared_with_most_of_the_others() -> None:
    rng = np.random.default_rng(3)
    table = (rng.random((4, 90)) < rng.random(90)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    judge = (rng.random(90) < 0.6).astype(float)
    judge[:7] = np.nan

    sides = beside_raters(Outputs.full(90, 1), Ratings.of_table(table), judge, 0.5)

    for kind, side in enumerate(sides):
        assert (side.judge, side.rater, side.outputs) == by_definition(table, judge, kind)
        assert side.estimate.value == pytest.approx(side.judge - side.rater)


@pytest.mark.parametrize(
    ("fails", "documents", "each", "has_interval"),
    [(10, 40, 1, True), (9, 40, 1, False), (40, 9, 8, False)],
)
def test_few_outputs_or_documents_have_no_interval(
    fails: int, documents: int, each: int, has_interval: bool
) -> None:
    people = (np.arange(documents * each) >= fails).astype(float)
    ratings = Ratings.of_table(np.tile(people, (3, 1)))

    found, _kept = beside_raters(Outputs.full(documents, each), ratings, people, 0.5)

    assert (found.interval.ends is not None) == has_interval
    assert bool(found.interval.reason) != has_interval


def test_ends_invert_the_score_test_of_the_likeliest_table() -> None:
    pairs = EffectivePairs(9.0, 4.0, 50.0, 1e9)
    for end, sign in zip(pairs.ends(0.95), (1, -1), strict=True):

        def minus_log_likelihood(second: float, end: float = end) -> float:
            first = second + end
            return -(9 * np.log(first) + 4 * np.log(second) + 37 * np.log(1 - first - second))

        bounds = max(0.0, -end) + 1e-9, (1 - end) / 2 - 1e-9
        second = minimize_scalar(minus_log_likelihood, bounds=bounds, method="bounded").x
        error = np.sqrt((2 * second + end * (1 - end)) / 50)
        assert (5 / 50 - end) / error == pytest.approx(sign * 1.95996, abs=2e-3)


def test_a_pair_without_a_difference_is_no_proof_of_equality() -> None:
    """Of 35 equal pairs a difference of 0.1 is not shown to be wrong, of 36 it is: 0.9^36 is
    2.3 %."""
    lows = [EffectivePairs(0.0, 0.0, total, 1e9).ends(0.95)[0] for total in (34.0, 36.0)]

    assert [low > -0.1 for low in lows] == [False, True]
