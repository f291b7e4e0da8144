"""Made-up uploads, whole, broken and hostile: always either all in or all reported, and text stays
text."""

import json
import re
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.models import Rating
from evaluations.corpus.store import LoadResult, load_files
from evaluations.models import CandidateOutput, Project
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from tests.made_up_files import HOSTILE, as_csv, as_jsonl, broken

pytestmark = pytest.mark.django_db
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        "doc_id",
        "system_id",
        "source",
        "output",
        "context",
        "references",
        "criterion",
        "annotator",
        "score",
        "judge",
        "winner",
        "scores",
        "all_responses",
        "system_output",
        "messages",
        "vars",
    ]
)
RECORDS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"doc_id": TEXT, "system_id": TEXT, "source": TEXT, "output": TEXT}),
        st.dictionaries(NAMES, ANY, max_size=8),
    ),
    min_size=1,
    max_size=6,
)


FILES = st.one_of(
    RECORDS.map(as_jsonl),
    RECORDS.map(lambda records: json.dumps(records).encode()),
    RECORDS.map(as_csv),
    st.binary(max_size=200),
    broken(RECORDS.map(as_jsonl)),
)


def loaded_or_refused(project: Project, path: Path) -> LoadResult | LoadError:
    try:
        return load_files(project, [InputFile(path, "upload")])
    except LoadError as error:
        return error


@pytest.mark.slow
@given(content=FILES)
@settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
def test_all_comes_in_or_all_is_reported(project: Project, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)

    with transaction.atomic():
        result = loaded_or_refused(project, path)
        if isinstance(result, LoadError):
            assert result.total >= 1
            assert all(error.message for error in result.errors)
            assert (
                CandidateOutput.objects.count()
                == Rating.objects.count()
                == project.documents.count()
                == 0
            )
        else:
            assert result.outputs.created == CandidateOutput.objects.count()
            assert result.documents.created == project.documents.count()
        transaction.set_rollback(True)


@pytest.mark.slow
@given(
    texts=st.lists(
        TEXT.filter(lambda text: bool(text.strip())), min_size=1, max_size=4, unique=True
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_what_comes_in_comes_out_as_it_was(
    project: Project, tmp_path: Path, texts: list[str]
) -> None:
    rows = [
        {"doc_id": f"d{n}", "system_id": "s", "source": text, "output": text}
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "upload"
    path.write_bytes(as_jsonl(rows))

    storable = [re.sub("[\0\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text) for text in texts]
    with transaction.atomic():
        load_files(project, [InputFile(path, "upload")])
        outputs = CandidateOutput.objects.order_by("pk").values_list("text", flat=True)
        assert list(outputs) == storable
        transaction.set_rollback(True)
