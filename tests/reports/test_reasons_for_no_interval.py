"""Coefficients of agreement without an interval are named together, by the reason."""

import numpy as np

from geval.reports.verdicts.analysis import analyse_agreement
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import TOO_FEW
from geval.statistics.scales import Scale

ALL = ["ordinal alpha", "interval alpha", "AC1", "AC2"]


def reasons(documents: int, lowest: int = 1) -> dict[str, list[str]]:
    table = np.random.default_rng(3).integers(lowest, 6, (3, 4 * documents)).astype(float)
    agreement = analyse_agreement(
        Outputs.full(documents, 4), Ratings.of_table(table), ("ada", "ben", "cem"), Scale(1, 5)
    )
    return agreement.without_interval


def test_a_reason_that_all_share_stands_once() -> None:
    assert reasons(9) == {TOO_FEW.format(10, "documents"): ALL}


def test_nothing_is_said_where_all_have_one() -> None:
    assert reasons(20) == {}


def test_ac2_alone_is_named_where_the_scales_end_is_unused() -> None:
    (names,) = reasons(20, lowest=2).values()

    assert names == ["AC2"]
