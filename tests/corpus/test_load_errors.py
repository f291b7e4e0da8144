"""Every error of a file is reported with file, line, column and what was expected."""

import gzip
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Judge, Project
from geval.files.rows import LoadError
from tests.conftest import OUTPUTS

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
HEADER = "doc_id,system_id,criterion,annotator,score\n"
GOOD = '{"doc_id": "d9", "system_id": "s", "source": "Text", "output": "Out"}\n'


def errors_of(
    load: Load, project: Project, content: str | bytes, name: str = "bad"
) -> list[tuple[int, str, str]]:
    with pytest.raises(LoadError) as raised:
        load(project, {name: content})
    return [(error.line, error.column, error.message) for error in raised.value.errors]


@pytest.mark.parametrize(
    ("content", "line", "column", "said"),
    [
        ("", 0, "", "the file is empty"),
        ("\n \n", 0, "", "the file is empty"),
        (GOOD + "{broken\n", 2, "", "not JSON"),
        (GOOD + "[1]\n", 2, "", "found a list"),
        (GOOD + '{"doc_id": "d", "system_id": "s", "source": "x"}\n', 2, "output", "found nothing"),
        (GOOD + '{"doc_id": "d", "system_id": "s", "source": true, "output": "o"}\n', 2, "source",
            "found true or false"),
        (GOOD + '{"doc_id": "", "system_id": "s", "source": "x", "output": "o"}\n', 2, "doc_id",
            "found nothing"),
        (GOOD + '{"doc_id": 1.5, "system_id": "s", "source": "x", "output": "o"}\n', 2, "doc_id",
            "found 1.5"),
        (GOOD + '{"doc_id": "d", "system_id": "s", "source": " ", "output": "o"}\n', 2, "source",
            "found nothing"),
        (GOOD + GOOD.replace("Text", "Other text"), 2, "source", "a different source at bad:1"),
        (GOOD + GOOD.replace("Out", "Another"), 2, "output", "a different output"),
        (GOOD + GOOD.replace("d9", "d8").replace('"Out"', '"Out", "references": [[1]]'), 2,
            "references", "list of tex"),
        (GOOD + GOOD.replace("d9", "d8\\u0000"), 2, "doc_id", "NUL"),
        (GOOD + GOOD.replace("d9", "d" * 201), 2, "doc_id", "the limit is 200"),
        ("[{]", 1, "column 3", "not JSON"),
        ("[]", 0, "", "the list is empty"),
        ("[5]", 1, "", "expected an object"),
        ('[{"system_id": "s", "source": "x", "system_output": "o", "scores": {"c": "high"}}]', 1,
            "scores.c",
         "expected a number, found 'high'"),
        ('[{"system_id": "s", "source": "x", "system_output": "o", "scores": [1]}]', 1, "scores",
            "found a list"),
        ("doc_id,system_id\nd1,s1\n", 1, "source, output", "missing in the header"),
        ("doc_id,doc_id,system_id,source,output\n", 1, "doc_id", "twice"),
        ("doc_id,system_id,source,output\nd1,s1,x\n", 2, "",
            "expected 4 fields as in the header, found 3"),
        ('doc_id,system_id,source,output\nd1,s1,"x"y,z\n', 2, "", "not CSV"),
        ('doc_id,system_id,source,output,references\nd1,s1,x,y,[1\n', 2, "references",
            "not a JSON list"),
    ],
)  # fmt: skip
def test_an_error_in_outputs(
    project: Project, load: Load, content: str, line: int, column: str, said: str
) -> None:
    found = errors_of(load, project, content)

    assert [(found[0][0], found[0][1])] == [(line, column)]
    assert said in found[0][2]


@pytest.mark.parametrize(
    ("row", "column", "said"),
    [
        ("d1,good,coherence,ann,four", "score", "expected a number, found 'four'"),
        ("d1,good,coherence,ann,inf", "score", "expected a number"),
        ("d1,good,coherence,ann,1_0", "score", "expected a number"),
        ("d1,good,,ann,4", "criterion", "the criterion that was rated"),
        ("d1,good,coherence,,4", "annotator", "expected a name"),
        (",good,coherence,ann,4", "doc_id", "expected a name"),
        ("d1,absent,coherence,ann,4", "doc_id, system_id", "no output of system absent"),
        ("d1,good," + "c" * 101 + ",ann,4", "criterion", "the limit is 100"),
    ],
)
def test_an_error_in_ratings(
    project: Project, load: Load, row: str, column: str, said: str
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})

    found = errors_of(load, project, HEADER + "d1,good,coherence,bob,4\n" + row + "\n")

    assert [(line, where) for line, where, _ in found] == [(3, column)]
    assert said in found[0][2]


def test_a_rating_outside_the_declared_scale_is_an_error(project: Project, load: Load) -> None:
    project.criteria.create(name="coherence", scale_min=1, scale_max=5)
    load(project, {"outputs.jsonl": OUTPUTS})

    found = errors_of(load, project, HEADER + "d1,good,Coherence,ann,6\n")

    ((line, column, message),) = found
    assert (line, column) == (2, "score")
    assert message.startswith("score 6 is outside coherence's scale 1-5;")


def test_scores_cannot_be_loaded_for_a_judge_that_runs_here(project: Project, load: Load) -> None:
    Judge.objects.create(project=project, name="ours", mode="direct", model="m")
    load(project, {"outputs.jsonl": OUTPUTS})

    found = errors_of(
        load, project, HEADER.replace("annotator", "judge") + "d1,good,coherence,ours,3\n"
    )

    assert found[0][:2] == (2, "judge")


def test_lines_are_counted_through_quoted_newlines(project: Project, load: Load) -> None:
    content = 'doc_id,system_id,source,output\nd1,s1,"two\nlines",o\nd2,s1,,o\n'

    assert [(line, column) for line, column, _ in errors_of(load, project, content)] == [
        (4, "source")
    ]


def test_a_broken_byte_is_named_with_its_line_and_column(project: Project, load: Load) -> None:
    content = b"doc_id,system_id,source,output\nd1,s1,ok,fine\nd2,s1,ok,caf\xe9\n"

    assert [(line, column) for line, column, _ in errors_of(load, project, content)] == [
        (3, "output")
    ]


def test_a_cut_gzip_file_is_reported_as_such(project: Project, load: Load) -> None:
    packed = gzip.compress((OUTPUTS * 50).encode())

    found = errors_of(load, project, packed[: len(packed) // 2], name="outputs.jsonl.gz")

    assert any("compressed data is damaged" in message for _, _, message in found)


def test_all_errors_are_reported_at_once_the_first_hundred_listed(
    project: Project, load: Load
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})

    with pytest.raises(LoadError) as raised:
        load(project, {"ratings.csv": HEADER + "d1,good,coherence,ann,x\n" * 250})

    assert raised.value.total == 250
    assert [error.line for error in raised.value.errors] == list(range(2, 102))
