"""Documents that are turns of one session are taken together, whichever rows say so."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project
from evaluations.reports.data import options_of
from evaluations.reports.report import build_report
from geval.command_line import main
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.standin.planted import as_csv
from tests.measuring.conftest import written
from tests.measuring.test_measuring import Frame, PandasLike
from tests.reports.test_sessions import conversations
from tests.workbooks import xlsx

Records = list[dict[str, Any]]
NAMED = {"human": ["ann", "bob"], "judge": ["near", "far"], "document": "doc", "system": "system"}


@pytest.fixture
def turns() -> Records:
    """A row for each output, with columns for people and judges; turns of 20 sessions are not
    beside each other, and one document is of none."""
    rng = np.random.default_rng(3)
    return [
        {
            "doc": f"d{document}", "system": f"s{system}", "ann": round(3 + quality),
            "bob": round(3 + quality + rng.normal()), "near": round(quality + rng.normal(), 3),
            "far": round(rng.normal(), 3),
            **({"session_id": document % 20} if document else {}),
        }
        for document in range(60) for system in range(3) for quality in [rng.normal()]
    ]  # fmt: skip


def in_long(turns: Records, whose: str, *names: str) -> Records:
    """The same as a row for each rating or score."""
    return [
        {"doc_id": row["doc"], "system_id": row["system"], "criterion": "quality", whose: name,
         "score": row[name], "session_id": row.get("session_id", "")}
        for row in turns for name in names
    ]  # fmt: skip


def csv_of(records: Records, **names: str) -> str:
    columns = list(records[1])
    header = ",".join(names.get(name, name) for name in columns)
    return as_csv(header, [tuple(row.get(name, "") for name in columns) for row in records])


def with_gaps(turns: Records) -> Records:
    """As pandas has a column of whole numbers where one is missing."""
    return [row | {"session_id": float(row.get("session_id", math.nan))} for row in turns]


FORMS: dict[str, Callable[[Records, Path], geval.Measurement]] = {
    "frame of pandas": lambda turns, _: geval.measure(PandasLike(with_gaps(turns)), **NAMED),
    "frame of polars": lambda turns, _: geval.measure(Frame(turns), **NAMED),
    "xlsx": lambda turns, folder: geval.measure(folder / "turns.xlsx", **NAMED),
    "long CSV": lambda turns, folder: geval.measure(
        written(folder, {"r.csv": csv_of(in_long(turns, "annotator", "ann", "bob")),
                         "s.csv": csv_of(in_long(turns, "judge", "near", "far"))})
    ),
    "long CSV with other names": lambda turns, folder: geval.measure(
        written(folder, {
            "r.csv": csv_of(in_long(turns, "rater", "ann", "bob"), session_id="Session ID",
                            doc_id="Document ID"),
            "s.csv": csv_of(in_long(turns, "metric", "near", "far"), session_id="Session ID"),
        })
    ),
    "long JSON Lines": lambda turns, folder: geval.measure(
        written(folder, {"r.jsonl": "\n".join(map(json.dumps, [
            *in_long(turns, "annotator", "ann", "bob"), *in_long(turns, "judge", "near", "far")
        ]))})
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_outputs_say_of_which_session_they_are(
    turns: Records, tmp_path: Path, form: str
) -> None:
    columns = list(turns[-1])
    rows = [[row.get(name) for name in columns] for row in turns]
    (tmp_path / "turns.xlsx").write_bytes(xlsx({"Turns": [columns, *rows]}))

    measured = FORMS[form](turns, tmp_path)

    assert (measured.report.sessions, measured.report.turns) == (20, 59)
    assert "59 documents are turns of 20 sessions." in str(measured)
    with_texts = [row | {"source": "Go on.", "output": "Yes."} for row in turns]
    assert measured.criteria[0].interval == geval.measure(with_texts, **NAMED).criteria[0].interval


def test_ratings_and_outputs_say_the_same_sessions_or_outputs_say_none(
    turns: Records, tmp_path: Path
) -> None:
    outputs = [
        {"doc_id": row["doc"], "system_id": row["system"], "source": "Q?", "output": "A.",
         "session_id": row.get("session_id", "")}
        for row in turns
    ]  # fmt: skip
    beside = {
        "r.csv": csv_of(in_long(turns, "annotator", "ann", "bob")),
        "s.csv": csv_of(in_long(turns, "judge", "near", "far")),
    }

    def measured(*, of_first_session: str | None = None) -> geval.Measurement:
        stated = [
            row | ({"session_id": of_first_session} if row["session_id"] == 1 else {})
            for row in outputs
        ]
        return geval.measure(written(tmp_path, {"o.csv": csv_of(stated)} | beside))

    assert measured(of_first_session="1").report.sessions == 20
    for other, shown in (("t", "t"), ("", "no session")):
        with pytest.raises(
            geval.InputError, match=f"Document d1 is a turn of 1 beside .*, and of {shown} beside"
        ):
            measured(of_first_session=other)
    for row in outputs:
        del row["session_id"]
    bare = written(tmp_path, {"o.csv": csv_of(outputs)} | beside)
    assert geval.measure(bare).report.sessions == 20


def test_a_document_of_two_sessions_is_an_error(turns: Records) -> None:
    turns[4]["session_id"] = "other"

    with pytest.raises(geval.InputError, match="Line 5: document d1 is a turn of other, and of 1"):
        geval.measure(turns, **NAMED)


@pytest.mark.django_db
def test_a_conversation_file_has_the_numbers_of_the_site(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, conversations(np.random.default_rng(1)))
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    main(["check", *map(str, files), "--level", "summary", "--json"])

    shown = json.loads(capsys.readouterr().out)
    assert shown | {"project": project.slug} == site
    assert shown["sessions"] == {"sessions": 14, "turns": 84}
    assert geval.measure(files).report.options.level == "summary"
    main(["check", *map(str, files), "--level", "session", "--json"])
    assert json.loads(capsys.readouterr().out)["criteria"] != shown["criteria"]


@pytest.mark.django_db
def test_without_sessions_there_is_no_session_level(project: Project) -> None:
    rows = [
        {"doc": d, "system": s, "ann": 1 + (d * s) % 5, "bob": 1 + (d + s) % 5, "gpt": 1 + s}
        for d in range(10)
        for s in range(4)
    ]

    with pytest.raises(geval.InputError, match="session_id"):
        geval.measure(rows, human=["ann", "bob"], judge="gpt", document="doc", level="session")
    _options, errors = options_of({"level": "session"}, project)
    assert "no session level" in " ".join(errors)
