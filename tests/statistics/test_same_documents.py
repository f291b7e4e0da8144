"""Two judges are compared on the same documents, ties counted."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.correlation import correlations
from geval.statistics.same_documents import on_same_documents, ranked_by_document
from geval.statistics.significance import new_systems_test
from tests.statistics.tables import by_documents

NAN = float("nan")
# Four documents with three outputs each: people rank the first three.
HUMAN = np.array([1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 4, 4.0])
FIRST = np.array([1, 2, 3, 5, 5, 5, 3, 2, 1, 1, 2, 3.0])
SECOND = np.array([1, 3, 2, 1, 2, 3, 2, 2, 2, 1, 1, 1.0])
OUTPUTS = Outputs.full(4, 3)


def test_a_judge_that_ties_what_people_rank_counts_as_0() -> None:
    found = ranked_by_document(OUTPUTS, HUMAN, FIRST)

    assert found.tolist() == pytest.approx([1, 0, -1, NAN], nan_ok=True)


def test_both_judges_have_the_same_documents() -> None:
    same = on_same_documents(OUTPUTS, HUMAN, FIRST, SECOND)

    assert same.first.tolist() == pytest.approx([1, 0, -1, NAN], nan_ok=True)
    assert same.second.tolist() == pytest.approx([0.5, 1, 0, NAN], nan_ok=True)
    assert same.means == pytest.approx((0, 0.5))


def test_it_is_counted_in_how_many_documents_each_judge_ranks_anything() -> None:
    ranked = on_same_documents(OUTPUTS, HUMAN, FIRST, SECOND).ranked

    assert (ranked.documents, ranked.first, ranked.second) == (3, 2, 2)


def test_people_must_rank_the_outputs_that_both_judges_scored() -> None:
    second = SECOND.copy()
    second[[1, 2]] = NAN  # one output is left of the first document

    same = on_same_documents(OUTPUTS, HUMAN, FIRST, second)

    assert np.isnan(same.first[0])
    assert np.isnan(same.second[0])
    assert same.ranked.documents == 2


def test_two_outputs_a_document_follow_the_same_rule() -> None:
    outputs = Outputs.full(3, 2)
    human, judge = np.array([1, 2, 1, 2, 3, 3.0]), np.array([1, 2, 4, 4, 1, 2.0])

    found = ranked_by_document(outputs, human, judge)

    assert found.tolist() == pytest.approx([1, 0, NAN], nan_ok=True)


def test_some_documents_are_taken_in_an_order() -> None:
    weighted = OUTPUTS.weighted(np.repeat([1.0, 2.0, 3.0, 4.0], 3))

    for outputs in (OUTPUTS, weighted):
        same = on_same_documents(outputs, HUMAN, FIRST, SECOND)
        part = same.at([2, 0, 3])
        assert part.first.tolist() == pytest.approx([-1, 1, NAN], nan_ok=True)
        assert part.second.tolist() == pytest.approx([0, 0.5, NAN], nan_ok=True)
        assert (part.counting.tolist(), part.counts.tolist()) == ([True, True, False], [3, 3, 3])
        assert (part.weight is None) is (outputs is OUTPUTS)
        assert part.weight is None or part.weight.tolist() == [3.0, 1.0, 4.0]


def test_published_correlations_leave_such_documents_out_as_before() -> None:
    estimate = correlations(OUTPUTS, HUMAN, FIRST).estimates["spearman"]["summary"]

    assert estimate.value == pytest.approx(0)  # of 1 and -1
    assert correlations(OUTPUTS, HUMAN, SECOND).estimates["spearman"][
        "summary"
    ].value == pytest.approx(0.75)  # of 0.5 and 1


def hard_and_easy(rng: np.random.Generator, documents: int) -> tuple[Outputs, list[np.ndarray]]:
    """People's ratings, and today's scores: half of the documents are hard for it."""
    outputs = Outputs.full(documents, 6)
    quality = rng.normal(size=(documents, 6))
    noise = np.where(np.arange(documents) % 2, 4.0, 0.6)[:, None]
    today = quality + noise * rng.normal(size=quality.shape)
    return outputs, [quality.ravel(), today.ravel()]


def tied_in_hard(scores: np.ndarray) -> np.ndarray:
    """The same scores, but all outputs of hard documents get one."""
    table = scores.reshape(-1, 6).copy()
    table[1::2] = 0.0
    return table.ravel()


def test_the_permutation_test_counts_ties() -> None:
    outputs, (human, today) = hard_and_easy(np.random.default_rng(2), 40)
    tied = tied_in_hard(today)

    found = by_documents(outputs, human, tied, today, rng=np.random.default_rng(0))

    assert found.observed is not None
    assert found.observed < 0


@pytest.mark.parametrize("over", ["systems", "both"])
def test_the_test_for_new_systems_counts_ties(over: str) -> None:
    rng = np.random.default_rng(4)
    outputs = Outputs.full(30, 12)
    human = rng.normal(size=360)
    judge = human + rng.normal(size=360)
    tied = np.where(outputs.document % 3 == 0, 0.0, judge)

    found = new_systems_test(outputs, human, tied, judge, "spearman", over)  # type: ignore[arg-type]

    assert found.observed == pytest.approx(
        np.subtract(*on_same_documents(outputs, human, tied, judge).means)
    )
    assert found.observed is not None
    assert found.observed < -0.1
    assert found.p is not None
    assert found.p < 0.01
