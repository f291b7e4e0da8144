"""Tests of two judges by swapping them, held to enumerations of all orderings, and corrections for
many comparisons, held to their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics import significance
from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import TOO_FEW
from geval.statistics.significance import (
    NOT_COMPARED,
    PairTest,
    benjamini_yekutieli,
    holm,
    letters,
    new_systems_test,
    paired_bootstrap_p,
    permutation_tests,
)
from geval.statistics.types import FloatArray

NAN = np.nan


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def share_as_large(differences: FloatArray, weight: FloatArray, swaps: np.ndarray) -> int:
    """In how many orderings the mean difference is as large as the observed one, where a swap
    turns the sign of a document's."""
    there = ~np.isnan(differences)
    apart = (differences * weight)[there]
    sums = np.where(swaps[:, there], -apart, apart).sum(axis=1)
    return int((np.abs(sums) >= abs(apart.sum()) - 1e-9).sum())


def all_swaps(bits: int) -> np.ndarray:
    return np.array(list(itertools.product((False, True), repeat=bits)))


# Over documents


@pytest.mark.parametrize("documents", [1, 4, 12])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_up_to_twelve_documents_all_orderings_are_counted(
    documents: int, is_weighted: bool
) -> None:
    rng = generator(documents)
    differences = [rng.integers(-2, 4, documents) / 4 for _ in range(3)]
    differences[1][0] = NAN
    weight = rng.integers(1, 4, documents).astype(float) if is_weighted else np.ones(documents)

    tests = permutation_tests(
        differences, rng=generator(), weights=[weight if is_weighted else None] * 3
    )

    for found, apart in zip(tests, differences, strict=True):
        there = ~np.isnan(apart)
        if not there.any():
            assert found == NOT_COMPARED
            continue
        count = share_as_large(apart, weight, all_swaps(documents))
        assert found.observed == pytest.approx(np.average(apart[there], weights=weight[there]))
        assert found.p == count / 2**documents
        assert (found.orderings, found.exact, found.reason) == (2**documents, True, "")
        assert found.method == "permutation"


def test_of_thirteen_documents_some_orderings_are_drawn() -> None:
    apart = generator(2).normal(0.1, 1, 13)

    (found,) = permutation_tests([apart], rng=generator(5))

    swaps = generator(5).random((1000, 13)) < 0.5
    count = share_as_large(apart, np.ones(13), swaps)
    assert found == PairTest(pytest.approx(apart.mean()), (count + 1) / 1001, 1000, False)


@pytest.mark.parametrize(
    ("orderings", "is_small"), [(209, True), (199, True), (189, False), (198, False)]
)
def test_a_p_of_one_percent_is_looked_at_again_among_ten_thousand_orderings(
    orderings: int, is_small: bool
) -> None:
    """Where one ordering in so many is as large: 2 of 200 are 1 %, 2 of 190 are more."""
    for seed in itertools.count():
        apart = generator(seed).normal(0.75, 1, 14)
        first = generator(7).random((orderings, 14)) < 0.5
        if share_as_large(apart, np.ones(14), first) == 1:
            break

    (found,) = permutation_tests([apart], rng=generator(7), permutations=orderings)

    if not is_small:
        assert (found.p, found.orderings) == (2 / (orderings + 1), orderings)
        return
    many = generator(1).random((10_000, 14)) < 0.5
    count = share_as_large(apart, np.ones(14), many)
    assert (found.p, found.orderings) == ((count + 1) / 10_001, 10_000)


def test_of_many_documents_fewer_orderings_fit_and_documents_are_swapped_in_groups() -> None:
    apart = np.append(np.full(2000, 1.0), np.full(500, -0.2))

    (found,) = permutation_tests([apart], rng=generator())

    assert found.orderings == 5_000  # ten million swaps of two thousand groups
    assert found.p == 1 / 5_001


def test_more_documents_than_groups_are_swapped_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "MOST_GROUPS", 4)
    apart = generator(6).normal(0.2, 1, 11)

    (found,) = permutation_tests([apart], rng=generator())

    count = share_as_large(apart, np.ones(11), all_swaps(4)[:, np.arange(11) % 4])
    assert (found.p, found.orderings) == (count / 16, 16)


# Over systems, and both


def test_what_cannot_be_tested_over_systems_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    human, first, second = generator(12).normal(size=(3, 20))
    outputs = Outputs.full(5, 4)

    monkeypatch.setattr(significance, "MOST_CELLS", 20)
    few = new_systems_test(outputs, human, first, second, "spearman", "systems")
    assert few.reason == TOO_FEW.format(60, "outputs")
    monkeypatch.setattr(significance, "MOST_CELLS", 19)
    many = "over systems, at most 19 cells are tested"
    new = new_systems_test(outputs, human, first, second, "spearman", "systems")
    assert new == PairTest(None, None, 0, False, many, "jackknife")


# The paired bootstrap, Williams' test


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ([0.3, 0.4, 0.5], [0.1, 0.4, 0.6], 3 / 4),  # a tie is no advantage
        ([0.3, 0.4, 0.5], [0.1, 0.2, 0.3], 1 / 4),
        ([0.3, NAN, 0.5], [0.1, 0.2, NAN], 1 / 2),
        ([NAN], [0.1], None),
        ([], [], None),
    ],
)
def test_the_paired_bootstrap_counts_resamples_without_an_advantage(
    first: list[float], second: list[float], p: float | None
) -> None:
    assert paired_bootstrap_p(np.array(first), np.array(second)) == p


# Corrections for many comparisons

P_VALUES = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.3, 0.9, 1.0]), max_size=6)


@given(P_VALUES)
def test_holm_rejects_what_its_steps_reject(p: list[float]) -> None:
    """At each level: the smallest p-values, while each is at most the level over those left."""
    adjusted = holm(p)

    for level in (0.005, 0.05, 0.1, 0.5, 0.999):
        rejected = set()
        for step, index in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
            if p[index] * (len(p) - step) > level + 1e-12:
                break
            rejected.add(index)
        assert {at for at, value in enumerate(adjusted) if value <= level + 1e-12} == rejected
    assert all(0 <= value <= 1 for value in adjusted)


@given(P_VALUES)
def test_benjamini_and_yekutieli_reject_the_largest_step_that_holds(p: list[float]) -> None:
    adjusted = benjamini_yekutieli(p)

    factor = sum(1 / rank for rank in range(1, len(p) + 1))
    ordered = sorted(p)
    for level in (0.005, 0.05, 0.1, 0.5, 0.999):
        held = [
            value
            for rank, value in enumerate(ordered, 1)
            if value * len(p) * factor / rank <= level + 1e-12
        ]
        last = max(held, default=-1.0)
        expected = [value <= last for value in p]
        assert [bool(value <= level + 1e-12) for value in adjusted] == expected
    assert all(0 <= value <= 1 for value in adjusted)


@given(st.integers(0, 7), st.randoms(use_true_random=False))
def test_names_share_a_letter_if_and_only_if_they_do_not_differ(count: int, random: object) -> None:
    names = "ABCDEFG"[:count]
    pairs = [frozenset(pair) for pair in itertools.combinations(names, 2)]
    differ = {pair for pair in pairs if random.random() < 0.5}  # type: ignore[attr-defined]

    found = letters(names, differ)

    for pair in pairs:
        one, two = pair
        assert bool(set(found[one]) & set(found[two])) is (pair not in differ)
    assert not count or found["A"].startswith("a")
    used = sorted(set("".join(found.values())))
    assert used == list("abcdefghijklmnopqrstuvwxyz"[: len(used)])
