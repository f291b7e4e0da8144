"""Loading ratings again does not tell what people gave to locked documents."""

from collections.abc import Callable
from typing import Any

import pytest

from annotations.models import Preference, Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import LockedDocuments, Project
from evaluations.models.improving import withheld_documents
from geval.files.rows import LoadError

pytestmark = pytest.mark.django_db
RATED = "doc_id,system_id,criterion,annotator,score\n{},s0,quality,ann,{}"
COMPARED = "doc_id,system_a,system_b,annotator,winner\n{},s0,s1,ann,{}"


@pytest.fixture
def names(rated_project: Project, locked: LockedDocuments) -> tuple[str, str]:
    """A document that is locked, and one that is not."""
    hidden = withheld_documents(rated_project.pk)
    documents = rated_project.documents.order_by("pk")
    return (
        documents.filter(pk__in=hidden)[0].doc_id,
        documents.exclude(pk__in=hidden)[0].doc_id,
    )


def rating(doc_id: str) -> float:
    return Rating.objects.get(
        output__document__doc_id=doc_id, output__system__name="s0", annotator__name="ann"
    ).score


def refusal(load: Callable[..., LoadResult], project: Project, rows: str, **about: Any) -> str:
    """Why rows are not loaded."""
    with pytest.raises(LoadError) as refused:
        load(project, {"r.csv": rows}, **about)
    return refused.value.errors[0].message


def test_a_rating_of_a_locked_document_is_not_compared(
    rated_project: Project, names: tuple[str, str], load: Callable[..., LoadResult]
) -> None:
    hidden, _shown = names
    right = rating(hidden)

    tallies = [
        load(rated_project, {"r.csv": RATED.format(hidden, score)}).ratings
        for score in (right, 1 if right > 2 else 5)
    ]

    assert tallies[0] == tallies[1]
    assert (tallies[0].created, tallies[0].unchanged) == (0, 1)
    assert rating(hidden) == right


def test_a_preference_on_a_locked_document_is_not_compared(
    rated_project: Project, names: tuple[str, str], load: Callable[..., LoadResult]
) -> None:
    hidden, shown = names
    for name in names:
        load(rated_project, {"p.csv": COMPARED.format(name, "s0")})

    same = load(rated_project, {"p.csv": COMPARED.format(hidden, "s0")}).preferences
    other = load(rated_project, {"p.csv": COMPARED.format(hidden, "s1")}).preferences

    assert same == other
    assert Preference.objects.count() == 2
    assert "contradicts" in refusal(load, rated_project, COMPARED.format(shown, "s1"))


@pytest.mark.parametrize("row", [RATED, COMPARED])
def test_whoever_asks_for_open_documents_only_may_not_rate_locked_ones(
    rated_project: Project, names: tuple[str, str], load: Callable[..., LoadResult], row: str
) -> None:
    hidden, shown = names
    answer: Any = rating(shown) if row is RATED else "s0"

    said = refusal(load, rated_project, row.format(hidden, answer), open_only=True)
    assert f"document {hidden} is locked until the last look" in said
    load(rated_project, {"r.csv": row.format(shown, answer)}, open_only=True)
