"""Arrow weighs 80 MB, so Parquet is read where the extra `parquet` is installed."""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from geval.files.apart import process
from geval.files.preview import preview_file
from geval.files.readers import FileDefaults, InputFile, read_rows
from geval.files.rows import FileErrors
from tests.hostile_files import one_text_for_all_rows


@pytest.fixture
def parquet_file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.parquet"
    path.write_bytes(one_text_for_all_rows(rows=2, characters=10))
    return path


@pytest.fixture
def without_arrow(parquet_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.usefixtures("without_arrow")
def test_the_preview_of_a_parquet_file_says_what_to_install(parquet_file: Path) -> None:
    preview = preview_file(parquet_file, parquet_file.name)

    assert preview.columns == ()
    assert "pip install 'geval-site[parquet]'" in preview.error
    assert "as CSV or JSON Lines" in preview.error


@pytest.fixture
def memory_limit_put_back() -> Iterator[None]:
    """What reads files limits its process, which here goes on with other tests."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("without_arrow", "memory_limit_put_back")
def test_loading_a_parquet_file_says_what_to_install(parquet_file: Path) -> None:
    errors = FileErrors()

    process._import_for(parquet_file)
    rows = list(
        read_rows(InputFile(parquet_file, parquet_file.name), errors, defaults=FileDefaults("j"))
    )

    assert rows == []
    (error,) = errors.listed
    assert error.message.startswith("is a Parquet or Arrow file")
    assert "pip install 'geval-site[parquet]'" in error.message
    assert error.message.endswith("as CSV or JSON Lines")
