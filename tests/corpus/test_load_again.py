"""Loading is idempotent and all or nothing."""

from collections.abc import Callable

import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import CandidateOutput, Criterion, Document, Project, Score, System
from geval.files.rows import LoadError
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
FILES = {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS}


def test_loading_a_file_again_changes_nothing_and_says_so(project: Project, load: Load) -> None:
    load(project, FILES)
    before = list(Rating.objects.order_by("pk").values_list("pk", "score"))

    again = load(project, FILES)

    assert not again.changed
    assert (again.outputs.unchanged, again.ratings.unchanged) == (6, 24)
    assert list(Rating.objects.order_by("pk").values_list("pk", "score")) == before


def test_scores_without_a_criterion_are_not_loaded_twice_either(
    project: Project, load: Load
) -> None:
    scores = "doc_id,system_id,criterion,judge,score\nd1,good,,rouge,0.4\n"
    load(project, {**FILES, "scores.csv": scores})

    again = load(project, {"scores.csv": scores})

    assert (again.scores.created, again.scores.unchanged, Score.objects.count()) == (0, 1, 1)


def test_a_longer_file_adds_only_what_is_new(project: Project, load: Load) -> None:
    load(project, FILES)

    grown = load(project, {"ratings.csv": RATINGS + "\nd1,good,coherence,cyn,5\n"})

    assert (grown.ratings.created, grown.ratings.unchanged) == (1, 24)


def test_one_error_and_nothing_of_any_file_stays(project: Project, load: Load) -> None:
    with pytest.raises(LoadError):
        load(project, {**FILES, "more.csv": RATINGS + "\nd1,good,coherence,cyn,four\n"})

    assert not any(
        model.objects.exists() for model in (Document, System, CandidateOutput, Criterion, Rating)
    )


@pytest.mark.parametrize(
    ("name", "changed", "column", "said"),
    [
        (
            "outputs.jsonl",
            OUTPUTS.replace("A ferry, a", "One ferry, a"),
            "output",
            "different text",
        ),
        (
            "outputs.jsonl",
            OUTPUTS.replace("old harbour", "new harbour"),
            "source",
            "different source",
        ),
        (
            "ratings.csv",
            RATINGS.replace("coherence,ann,4", "coherence,ann,3", 1),
            "score",
            "contradicts 4",
        ),
    ],
)
def test_what_contradicts_the_project_is_an_error_with_its_place(
    project: Project, load: Load, name: str, changed: str, column: str, said: str
) -> None:
    load(project, FILES)

    with pytest.raises(LoadError) as raised:
        load(project, {name: changed})

    error = raised.value.errors[0]
    assert error.file == name
    assert error.line > 0
    assert error.column == column
    assert said in error.message
    assert Rating.objects.filter(score=4).exists()


def test_a_document_may_be_known_by_its_source_alone(project: Project, load: Load) -> None:
    load(project, FILES)
    source = Document.objects.get(doc_id="d1").source
    release = f'[{{"source": "{source}", "system_id": "third", "system_output": "New."}}]'

    result = load(project, {"release.json": release})

    assert (result.documents.created, result.outputs.created) == (0, 1)
    assert CandidateOutput.objects.get(text="New.").document.doc_id == "d1"
