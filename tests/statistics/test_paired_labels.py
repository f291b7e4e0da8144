"""Two judges of the same outputs: the interval of how much more often one is right."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.paired_labels import difference_of_pairs

WORLDS = 250
SLACK = 2 * np.sqrt(0.05 * 0.95 / WORLDS)


@pytest.mark.parametrize(
    ("documents", "each", "first", "second"),
    [(40, 1, 0.7, 0.6), (100, 4, 0.9, 0.8)],
)
def test_the_interval_covers_the_difference(
    documents: int, each: int, first: float, second: float
) -> None:
    rng, outputs = np.random.default_rng(5), Outputs.full(documents, each)
    held = 0
    for _ in range(WORLDS):
        # Outputs of a document are alike: half of them are as the first.
        rights = []
        for share in (first, second):
            own = rng.random((documents, each)) < share
            is_alike = rng.random((documents, each)) < 0.5
            rights.append(np.where(is_alike, own[:, :1], own).ravel())
        ends = difference_of_pairs(outputs, rights[0].astype(float) - rights[1]).ends
        assert ends is not None
        held += ends[0] <= first - second <= ends[1]

    assert 0.93 - SLACK <= held / WORLDS <= 0.97 + SLACK


def test_one_document_has_no_interval() -> None:
    interval = difference_of_pairs(Outputs.full(1, 30), np.repeat([1.0, 0.0, -1.0], 10))

    assert interval.ends is None
    assert "one document" in interval.reason
