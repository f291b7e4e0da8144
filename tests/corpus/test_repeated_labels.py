"""A judge's repeated labels without an order become the most frequent one, never their mean."""

from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project, Score
from geval.standin.planted import as_csv

pytestmark = pytest.mark.django_db


def test_a_vote_is_stored_and_nothing_in_a_tie(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    project.criteria.create(
        name="kind", scale_min=0, scale_max=2, is_ordered=False,
        scale_labels={"0": "wrong", "1": "rude", "2": "slow"},
    )  # fmt: skip
    given = {"d1": ["wrong", "slow", "slow"], "d2": ["wrong", "slow"]}
    scores = [
        (doc, "s", "kind", "gpt", label, at)
        for doc, labels in given.items()
        for at, label in enumerate(labels)
    ]

    outputs = [(doc, "s", f"Text {doc}.", f"Output {doc}.") for doc in given]
    load(project, {
        "outputs.csv": as_csv("doc_id,system_id,source,output", outputs),
        "scores.csv": as_csv("doc_id,system_id,criterion,judge,score,repeat", scores),
    })  # fmt: skip

    stored = Score.objects.values_list("output__document__doc_id", "value")
    assert list(stored) == [("d1", 2.0)]
