"""Files of other tools, read without a database."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import CandidateOutput, Project, Score
from geval.files.readers import InputFile, read_rows
from geval.files.rows import (
    FileDefaults,
    FileErrors,
    JudgeScoreRow,
    OutputRow,
    RatingRow,
    Row,
)

ASKED, ANSWERED = "When does the ferry leave?", "It leaves at 08:10."
FIXTURES = Path(__file__).resolve().parents[2] / "data" / "tools"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def records_in(name: str) -> list[dict[str, Any]]:
    """The records of a fixture: of its lines, or of its list."""
    text = fixture(name)
    return json.loads(text) if text[0] == "[" else [json.loads(line) for line in text.splitlines()]


def read(path: Path, *beside: Path) -> tuple[list[Row], FileErrors]:
    errors = FileErrors()
    file = InputFile(path, path.name, beside=beside)
    return list(read_rows(file, errors, defaults=FileDefaults("judge", system="file"))), errors


def read_records(folder: Path, records: Iterable[Any]) -> tuple[list[Row], FileErrors]:
    """What these records give as JSON Lines."""
    path = folder / "file.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    return read(path)


def assert_refused(folder: Path, good: Any, broken: Any, column: str, reason: str) -> None:
    """The second of two records is refused for a reason, at its line and a column; the first is
    read."""
    rows, errors = read_records(folder, [good, broken])

    assert [(error.line, error.column) for error in errors.listed] == [(2, column)]
    assert reason in errors.listed[0].message
    assert len(outputs(rows)) == 1


def outputs(rows: Iterable[Row]) -> list[tuple[str | None, str, str, str]]:
    return [
        (row.doc_id, row.system_id, row.source, row.output)
        for row in rows
        if isinstance(row, OutputRow)
    ]


def ratings(rows: Iterable[Row]) -> set[tuple[str, str, float]]:
    """Criterion, person and score."""
    return {(r.criterion, r.rater, r.score) for r in rows if isinstance(r, RatingRow)}


def scores(rows: Iterable[Row]) -> set[tuple[str, str, float]]:
    """Criterion, judge and score."""
    return {(r.criterion, r.rater, r.score) for r in rows if isinstance(r, JudgeScoreRow)}


def unused(errors: FileErrors) -> set[str]:
    return {column for _, column in errors.unused.rows}


def with_part(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a record with another value at `outer.0.inner`."""
    copy = json.loads(json.dumps(record))
    *outer, last = path.split(".")
    at: Any = copy
    for name in outer:
        at = at[int(name)] if isinstance(at, list) else at[name]
    at[int(last) if isinstance(at, list) else last] = value
    return copy


def stored_outputs(project: Project) -> list[tuple[str, str, str]]:
    """System, source and output of each output."""
    rows = CandidateOutput.objects.filter(document__project=project).order_by("pk")
    return list(rows.values_list("system__name", "document__source", "text"))


def stored_ratings(project: Project) -> set[tuple[str, str, float, str]]:
    """Criterion, person, score, and the output that was rated."""
    rows = Rating.objects.filter(criterion__project=project)
    return set(rows.values_list("criterion__name", "annotator__name", "score", "output__text"))


def stored_scores(project: Project) -> set[tuple[str, str, float, str]]:
    """Criterion, judge, score, and the output."""
    rows = Score.objects.filter(run__project=project)
    return set(rows.values_list("criterion__name", "run__judge__name", "value", "output__text"))


def load_fixture(load: Callable[..., LoadResult], project: Project, *names: str) -> LoadResult:
    return load(project, {name: fixture(name) for name in names})
