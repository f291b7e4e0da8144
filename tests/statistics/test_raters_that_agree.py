"""Who does not agree with anybody is seen before a judge is compared with them."""

import numpy as np
import pytest

from geval.reports.verdicts.analysis import agreeing_ratings
from geval.statistics.alt_test import raters_that_agree
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.thresholds import ALT_TEST_OUTPUTS

DOCUMENTS = np.arange(120) // 4


def table(seed: int = 1, careless: str = "random", outputs: int = 120) -> np.ndarray:
    """Two careful raters and one that is not, shape (3, outputs)."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, outputs)
    careful = np.clip(np.round(quality + rng.normal(0, 0.6, (2, outputs))), 1, 5)
    third = {
        "random": rng.integers(1, 6, outputs).astype(float),
        "always 3": np.full(outputs, 3.0),
        "reversed": 6 - careful[0],
        "careful": np.clip(np.round(quality + rng.normal(0, 0.6, outputs)), 1, 5),
    }[careless]
    return np.vstack([careful, third])


@pytest.mark.parametrize(
    ("careless", "agrees"),
    [("random", False), ("always 3", False), ("reversed", False), ("careful", True)],
)
def test_a_rater_agrees_only_if_that_is_shown(careless: str, agrees: bool) -> None:
    found = raters_that_agree(Ratings.of_table(table(careless=careless)), DOCUMENTS)

    assert found[2] == agrees
    assert careless == "reversed" or found[:2].all()


@pytest.mark.parametrize(
    ("shared", "documents", "agrees"),
    [(ALT_TEST_OUTPUTS - 1, 15, True), (ALT_TEST_OUTPUTS, 15, False), (40, 9, True),
     (40, 10, False), (40, 11, False)],
)  # fmt: skip
def test_of_a_rater_with_few_outputs_or_documents_nothing_is_said(
    shared: int, documents: int, agrees: bool
) -> None:
    given = table()
    given[2, shared:] = np.nan
    given[2, :shared] = 3.0

    found = raters_that_agree(Ratings.of_table(given), np.arange(120) % documents)

    assert found[2] == agrees


def test_the_ratings_of_the_others_are_kept_as_they_are() -> None:
    given = table()
    outputs = Outputs(DOCUMENTS, np.arange(120) % 4, 30, 4)

    kept, left_out = agreeing_ratings(outputs, Ratings.of_table(given))

    assert left_out == (2,)
    assert (kept.raters, kept.outputs, len(kept)) == (2, 120, 240)
    np.testing.assert_array_equal(kept.value, given[:2].T.ravel())
