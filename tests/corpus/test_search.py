"""Documents are found by the words of their source and outputs, however long those are, and by
their names."""

import json
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]


@pytest.fixture
def searched(project: Project, load: Load) -> Project:
    rows = (
        ("ferry_1", "The ferry left the old harbour.", "A boat sailed at dawn."),
        ("100%_sure", "Snow closed the pass, the old pass.", "The road stays shut."),
        ("plain", "Nothing of note.", "The harbour was old, and a ferry came."),
    )
    lines = [
        {"doc_id": name, "system_id": "s", "source": source, "output": output}
        for name, source, output in rows
    ]
    load(project, {"outputs.jsonl": "\n".join(map(json.dumps, lines))})
    return project


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ferry", ["ferry_1", "plain"]),
        ("FERRY harbour", ["ferry_1", "plain"]),
        ('"old harbour"', ["ferry_1"]),
        ("old -ferry", ["100%_sure"]),
        ("dawn or shut", ["ferry_1", "100%_sure"]),
        ("y_1", ["ferry_1"]),
        ("0%_s", ["100%_sure"]),
        ("%", ["100%_sure"]),
        ("a_n", []),
        ("ferr", ["ferry_1"]),
        ("'; DROP TABLE x; --", []),
        ('"', []),
    ],
)
def test_documents_are_found(searched: Project, words: str, found: list[str]) -> None:
    documents = searched.documents.matching(words).order_by("pk")

    assert list(documents.values_list("doc_id", flat=True)) == found


def test_a_project_finds_only_its_own(searched: Project) -> None:
    another = Project.objects.create(slug="another", name="Another")
    another.documents.create(doc_id="theirs", source="A ferry.")

    assert [document.doc_id for document in another.documents.matching("ferry")] == ["theirs"]
    assert searched.documents.matching("ferry").count() == 2


def test_of_texts_with_more_words_than_an_index_holds_the_beginning_is_searched(
    project: Project, load: Load
) -> None:
    words = " ".join(f"word{number:x}" for number in range(200_000))
    row = {
        "doc_id": "book",
        "system_id": "s",
        "source": f"first {words} last",
        "output": f"{words} end",
    }

    load(project, {"book.jsonl": json.dumps(row)})

    assert project.documents.get().source.endswith("last")
    assert project.documents.matching("first word11").exists()
    assert not project.documents.matching("last").exists()
