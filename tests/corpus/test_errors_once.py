"""An error is reported once, under its cause; what is missing, empty or about an output is none."""

from collections.abc import Callable

import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadOptions, LoadResult, RestLoaded, load_rest
from evaluations.models import CandidateOutput, Document, Project
from geval.files.readers import InputFile
from geval.files.recognition import recognise
from geval.files.rows import LoadError

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
HEADER = "doc_id,system_id,source,output,metadata.note,ratings.coherence,ratings.fluency\n"
RATINGS = "doc_id,system_id,criterion,annotator,score\n"


def places(load: Load, project: Project, files: dict[str, str]) -> list[tuple[str, int, str]]:
    with pytest.raises(LoadError) as raised:
        load(project, files)
    return [(error.file, error.line, error.column) for error in raised.value.errors]


def loaded(project: Project, tmp_path: object, content: str) -> RestLoaded:
    path = tmp_path / "o.csv"  # type: ignore[operator]
    path.write_text(content, encoding="utf-8")
    return load_rest(
        project, [InputFile(path, "o.csv")], about=LoadOptions(), dry_run=False, leave_out=True
    )


def test_what_varies_within_a_document_is_listed_and_no_metadata_of_any(
    project: Project, load: Load
) -> None:
    rows = "d1,a,S1,x,fine,4,4\nd1,b,S1,y,odd,3,3\nd1,c,S1,z,,3,3\nd2,a,S2,x,fine,5,5\n"

    result = load(project, {"o.csv": HEADER + rows})

    assert [document.metadata for document in Document.objects.all()] == [{}, {}]
    assert [(one.column, one.rows) for one in result.unused] == [("metadata.note", 3)]
    assert CandidateOutput.objects.count() == 4


def test_metadata_that_one_row_of_a_document_gives_is_the_document_s(
    project: Project, load: Load
) -> None:
    rows = "d1,a,S1,x,,4,4\nd1,b,S1,y,news,3,3\nd2,a,S2,x,sports,4,4\nd2,b,S2,y,,4,4\n"

    result = load(project, {"o.csv": HEADER + rows})

    assert [document.metadata for document in Document.objects.order_by("doc_id")] == [
        {"note": "news"},
        {"note": "sports"},
    ]
    assert result.unused == []


def test_a_column_that_is_given_for_some_outputs_of_a_document_is_not_taken_for_metadata() -> None:
    names = ["doc_id", "system_id", "source", "output", "topic", "remark"]
    rows = [
        {"doc_id": f"d{n // 2}", "system_id": "ab"[n % 2], "source": f"Source {n // 2}",
         "output": f"Output {n}", "topic": f"topic {n // 4}",
         "remark": "see below" if n == 3 else ""}
        for n in range(8)
    ]  # fmt: skip

    columns = recognise(names, rows).columns

    assert (columns.get("topic"), columns.get("remark")) == ("metadata", None)


def test_ratings_of_an_output_with_an_error_have_none_of_their_own(
    project: Project, load: Load
) -> None:
    outputs = HEADER + "d1,a,S1,x,,4,4\nd1,b,Another source,y,,3,3\nd2,a,,x,,4,4\n"
    ratings = RATINGS + "d1,b,coherence,ann,4\nd2,a,coherence,ann,4\nd2,a,coherence,bob,4\n"

    assert places(load, project, {"o.csv": outputs, "r.csv": ratings}) == [
        ("o.csv", 3, "source"),
        ("o.csv", 4, "source"),
    ]


def test_leaving_out_a_wrong_rating_keeps_the_other_ratings_and_the_texts_of_its_row(
    project: Project, tmp_path: object
) -> None:
    rest = loaded(project, tmp_path, HEADER + "d1,a,S1,x,,four,4\nd2,a,S2,x,,5,5\n,a,S3,x,,3,3\n")

    assert sorted(Rating.objects.values_list("output__document__doc_id", "score")) == [
        ("d1", 4), ("d2", 5), ("d2", 5),
    ]  # fmt: skip
    assert [(row.line, row.columns) for row in rest.refused] == [
        (2, ("ratings.coherence",)),
        (4, ()),
    ]
    assert rest.refused[0].cells["ratings.coherence"] == "four"


def test_a_row_with_another_error_is_left_out_with_its_ratings(
    project: Project, tmp_path: object
) -> None:
    rest = loaded(project, tmp_path, HEADER + "d1,a,S1,x,,4,4\nd2,a,,x,,four,4\n")

    assert Rating.objects.count() == 2
    assert [(row.line, row.columns) for row in rest.refused] == [(3, ())]
