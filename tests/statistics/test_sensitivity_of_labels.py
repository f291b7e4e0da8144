"""Probes of labels without an order: which share stays, beside asking the same again."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.sensitivity import NOISE, REPEATED, Finding, label_sensitivity
from tests.statistics import plain_definitions

N = 60
OUTPUTS = Outputs(np.arange(N) // 2, np.arange(N) % 2, N // 2, 2)


def labels(seed: int, *changed: float) -> list[np.ndarray]:
    """Labels of three kinds, and for each share the same with so many of them drawn again."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 3, N).astype(float)
    others = [np.where(rng.random(N) < share, rng.integers(0, 3, N), own) for share in changed]
    return [own, *(other.astype(float) for other in others)]


def findings(first: np.ndarray, second: np.ndarray, probed: np.ndarray) -> dict[str, Finding]:
    unchanged = np.column_stack([first, second])
    listed = label_sensitivity(OUTPUTS, unchanged, {"padded": probed}, 3)
    return {each.name: each for each in listed}


def test_values_are_shares_of_labels_that_stay_and_kappa() -> None:
    first, second, probed = labels(1, 0.1, 0.4)
    probed[4] = np.nan

    by_name = findings(first, second, probed)

    there = ~np.isnan(probed)
    kept = ((first == probed) * 0.5 + (second == probed) * 0.5)[there].mean()
    assert by_name["padded"].value == pytest.approx(kept)
    assert by_name["padded"].outputs == N - 1
    assert by_name[REPEATED].value == pytest.approx((first == second).mean())
    assert by_name[REPEATED].p is None
    kappa = plain_definitions.label_kappa(first.tolist(), second.tolist())
    assert by_name[NOISE].value == pytest.approx(kappa)


@pytest.mark.parametrize(
    ("again", "probed", "is_found"),
    [(0.0, 0.0, False), (0.1, 0.1, False), (0.1, 0.9, True), (0.9, 0.0, False)],
    ids=["steady", "as often as again", "more often", "less often"],
)
def test_a_probe_is_found_where_fewer_stay_than_where_asked_again(
    again: float, probed: float, is_found: bool
) -> None:
    by_name = findings(*labels(3, again, probed))

    assert by_name["padded"].is_found is is_found


@pytest.mark.parametrize(("others", "is_defined"), [(0, False), (2, False), (4, True)])
def test_reliability_takes_two_labels_whichever_document_is_left_out(
    others: int, is_defined: bool
) -> None:
    given = (np.arange(N) < others).astype(float)

    noise = findings(given, given, given)[NOISE]

    assert (noise.value is not None) is is_defined
    assert ("same label" in noise.reason) is not is_defined
