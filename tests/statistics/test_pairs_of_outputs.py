"""Agreement on pairs of outputs, held to its definitions: counts, accuracy with calibrated
ties and soft pairwise accuracy, with gaps, with weights, and however a judge's scores look."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geval.statistics import pairwise
from geval.statistics.arrays import Outputs
from geval.statistics.pairwise import (
    soft_pairwise_accuracy,
    tie_calibrated_accuracy,
    whole_documents,
)
from geval.statistics.types import FloatArray

seeds = st.integers(0, 10_000)
WEIGHTS = ("none", "documents", "outputs", "within")


def order(a: float, b: float, epsilon: float = 0.0) -> int:
    return 0 if abs(a - b) <= epsilon else 1 if a > b else -1


def some_outputs(rng: np.random.Generator, weights: str, documents: int = 9) -> Outputs:
    """Documents of one to six outputs, which stand for as many others as `weights` says."""
    document = np.repeat(np.arange(documents), rng.integers(1, 7, documents))
    begins = np.searchsorted(document, document)
    outputs = Outputs(document, np.arange(len(document)) - begins, documents, 6)
    if weights == "documents":
        return outputs.weighted(rng.uniform(1, 5, documents)[document])
    weight = rng.uniform(1, 5, len(document))
    if weights == "within":  # documents stand for as many, their outputs do not
        weight *= (outputs.by_document() / outputs.by_document(weight))[document]
    return outputs.weighted(None if weights == "none" else weight)


# Accuracy with calibrated ties


def calibrated_by_definition(
    outputs: Outputs, human: FloatArray, judge: FloatArray
) -> tuple[float, float, float]:
    """Accuracy before and after, and the smallest threshold that gives the best one, over pairs of
    each document by the product of their weights, and documents by their mean weight."""
    there = ~np.isnan(human) & ~np.isnan(judge)
    weight = np.ones(len(outputs)) if outputs.weight is None else outputs.weight
    whole = outputs.weight_in_documents is None
    documents = []
    for document in range(outputs.documents):
        own = np.flatnonzero(there & (outputs.document == document))
        pairs = list(itertools.combinations(own, 2))
        if pairs:
            shares = np.array([1.0 if whole else weight[a] * weight[b] for a, b in pairs])
            documents.append((weight[own].mean(), pairs, shares / shares.sum()))

    def accuracy(epsilon: float) -> float:
        right = [
            sum(
                share * (order(human[a], human[b]) == order(judge[a], judge[b], epsilon))
                for (a, b), share in zip(pairs, shares, strict=True)
            )
            for _weight, pairs, shares in documents
        ]
        return float(np.average(right, weights=[one for one, _pairs, _shares in documents]))

    tried = [0.0, *(abs(judge[a] - judge[b]) for _, pairs, _ in documents for a, b in pairs)]
    best = max(accuracy(one) for one in tried)
    return accuracy(0.0), best, min(one for one in tried if accuracy(one) > best - 1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("levels", [2, 3, 1000])
@given(seed=seeds)
@settings(max_examples=15)
def test_ties_are_calibrated_by_the_definition(weights: str, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outputs = some_outputs(rng, weights)
    human = rng.integers(1, 4, len(outputs)).astype(float)
    judge = rng.integers(0, levels, len(outputs)) / 8
    if weights != "within":
        human[rng.random(len(outputs)) < 0.1] = np.nan
        judge[rng.random(len(outputs)) < 0.1] = np.nan

    found = tie_calibrated_accuracy(outputs, human, judge)

    values = found.accuracy.value, found.calibrated.value, found.epsilon
    assert values == pytest.approx(calibrated_by_definition(outputs, human, judge), abs=1e-9)


def test_scores_that_always_tie_where_people_do_need_no_threshold() -> None:
    human = np.array([1.0, 1, 2, 3, 3, 1, 2, 1])

    found = tie_calibrated_accuracy(Outputs.full(4, 2), human, human)

    assert (found.accuracy.value, found.calibrated.value, found.epsilon) == (1.0, 1.0, 0.0)


def test_documents_with_one_output_have_no_pairs() -> None:
    found = tie_calibrated_accuracy(Outputs.full(3, 1), np.arange(3.0), np.arange(3.0))

    assert found.epsilon is None
    assert found.accuracy == found.calibrated
    assert found.accuracy.reason.startswith("no document has two outputs")


def test_too_many_pairs_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, values = Outputs.full(2, 3), np.arange(6.0)

    monkeypatch.setattr(pairwise, "MOST_PAIRS", 9)
    assert tie_calibrated_accuracy(outputs, values, values).epsilon == 0.0
    monkeypatch.setattr(pairwise, "MOST_PAIRS", 8)
    many = tie_calibrated_accuracy(outputs, values, values)

    assert many.accuracy == many.calibrated
    assert (many.epsilon, many.accuracy.reason) == (None, "more than 8 pairs of outputs")


# Soft pairwise accuracy


def soft_by_definition(
    human: FloatArray, judge: FloatArray, signs: FloatArray, weight: FloatArray
) -> float:
    """Tables of shape (documents, systems), and flips of shape (assignments, documents)."""
    agreed = []
    for a, b in itertools.combinations(range(human.shape[1]), 2):
        sure = []
        for table in (human, judge):
            apart = weight * (table[:, a] - table[:, b])
            sure.append((signs @ apart >= apart.sum() - 1e-9).mean())
        agreed.append(1 - abs(sure[0] - sure[1]))
    return float(np.mean(agreed))


def all_flips(documents: int) -> FloatArray:
    return np.array(list(itertools.product((1.0, -1.0), repeat=documents)))


@given(seeds, st.integers(1, 6), st.integers(2, 4), st.booleans())
def test_soft_pairwise_accuracy_is_by_all_flips_of_documents(
    seed: int, documents: int, systems: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    human, judge = rng.integers(1, 5, (2, documents, systems)).astype(float)
    weight = rng.integers(1, 4, documents).astype(float) if weighted else np.ones(documents)
    outputs = Outputs.full(documents, systems)
    if weighted:
        outputs = outputs.weighted(np.repeat(weight, systems))

    for generator in (None, np.random.default_rng(1)):
        found = soft_pairwise_accuracy(outputs, human.ravel(), judge.ravel(), rng=generator)

        expected = soft_by_definition(human, judge, all_flips(documents), weight)
        assert found.value == pytest.approx(expected, abs=1e-12)


def test_flips_are_drawn_where_all_of_them_are_too_many() -> None:
    rng = np.random.default_rng(3)
    human, judge = rng.normal(size=(2, 5, 3))

    def accuracy(permutations: int, generator: np.random.Generator) -> float | None:
        return soft_pairwise_accuracy(
            Outputs.full(5, 3), human.ravel(), judge.ravel(), rng=generator,
            permutations=permutations,
        ).value  # fmt: skip

    exact = soft_by_definition(human, judge, all_flips(5), np.ones(5))
    assert accuracy(32, np.random.default_rng(7)) == pytest.approx(exact)
    drawn = np.random.default_rng(7).choice((1.0, -1.0), (2, 31, 5))
    each = [soft_by_definition(human, judge, signs, np.ones(5)) for signs in drawn]
    for _judge in range(2):  # whoever asks again with the same generator has the same flips
        generator = np.random.default_rng(7)
        assert [accuracy(31, generator) for _ in range(2)] == pytest.approx(each)
    assert len({exact, *each}) == 3


def test_a_thousand_flips_are_drawn() -> None:
    human, judge = np.random.default_rng(3).normal(size=(2, 10, 2))

    found = soft_pairwise_accuracy(
        Outputs.full(10, 2), human.ravel(), judge.ravel(), rng=np.random.default_rng(7)
    )

    drawn = np.random.default_rng(7).choice((1.0, -1.0), (1000, 10))
    assert found.value == soft_by_definition(human, judge, drawn, np.ones(10))


def test_many_documents_are_flipped_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    human, judge = rng.normal(size=(2, 7, 3))
    monkeypatch.setattr(pairwise, "MOST_GROUPS", 3)

    found = soft_pairwise_accuracy(Outputs.full(7, 3), human.ravel(), judge.ravel())

    together = all_flips(3)[:, np.arange(7) % 3]
    assert found.value == pytest.approx(soft_by_definition(human, judge, together, np.ones(7)))


def test_tiny_weights_count_as_large_ones_do() -> None:
    rng = np.random.default_rng(5)
    human, judge = rng.normal(size=(2, 18))
    weight = np.repeat(rng.uniform(1, 3, 6), 3)

    small, large = (
        soft_pairwise_accuracy(Outputs.full(6, 3).weighted(weight * times), human, judge).value
        for times in (1e-8, 1e8)
    )

    assert small == large
    assert small != soft_pairwise_accuracy(Outputs.full(6, 3), human, judge).value


def test_only_documents_with_all_systems_count_in_whichever_order_they_are_listed() -> None:
    document, system = np.repeat([0, 1, 2, 3], [3, 2, 3, 3]), [2, 0, 1, 0, 2, 1, 2, 0, 0, 1, 2]
    outputs = Outputs(document, np.array(system), 4, 3)
    human, judge = np.random.default_rng(6).normal(size=(2, 11))

    found = whole_documents(outputs.weighted(np.array([5.0, 1, 2, 4])[document]))

    assert found
    members, weight = found
    assert members.tolist() == [[1, 2, 0], [7, 5, 6], [8, 9, 10]]
    assert weight is not None
    assert weight.tolist() == [5.0, 2.0, 4.0]
    of_all = soft_by_definition(human[members], judge[members], all_flips(3), np.ones(3))
    assert soft_pairwise_accuracy(outputs, human, judge).value == pytest.approx(of_all)


def test_pairs_of_systems_are_flipped_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, (human, judge) = Outputs.full(6, 4), np.random.default_rng(1).random((2, 24))
    whole = soft_pairwise_accuracy(outputs, human, judge)

    monkeypatch.setattr(pairwise, "PAIRS_AT_ONCE", 4)

    # Other numbers with the same differences, as results are kept.
    assert soft_pairwise_accuracy(outputs, human + 1, judge + 1).value == whole.value


def test_too_many_pairs_of_systems_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, values = Outputs.full(2, 4), np.arange(8.0)

    monkeypatch.setattr(pairwise, "MOST_SYSTEM_PAIRS", 5)
    many = soft_pairwise_accuracy(outputs, values, values)

    assert (many.value, many.reason) == (None, "more than 5 pairs of systems")


def test_without_two_systems_or_a_whole_document_there_is_a_reason() -> None:
    values = np.arange(4.0)

    alone = soft_pairwise_accuracy(Outputs.full(4, 1), values, values)
    gaps = soft_pairwise_accuracy(Outputs.full(2, 2), np.array([1, np.nan, np.nan, 2]), values)

    assert (alone.value, alone.reason) == (None, "fewer than two systems")
    assert gaps.value is None
    assert gaps.reason.endswith("for every system")
    assert not math.isnan(soft_pairwise_accuracy(Outputs.full(2, 2), values, values).value or 0)
