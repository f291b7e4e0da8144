"""Which documents share a fold of the calibration stays as in earlier reports, which first drew a
thousand signs for each of ten documents with all systems or more."""

import numpy as np
import pytest

from geval.reports.verdicts.analysis import JudgeInput, View, analyse_judge
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.calibration import cross_validated_error
from geval.statistics.scales import Scale


@pytest.mark.parametrize("documents", [9, 10, 31])
def test_folds_are_those_of_earlier_reports(documents: int) -> None:
    table = np.random.default_rng(2).integers(1, 6, (2, 3 * documents)).astype(float)
    outputs, human = Outputs.full(documents, 3), table.mean(axis=0)
    nobody, judge = np.zeros(3, bool), np.round(human + np.sin(np.arange(3 * documents)), 1)
    earlier = np.random.default_rng(0)
    if documents >= 10:
        earlier.choice((1, -1), (1000, documents))

    ratings = Ratings.of_table(table)
    judged = JudgeInput(outputs, human, ratings, judge, judge, nobody, nobody, Scale(1, 5))

    expected = cross_validated_error(outputs, human, judge, rng=earlier)
    assert analyse_judge(judged, View()).calibration == expected
