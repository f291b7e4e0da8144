"""Files of other tools are known by their columns; packed ones are unpacked, up to a limit."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from annotations.models import Rating
from evaluations.models import CandidateOutput, Project
from geval.files.column_aliases import conventional
from geval.files.limits import FileLimits
from geval.files.rows import LoadError

pytestmark = pytest.mark.django_db
Load = Callable[..., Any]


def only_output(project: Project) -> CandidateOutput:
    return CandidateOutput.objects.select_related("document", "system").get(
        document__project=project
    )


@pytest.mark.parametrize(
    ("record", "source", "output", "references", "system"),
    [
        ({"input": "in", "output": "out", "reference": "ref"}, "in", "out", ["ref"], "mine"),
        ({"article": "a", "summary": "s", "highlights": "h", "id": "7"}, "a", "s", ["h"], "mine"),
        ({"article": "a", "highlights": "h"}, "a", "h", [], "reference"),
        ({"question": "q", "answer": "a", "contexts": ["c1", "c2"], "model": "m"}, "q", "a", [],
            "m"),
        ({"input": "in", "actual_output": "out", "expected_output": "ref"}, "in", "out", ["ref"],
            "mine"),
        (
            {"vars": {"question": "q"}, "response": {"output": "r", "cost": 1},
                "provider": {"id": "gpt"}},
            "q", "r", [], "gpt",
        ),
        (
            {"messages": [{"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"}]},
            "user: Hi", "Hello", [], "mine",
        ),
    ],
)  # fmt: skip
def test_columns_of_other_tools(
    project: Project,
    load: Load,
    record: dict[str, Any],
    source: str,
    output: str,
    references: list[str],
    system: str,
) -> None:
    load(project, {"mine.jsonl": json.dumps(record)})

    found = only_output(project)
    assert (found.document.source, found.text, found.document.references) == (
        source,
        output,
        references,
    )
    assert found.system.name == system


def test_summevals_own_json_brings_its_ratings(project: Project, load: Load) -> None:
    record = {
        "id": "dm-1", "model_id": "M8", "text": "The article.", "decoded": "A summary.",
        "references": ["r1", "r2"],
        "expert_annotations": [{"coherence": 4, "fluency": 5}, {"coherence": 3, "fluency": 5}],
        "turker_annotations": [{"coherence": 2, "fluency": 2}],
    }  # fmt: skip

    load(project, {"model_annotations.aligned.jsonl": json.dumps(record)})

    ratings = Rating.objects.values_list("annotator__name", "criterion__name", "score")
    assert only_output(project).text == "A summary."
    assert ("expert-2", "coherence", 3.0) in ratings
    assert len(ratings) == 6


def test_our_own_names_win_over_others() -> None:
    record = {"system_id": "s", "source": "a", "output": "b", "input": "c", "response": "d"}

    assert conventional(record, system="x") == {"system_id": "s", "source": "a", "output": "b"}


ROW = '{"doc_id": "d", "system_id": "s", "source": "x", "output": "y"}'


def zipped(**files: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_a_zip_of_one_file_is_taken_and_one_of_two_is_not(project: Project, load: Load) -> None:
    load(project, {"one.zip": zipped(outputs=ROW)})
    with pytest.raises(LoadError) as refused:
        load(project, {"two.zip": zipped(a=ROW, b=ROW)})

    assert only_output(project).text == "y"
    assert refused.value.errors[0].message.startswith("a zip with 2 files (a, b);")


@pytest.mark.parametrize(
    "pack", [lambda text: gzip.compress(text.encode()), lambda text: zipped(bomb=text)]
)
def test_a_bomb_is_refused_before_it_is_unpacked(
    project: Project, load: Load, settings: Any, pack: Callable[[str], bytes]
) -> None:
    settings.FILE_LIMITS = FileLimits(unpacked_bytes=2**20)

    with pytest.raises(LoadError) as refused:
        load(project, {"bomb.jsonl": pack(ROW + "\n" + " " * 2**23)})

    assert "unpacks to more than 1 MB" in refused.value.errors[0].message
    assert project.documents.count() == 0


def test_broken_zips_are_errors(project: Project, load: Load) -> None:
    whole = zipped(outputs=ROW * 1000)

    for broken in (whole[: len(whole) // 2], whole.replace(b"PK\x01\x02", b"PK\x01\x03")):
        with pytest.raises(LoadError) as refused:
            load(project, {"broken.zip": broken})
        assert "the compressed data is damaged" in refused.value.errors[0].message
