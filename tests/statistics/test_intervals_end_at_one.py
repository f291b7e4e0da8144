"""Intervals of correlations end at 1, adjusted p-values too, and a ceiling says who has none."""

import numpy as np
import pytest

from geval.statistics.agreement import human_ceiling
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import LeftOut, summary_interval


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_at_summary_level_ends_at_one(sign: int) -> None:
    by_document = sign * np.array([1.0] * 9 + [0.4])

    interval = summary_interval(Outputs.full(10, 6), by_document)

    assert interval.ends
    assert (interval.high if sign > 0 else interval.low) == sign
    assert abs(interval.low if sign > 0 else interval.high) < 0.94


def with_rows(*rows: list[int], documents: int = 12) -> tuple[Outputs, Ratings]:
    """Ratings of three outputs, the same in every document but for the last."""
    table = np.array([row * documents for row in rows], dtype=float)
    return Outputs.full(documents, len(rows[0])), Ratings.of_table(table)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_interval_of_one_rater_ends_at_one(reverse: bool) -> None:
    outputs, ratings = with_rows([1, 2, 3], [3, 2, 1] if reverse else [1, 2, 3])
    table = np.array([ratings.values_of(rater) for rater in (0, 1)])
    # In one document the two are hardly related.
    table[:, :3] = [[1, 2, 3], [2, 1, 3]] if not reverse else [[1, 2, 3], [2, 3, 1]]

    found = human_ceiling(outputs, Ratings.of_table(table), "spearman", LeftOut.each(12))

    assert found.interval.ends
    assert (found.interval.low if reverse else found.interval.high) == (-1 if reverse else 1)
