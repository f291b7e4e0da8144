"""Files that are made to take gigabytes or minutes are refused with a reason, and harm nobody but
their own reader."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluations.corpus.uploads import loading
from evaluations.models import CandidateOutput, Project, Upload, UploadState
from geval.files.apart import preview_apart, read_apart, reading
from geval.files.limits import FileLimits
from geval.files.packed import Counter
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults, FileErrors, OutputRow, Row
from tests.conftest import OUTPUTS
from tests.hostile_files import (
    broken_gzip,
    deep_json,
    gzipped,
    long_lines_in_gzip,
    long_list,
    long_number,
    one_text_for_all_rows,
    wide_csv,
    wide_jsonl,
    wide_parquet,
    zeros_in_gzip,
)

GOOD = OUTPUTS.encode() + b"\n"


def read(path: Path) -> tuple[list[Row], FileErrors]:
    errors = FileErrors()
    return list(
        read_apart(InputFile(path, path.name), errors, defaults=FileDefaults("judge"))
    ), errors


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "list.parquet",
            partial(long_list, 1100),
            "has 1,100 values in column output.list.element; the limit is 1,000",
        ),
        ("text.parquet", partial(one_text_for_all_rows, 100, 10**6), "unpacks to more than 100 MB"),
        ("wide.csv", wide_csv, "has 50,000 columns; the limit is 1,000"),
        ("wide.jsonl", wide_jsonl, "has 50,000 columns"),
        ("wide.parquet", partial(wide_parquet, 1001), "has 1,001 columns"),
        ("zeros.gz", partial(zeros_in_gzip, 10**7), "has a line of more than 4 MB"),
        ("deep.json", deep_json, "nested too deeply"),
        ("number.json", long_number, "not JSON"),
        ("broken.gz", broken_gzip, "the compressed data is damaged"),
    ],
)
def test_a_hostile_file_is_refused_with_its_reason(
    tmp_path: Path, settings: Any, name: str, content: Callable[[], bytes], said: str
) -> None:
    settings.FILE_LIMITS = FileLimits(rows=1000, field_bytes=2**20, unpacked_bytes=100 * 2**20)
    path = tmp_path / name
    path.write_bytes(content())

    preview, (rows, errors) = preview_apart(path, name), read(path)

    assert said in preview.error
    assert [said in str(error) for error in errors.listed] == [True]
    assert not rows


def test_what_takes_too_much_memory_is_refused_and_the_next_file_is_read(
    tmp_path: Path, settings: Any
) -> None:
    settings.FILE_LIMITS = FileLimits(reading_bytes=64 * 2**20)
    hostile, good = tmp_path / "list.json.gz", tmp_path / "good.jsonl"
    hostile.write_bytes(gzipped(b"{},\n" * 2**18, 30, before=b"[\n", after=b"{}]"))
    good.write_bytes(GOOD)

    rows, errors = read(hostile)

    message = str(errors.listed[0])
    assert "cannot be read within 64 MB of memory" in message
    assert not rows
    assert len(read(good)[0]) == 6


def test_what_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PREVIEW_SECONDS", 1)
    path = tmp_path / "long.jsonl.gz"
    path.write_bytes(long_lines_in_gzip(rows=20))

    assert "longer to read than 1 s" in preview_apart(path, "long.jsonl.gz").error


def test_a_reader_that_is_killed_is_an_error_of_the_file_and_the_next_one_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "good.jsonl"
    path.write_bytes(GOOD * 2000)
    errors = FileErrors()
    rows = read_apart(InputFile(path, "good.jsonl"), errors, defaults=FileDefaults("judge"))
    next(rows)
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            if "geval.files.apart" in Path(f"/proc/{pid}/cmdline").read_text():
                os.killpg(pid, signal.SIGKILL)

    assert len(list(rows)) < 12_000
    assert "its reader ended unexpectedly" in str(errors.listed[0])
    path.write_bytes(GOOD)
    assert len(read(path)[0]) == 6


def test_a_file_that_is_left_in_the_middle_is_read_from_the_beginning_again(tmp_path: Path) -> None:
    path, counter = tmp_path / "good.jsonl", Counter()
    path.write_bytes(GOOD * 500)
    file = InputFile(path, "good.jsonl", counter=counter)
    rows = read_apart(file, FileErrors(), defaults=FileDefaults("judge"))
    next(rows)

    rows.close()

    assert counter.count == 0
    assert len(list(read_apart(file, FileErrors(), defaults=FileDefaults("judge")))) == 3000
    assert counter.count == path.stat().st_size


def test_texts_that_a_parquet_file_holds_once_come_out_for_every_row(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    path.write_bytes(one_text_for_all_rows(rows=30, characters=10**6))

    rows, errors = read(path)

    assert not errors.total
    assert {(len(row.source), len(row.output)) for row in rows if isinstance(row, OutputRow)} == {
        (10**6, 10**6)
    }
    assert len(rows) == 30


@pytest.mark.django_db
def test_a_small_file_that_unpacks_to_much_waits_for_a_worker(
    owner: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    called: list[int] = []
    monkeypatch.setattr("evaluations.people.waking.send", lambda _task, pk: called.append(pk))
    client = Client()
    client.force_login(owner)
    rows = gzipped(b'{"doc_id": "d", "system_id": "s", "source": "x", "output": "y"}\n' * 1000, 200)
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/p/small/data/upload/", {"files": [SimpleUploadedFile("rows.jsonl.gz", rows)]})

    upload = Upload.objects.get()
    assert len(rows) < loading.AT_ONCE_BYTES
    assert (upload.state, called) == (UploadState.CHECKING, [upload.pk])
    assert not CandidateOutput.objects.exists()
