"""What a document lacked is added by a later load, rated or not; what it has stays."""

import json
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import Document, Project
from tests.corpus.small_files import jsonl, rated, table, texts

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]


@pytest.fixture
def rated_project(project: Project, load: Load) -> Project:
    load(project, {"o.jsonl": jsonl(texts(1)), "r.csv": table(rated([4, 3])[:2])})
    return project


@pytest.mark.parametrize(
    ("added", "field", "value"),
    [({"references": ["It is."]}, "references", ["It is."]), ({"context": "c"}, "context", "c")],
)
def test_empty_field_of_a_rated_document_is_filled(
    rated_project: Project, load: Load, added: dict[str, object], field: str, value: object
) -> None:
    later = {"o.jsonl": json.dumps(texts(1)[0] | added)}

    first, again = load(rated_project, later), load(rated_project, later)

    assert getattr(Document.objects.get(), field) == value
    assert (first.documents.changed, again.documents.changed) == (1, 0)


def test_field_that_a_later_file_leaves_out_stays(rated_project: Project, load: Load) -> None:
    load(rated_project, {"o.jsonl": json.dumps(texts(1)[0] | {"references": ["It is."]})})

    result = load(rated_project, {"o.jsonl": jsonl(texts(1))})

    assert not result.changed
    assert Document.objects.get().references == ["It is."]


def test_other_references_of_a_rated_document_are_refused(
    rated_project: Project, load: Load
) -> None:
    load(rated_project, {"o.jsonl": json.dumps(texts(1)[0] | {"references": ["It is."]})})

    with pytest.raises(LoadError) as raised:
        load(rated_project, {"o.jsonl": json.dumps(texts(1)[0] | {"references": ["No."]})})

    assert "different references" in raised.value.errors[0].message
