"""Whatever bytes a file holds, the readers give rows and errors and never fall over; what was
written is read back."""

import csv
import io
from pathlib import Path

import orjson
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geval.files.readers import InputFile, read_rows
from geval.files.rows import FileDefaults, FileErrors, OutputRow, RatingRow
from geval.statistics.scales import FARTHEST
from geval.texts.spelling import as_name
from geval.texts.spreadsheets import unguarded

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=80)
NAME = TEXT.map(str.strip).filter(bool)
ANY_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder: Path, content: bytes) -> tuple[list[object], FileErrors]:
    path = folder / "file"
    path.write_bytes(content)
    errors = FileErrors()
    return list(read_rows(InputFile(path, "file"), errors, defaults=FileDefaults("judge"))), errors


def as_stored(name: str) -> str:
    """A name without invisible characters, and without an apostrophe before a formula."""
    return unguarded(as_name(name))


@ANY_FOLDER
@example(content=b'"')
@given(
    content=st.binary(max_size=300)
    | TEXT.map(str.encode)
    | TEXT.map(lambda text: f'[{{"a": {text}'.encode())
)
def test_any_bytes_give_rows_or_errors(tmp_path: Path, content: bytes) -> None:
    rows, errors = read(tmp_path, content)

    assert rows or errors.total or content.strip()


@ANY_FOLDER
@given(st.lists(st.tuples(NAME, NAME, NAME, TEXT, TEXT), min_size=1, max_size=5))
def test_outputs_written_as_jsonl_are_read_back(
    tmp_path: Path, rows: list[tuple[str, str, str, str, str]]
) -> None:
    keys = ("doc_id", "system_id", "source", "context", "output")
    content = b"\n".join(orjson.dumps(dict(zip(keys, row, strict=True))) for row in rows)

    found, errors = read(tmp_path, content)

    assert errors.total == 0
    assert [
        (row.doc_id, row.system_id, row.source, row.context, row.output)
        for row in found
        if isinstance(row, OutputRow)
    ] == [(as_stored(doc_id), as_stored(system), *texts) for doc_id, system, *texts in rows]


@ANY_FOLDER
@given(
    st.lists(
        st.tuples(NAME, NAME, NAME, NAME, st.floats(-FARTHEST, FARTHEST)), min_size=1, max_size=5
    )
)
def test_ratings_written_as_csv_are_read_back(
    tmp_path: Path, rows: list[tuple[str, str, str, str, float]]
) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["doc_id", "system_id", "criterion", "annotator", "score"])
    writer.writerows([*names, repr(score)] for *names, score in rows)

    found, errors = read(tmp_path, out.getvalue().encode())

    assert errors.total == 0
    assert [
        (row.doc_id, row.system_id, row.criterion, row.rater, row.score)
        for row in found
        if isinstance(row, RatingRow)
    ] == [(*map(as_stored, names), score) for *names, score in rows]
