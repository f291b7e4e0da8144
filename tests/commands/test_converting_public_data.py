"""`reproduce --convert` makes our files from the forms of the public repositories. All texts and
numbers here are made up."""

import gzip
import json
import os
import pickle
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from geval.reproduction.cells import csv_rows
from geval.reproduction.topical_chat import CRITERIA

SYSTEMS = {"M1": "A ferry left at noon .", "M2": "A ferry ."}


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".pkl":
        path.write_bytes(pickle.dumps(content))
    else:
        path.write_text(json.dumps(content))


def convert(name: str, checkout: Path, data: Path) -> str:
    out = StringIO()
    call_command("reproduce", "--convert", f"{name}={checkout}", "--data", str(data), stdout=out)
    return out.getvalue()


def summeval(number: Callable[[float], Any] = float) -> dict[str, Any]:
    """Two documents in the form of BARTScore's release."""
    return {
        f"dm-test-{d}": {
            "src": f"A ferry left harbour {d} at noon .",
            "ref_summ": "It left .",
            "ref_summs": ["It left .", "The ferry left ."],
            "sys_summs": {
                name: {
                    "sys_summ": text,
                    "scores": {
                        "coherence": 2.0,
                        **{f"rouge{n}_f": number(0.1 * len(name) + d) for n in "12l"},
                    },
                }
                for name, text in SYSTEMS.items()
            },
        }
        for d in range(2)
    }


@pytest.fixture
def bartscore(tmp_path: Path) -> Path:
    folder = tmp_path / "BARTScore"
    write(folder / "SUM" / "SummEval" / "data.pkl", summeval())
    write(folder / "SUM" / "SummEval" / "final_p.pkl", summeval(np.float64))
    return folder


@pytest.fixture
def alttest(tmp_path: Path) -> Path:
    folder = tmp_path / "AltTest"
    keys = [f"dm-test-{d}__{s}__coherence" for d in range(2) for s in SYSTEMS]
    for name, who in (("human", ("e0", "e1")), ("llm", ("some_llm",))):
        scores = {one: {key: 1 + at for at, key in enumerate(keys)} for one in who}
        write(folder / "data" / "summeval" / f"{name}_annotations.json", scores)
    return folder


@pytest.mark.django_db
def test_summeval_is_converted_from_both_of_its_sources_and_loads(
    bartscore: Path, alttest: Path, tmp_path: Path, project: Project,
    load: Callable[..., LoadResult],
) -> None:  # fmt: skip
    data = tmp_path / "data"

    output = convert("bartscore", bartscore, data) + convert("alttest", alttest, data)

    folder = data / "summeval"
    written = gzip.decompress((folder / "outputs.jsonl.gz").read_bytes())
    outputs = [json.loads(row) for row in written.splitlines()]
    assert outputs[0] == {
        "doc_id": "dm-test-0",
        "system_id": "M1",
        "source": "A ferry left harbour 0 at noon .",
        "references": ["It left .", "The ferry left ."],
        "output": SYSTEMS["M1"],
    }
    metrics = csv_rows(folder / "metric_scores.csv.gz")
    assert metrics[0] | {"score": ""} == {
        "doc_id": "dm-test-0", "system_id": "M1", "criterion": "", "judge": "rouge1_f", "score": "",
    }  # fmt: skip
    assert [float(row["score"]) for row in metrics] == pytest.approx([0.2] * 6 + [1.2] * 6)
    assert csv_rows(folder / "human_ratings.csv.gz")[-1] == {
        "doc_id": "dm-test-1", "system_id": "M2", "criterion": "coherence", "annotator": "e1",
        "score": "4",
    }  # fmt: skip
    assert csv_rows(folder / "llm_scores.csv.gz")[0]["judge"] == "some_llm"
    assert output.count("written") == 4
    load(project, {path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert project.documents.count() == 2
    assert {judge.name for judge in project.judges.all()} >= {"some_llm", "rouge1_f"}


def test_a_pickle_that_would_call_something_is_refused(bartscore: Path, tmp_path: Path) -> None:
    class Calls:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "called"),)

    write(bartscore / "SUM" / "SummEval" / "data.pkl", {"dm-test-0": Calls()})

    with pytest.raises(CommandError, match=r"data.pkl: The file wants to call posix.mkdir"):
        convert("bartscore", bartscore, tmp_path / "data")

    assert not (tmp_path / "called").exists()
    assert not (tmp_path / "data").exists()


@pytest.fixture
def unieval(tmp_path: Path) -> Path:
    """Six outputs in the form of UniEval's predictions, of every dimension of its tables."""
    folder = tmp_path / "UniEval"
    dimensions = {
        "dialogue/topical_chat": [*CRITERIA, "understandability", "overall"],
        "fact/qags_xsum": ["consistency"],
        "fact/qags_cnndm": ["consistency"],
        "data2text/sfres": ["naturalness", "informativeness", "overall"],
        "data2text/sfhot": ["naturalness", "informativeness", "overall"],
    }
    for name, criteria in dimensions.items():
        items = [
            {
                "source": "is it late ?\n\n",
                "system_id": f"s{at}",
                "system_output": f"no , {at} .",
                "scores": dict.fromkeys(criteria, float(at)),
                "predict_scores": dict.fromkeys(criteria, float(at**2)),
            }
            for at in range(6)
        ]
        write(folder / "reproduce" / "unieval_predict" / f"{name}_result.json", items)
    return folder


def test_unievals_predictions_are_read_from_what_is_converted(
    unieval: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    convert("unieval", unieval, data)
    out = StringIO()

    call_command("reproduce", "unieval", "--data", str(data), stdout=out)

    lines = out.getvalue().splitlines()
    spearman = [line for line in lines if " spearman " in line]
    assert len(spearman) == 14
    assert all("1.0000000 ✗" in line for line in spearman)  # squares are in the same order
    assert "0 of 42 published figures to six digits." in lines


@pytest.mark.parametrize(
    ("name", "path", "content", "message"),
    [
        ("alttest", "data/summeval/llm_annotations.json", {"x": {"d__s": 1}}, "x has 'd__s'"),
        ("alttest", "data/summeval/llm_annotations.json", [], "holds no object"),
        (
            "unieval",
            "reproduce/unieval_predict/fact/qags_xsum_result.json",
            [{"scores": {}}],
            "item 1 lacks system_output, scores or predict_scores",
        ),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_place_and_nothing_is_written(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, path: str, content: Any, message: str
) -> None:
    checkout = request.getfixturevalue(name)
    write(checkout / path, content)

    with pytest.raises(CommandError) as refused:
        convert(name, checkout, tmp_path / "data")

    assert path.rsplit("/", 1)[1] in str(refused.value)
    assert message in str(refused.value)
    assert not (tmp_path / "data").exists()


def test_a_pointer_of_git_lfs_is_recognised(bartscore: Path, tmp_path: Path) -> None:
    path = bartscore / "SUM" / "SummEval" / "final_p.pkl"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")

    with pytest.raises(CommandError, match="pointer of Git LFS; run `git lfs pull`"):
        convert("bartscore", bartscore, tmp_path / "data")
