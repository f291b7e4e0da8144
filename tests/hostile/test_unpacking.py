"""No importer writes or unpacks more than the site's limit, however small the file is; and what a
reader writes is in a folder of its own, which goes with it."""

import gzip
import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

from geval.files.apart import read_apart
from geval.files.limits import FileLimits
from geval.files.preview import preview_file
from geval.files.readers import InputFile, read_rows
from geval.files.rows import FileDefaults, FileErrors
from tests.conftest import wait_until
from tests.hostile.table import record
from tests.hostile_files import one_text_for_all_rows, written

LIMIT = 8 * 2**20
TEXT = "x" * 2**20
ROWS = [
    {"doc_id": f"d{number}", "system_id": "s", "source": TEXT, "output": "T"}
    for number in range(64)
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def arrow() -> bytes:
    out, table = io.BytesIO(), pa.table(COLUMNS)
    with ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def lines() -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)


def table() -> bytes:
    cells = "".join(f"{','.join(row.values())}\n" for row in ROWS)
    return f"{','.join(ROWS[0])}\n{cells}".encode()


PLAIN_PARQUET = {"compression": "none", "use_dictionary": False}
FILES: dict[str, Callable[[], bytes]] = {
    "lines.jsonl.gz": lambda: gzip.compress(lines()),
    "lines.zip": lambda: zipped({"lines.jsonl": lines()}),
    "table.csv.gz": lambda: gzip.compress(table()),
    "table.csv.zip": lambda: zipped({"table.csv": table()}),
    "list.json.gz": lambda: gzip.compress(json.dumps(ROWS).encode()),
    "rows.parquet": lambda: written(pa.table(COLUMNS), compression="zstd"),
    "texts.parquet": lambda: one_text_for_all_rows(64, 2**20),
    "rows.parquet.gz": lambda: gzip.compress(written(pa.table(COLUMNS), **PLAIN_PARQUET)),
    "rows.parquet.zip": lambda: zipped(
        {"rows.parquet": written(pa.table(COLUMNS), **PLAIN_PARQUET)}
    ),
    "rows.arrow": arrow,
    "rows.arrow.zip": lambda: zipped({"data-0.arrow": arrow()}),
    "log.eval": lambda: zipped(
        {"header.json": b"{}"}
        | {f"samples/{number}.json": json.dumps(row).encode() for number, row in enumerate(ROWS)}
    ),
}


class Written:
    """Counts what is written to temporary files."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make, self.bytes = make, 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        file = self.make(*arguments, **options)
        write = file.write

        def counted(content: bytes) -> Any:
            self.bytes += len(content)
            return write(content)

        file.write = counted
        return file


@pytest.fixture
def limit(settings: Any) -> int:
    settings.FILE_LIMITS = FileLimits(unpacked_bytes=LIMIT, json_bytes=LIMIT, field_bytes=4 * 2**20)
    return LIMIT


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_unpacks_to_more_is_refused_and_fills_no_disk(
    name: str, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    files = Written(tempfile.TemporaryFile)
    monkeypatch.setattr(tempfile, "TemporaryFile", files)

    preview_file(path, name)
    errors = FileErrors()
    rows = read_rows(InputFile(path, name), errors, defaults=FileDefaults("judge"))
    characters = sum(len(getattr(row, "source", "")) for row in rows)

    ends = Counter({"refused" if errors.total else "lost": 1})
    record(f"unpacking {name}", ends)
    assert any("MB" in error for error in map(str, errors.listed)), errors.listed
    # A preview and reading may each unpack it once.
    assert files.bytes <= 2 * limit
    assert characters <= limit


def is_limited_reader(process: Path) -> bool:
    """Whether a folder of /proc is that of a process that reads a file with the limit."""
    with suppress(OSError):
        limits = (process / "limits").read_text()
        is_reader = b"geval.files.apart" in (process / "cmdline").read_bytes()
        return is_reader and f"Max file size             {LIMIT} " in limits
    return False


@pytest.mark.usefixtures("limit")
def test_a_reader_has_its_own_folder_and_no_file_of_it_can_outgrow_the_limit(
    tmp_path: Path, settings: Any
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    settings.FILE_LIMITS = replace(settings.FILE_LIMITS, folder=str(temporary))
    path = tmp_path / "rows.jsonl"
    row = b'{"doc_id": "d", "system_id": "s", "source": "x", "output": "y"}\n'
    # Long enough that both readers are still at work.
    path.write_bytes(row * 400_000)
    readings = [
        read_apart(InputFile(path, name), FileErrors(), defaults=FileDefaults("judge"))
        for name in ("a", "b")
    ]
    for rows in readings:
        next(rows)

    folders = list(temporary.iterdir())
    readers = [process for process in Path("/proc").glob("[0-9]*") if is_limited_reader(process)]
    modes = {folder.stat().st_mode & 0o777 for folder in folders}
    for rows in readings:
        rows.close()

    assert (len(folders), len(readers), modes) == (2, 2, {0o700})
    wait_until(lambda: not list(temporary.iterdir()))
