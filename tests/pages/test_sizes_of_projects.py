"""How many texts and ratings a project has is counted once, until they change."""

from collections.abc import Callable

import pytest

from evaluations.corpus.removing import remove_document
from evaluations.models import Project
from evaluations.models.sizes import rating_count, with_sizes
from tests.conftest import OUTPUTS

pytestmark = pytest.mark.django_db
Load = Callable[..., object]


def outputs_of(project: Project) -> int:
    return with_sizes([project])[0].output_count


def test_documents_systems_and_outputs_are_counted(small_project: Project) -> None:
    empty = Project.objects.create(slug="empty", name="Empty")

    found, nothing = with_sizes([small_project, empty])

    assert (found.document_count, found.system_count, found.output_count) == (3, 2, 6)
    assert (nothing.document_count, nothing.system_count, nothing.output_count) == (0, 0, 0)


def test_they_are_counted_again_when_texts_come_or_go(small_project: Project, load: Load) -> None:
    assert outputs_of(small_project) == 6
    load(small_project, {"more.jsonl": OUTPUTS.replace('"d1"', '"d9"')})
    after_load = outputs_of(small_project)
    new = small_project.documents.get(doc_id="d9")
    of_new = new.outputs.count()

    assert after_load == 6 + of_new == small_project.documents.count() * 2
    remove_document(new)
    assert outputs_of(small_project) == 6


def test_ratings_are_counted_again_when_somebody_rates(small_project: Project, load: Load) -> None:
    before = rating_count(small_project)
    load(
        small_project,
        {"r.csv": "doc_id,system_id,criterion,annotator,score\nd1,odd,fluency,zoe,3\n"},
    )

    assert before > 0
    assert rating_count(small_project) == before + 1
