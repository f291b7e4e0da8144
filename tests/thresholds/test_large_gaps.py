"""Which gaps count as large, and which groups are looked at."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.large_gaps import Group, find_clusters, group_test, largest
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(10)


@pins("GAP_OUTPUTS", {39: 0, 40: 10, 41: 10})
def test_outputs_with_a_gap(value: int, expected: int) -> None:
    assert largest(np.arange(1.0, value + 1)).sum() == expected


@pins("GAP_LARGE", {9: False, 10: True, 11: True})
def test_large_gaps_at_least(value: int, expected: bool) -> None:
    # All others have none, so that these or nothing are large.
    at = np.arange(100)
    gaps = np.where((at % 2 == 0) & (at < 2 * value), RNG.random(100) + 1, 0.0)
    outputs = Outputs.full(50, 2)
    large = gaps > 0
    words = np.where(large, 90.0, 10.0) + RNG.random(100)

    assert bool(largest(gaps).any()) is expected
    assert bool(find_clusters(outputs, large, [], words)) is expected


@pins("GAP_MOST_LARGE", {29: False, 30: True, 31: False})
def test_about_thirty_gaps_of_many_outputs_are_large(value: int, expected: bool) -> None:
    assert bool(largest(np.arange(1.0, 1001)).sum() == value) is expected


@pins("GAP_SHARE", {0.09: False, 0.1: True, 0.11: False})
def test_a_tenth_of_few_outputs_is_large(value: float, expected: bool) -> None:
    assert bool(largest(np.arange(1.0, 201)).sum() == round(200 * value)) is expected


@pins("GAP_MOST_SHARE", {0.24: True, 0.25: True, 0.26: False})
def test_tied_gaps_of_more_than_a_quarter_are_not_large(value: float, expected: bool) -> None:
    gaps = np.where(np.arange(200) < round(200 * value), 2.0, 0.0)

    assert bool(largest(gaps).any()) is expected


@pins("GAP_MOST_TIED", {299: True, 300: True, 301: False})
def test_so_many_tied_gaps_are_not_large(value: int, expected: bool) -> None:
    assert bool(largest(np.where(np.arange(4000) < value, 2.0, 0.0)).any()) is expected


@pins("GAP_MEMBERS", {4: False, 5: True, 6: True})
@pytest.mark.parametrize("kind", ["system", "word"])
def test_members_of_a_group(value: int, expected: bool, kind: str) -> None:
    # A system that few documents have beside another, or a word that few documents have.
    if kind == "system":
        document = np.append(np.arange(value), np.arange(value))
        outputs = Outputs(document, np.repeat([0, 1], value), value, 2)
        members = outputs.system == 1
    else:
        outputs = Outputs.full(40, 2)
        members = outputs.document < value
    large = RNG.permutation(len(outputs)) < len(outputs) // 4

    assert (group_test(outputs, Group(kind, "rare", members), large) is not None) is expected


@pins("GAP_DOCUMENTS", {19: False, 20: True, 21: True})
def test_documents_over_which_a_word_is_looked_at(value: int, expected: bool) -> None:
    outputs = Outputs.full(value, 2)
    large = outputs.document < 6
    group = Group("word", "cricket", outputs.document < 8)

    assert (group_test(outputs, group, large) is not None) is expected
