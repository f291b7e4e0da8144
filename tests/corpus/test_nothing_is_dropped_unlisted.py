"""Whatever a file holds is loaded, an error, or listed as not used, with the number of rows."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from evaluations.corpus.uploads.loading import start_check
from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from geval.files.load_results import LoadResult
from geval.files.unused import MOST_NAMES, OTHERS
from tests.conftest import OUTPUTS

pytestmark = pytest.mark.django_db(transaction=True)
Load = Callable[..., LoadResult]


def unused(result: LoadResult) -> dict[str, int]:
    return {one.column: one.rows for one in result.unused}


OURS = {"doc_id": "x", "system_id": "s", "source": "src", "output": "out"}


@pytest.mark.parametrize(
    ("record", "listed"),
    [
        (OURS, {}),
        (OURS | {"fluency_score": 3, "empty": "", "nothing": None}, {"fluency_score": 1}),
        (OURS | {"scores": {"fluency": 3}, "predict_scores": {"fluency": 2}}, {}),
        (OURS | {"scores": 3}, {"scores": 1}),
        (OURS | {"judge": "gpt-4"}, {"judge": 1}),  # there is no score of it
        (OURS | {"metadata": {"topic": "sea"}, "metadata.year": 1999, "context": "c"}, {}),
        (OURS | {"ratings": {"fluency": 3}, "annotator": "ann"}, {}),
        ({"input": "src", "question": "other", "actual_output": "out", "id": 3}, {"question": 1}),
        ({"vars": {"input": "src"}, "response": {"output": "out"}, "latency": 3}, {"latency": 1}),
        (
            {
                "messages": [
                    {"role": "user", "content": "q"},
                    {"role": "assistant", "content": "a"},
                ],
                "id": 1,
                "tags": ["x"],
            },
            {"tags": 1},
        ),
        (
            {
                "source": "src",
                "system_id": "s",
                "system_output": "o",
                "scores": {"a": 1},
                "more": 1,
            },
            {"more": 1},
        ),
    ],
)
def test_a_field_of_an_object_that_nobody_reads_is_listed(
    project: Project, load: Load, record: dict[str, object], listed: dict[str, int]
) -> None:
    result = load(project, {"f.jsonl": json.dumps(record)})

    assert result.outputs.created == 1
    assert unused(result) == listed


@pytest.mark.parametrize(
    ("content", "listed"),
    [
        (
            "doc_id,system_id,criterion,annotator,score,comment,time\n"
            "d1,good,fluency,ann,3,nice,9:00\nd2,good,fluency,ann,3,,\nd3,good,fluency,ann,3,bad,\n",
            {"time": 1},
        ),
        ("doc_id,system_id,annotator,ratings.fluency,ip\nd1,good,ann,3,::1\n", {"ip": 1}),
        ("doc_id,system_a,system_b,winner,annotator,why\nd1,good,odd,a,ann,shorter\n", {"why": 1}),
        ('{"doc_id": "d1", "system_id": "good", "judge": "j", "score": 3, "why": "x"}', {"why": 1}),
        (
            '{"doc_id": "d1", "system_id": "good", "criterion": "c", "all_responses": ["3"],'
            ' "scores": {"c": 2}}',
            {"scores": 1},
        ),
    ],
    ids=["ratings", "wide ratings", "preferences", "a score", "replies"],
)
def test_a_column_that_nobody_reads_is_listed_once_with_the_rows_that_hold_something(
    project: Project, load: Load, content: str, listed: dict[str, int]
) -> None:
    result = load(project, {"outputs.jsonl": OUTPUTS, "f": content})

    assert unused(result) == listed
    assert all(one.file == "f" for one in result.unused)


def test_the_list_is_bounded(project: Project, load: Load) -> None:
    record = OURS | {f"field{number}": 1 for number in range(MOST_NAMES + 50)}

    found = unused(load(project, {"f.jsonl": json.dumps(record)}))

    assert len(found) == MOST_NAMES + 1
    assert found[OTHERS] == 50


def test_the_command_lists_them(tmp_path: Path, project: Project) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps(OURS | {"note": "x"}))
    text, as_json = StringIO(), StringIO()
    left_out = ["--columns", "note="]

    call_command("load", project.slug, str(path), "--check", *left_out, stdout=text)
    call_command("load", project.slug, str(path), "--json", *left_out, stdout=as_json)

    assert f"not used in {path} (rows): note (1)" in text.getvalue()
    listed = json.loads(as_json.getvalue())["unused"]
    assert listed == [{"file": str(path), "column": "note", "rows": 1}]


def test_the_api_lists_them(project: Project, owner: User) -> None:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)

    answer = Client().post(
        f"/api/v1/projects/{project.slug}/outputs?columns=note%3D",
        json.dumps(OURS | {"note": "x"}),
        content_type="application/jsonl",
        headers={"Authorization": f"Bearer {token}"},
    )

    assert answer.json()["unused"] == [{"file": "outputs", "column": "note", "rows": 1}]


def test_the_upload_page_lists_columns_that_were_left_out(
    project: Project, as_role: Callable[[str], Client]
) -> None:
    browser = as_role("owner")
    text = "doc_id,system_id,source,output,colour\nx,s,src,out,red\n"
    browser.post("/p/small/data/upload/", {"text": text})
    upload = project.uploads.get()
    upload.files.update(columns={n: n for n in ("doc_id", "system_id", "source", "output")})

    start_check(upload)

    page = browser.get(upload.get_absolute_url()).content.decode()
    assert "<strong>colour</strong>" in page
    assert "are not used" in page
