"""Datasets of Hugging Face on disk load as folders, and as zips of them."""

import io
import json
import zipfile
from pathlib import Path

import pyarrow
import pytest
from django.core.management import call_command
from pyarrow import ipc, parquet

from evaluations.models import CandidateOutput
from tests.corpus.tools.reading import outputs, read

ROWS = {
    "doc_id": ["a", "a", "b"],
    "system_id": ["good", "odd", "good"],
    "source": ["When?", "When?", "Where?"],
    "output": ["At 8.", "Soon.", "Here."],
}
EXPECTED = list(zip(*(ROWS[name] for name in ROWS), strict=True))


def write_stream(path: Path, table: pyarrow.Table) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """What `save_to_disk` writes of a dataset with one split."""
    folder = tmp_path / "saved"
    split = folder / "train"
    split.mkdir(parents=True)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
    (split / "dataset_info.json").write_text(json.dumps({"features": {}}))
    files = [{"filename": "data-00000-of-00001.arrow"}]
    (split / "state.json").write_text(json.dumps({"_data_files": files, "_split": "train"}))
    write_stream(split / "data-00000-of-00001.arrow", pyarrow.table(ROWS))
    write_stream(split / "cache-1.arrow", pyarrow.table({"x": [1]}))
    return folder


@pytest.mark.django_db
def test_a_folder_that_was_saved_to_disk(dataset: Path) -> None:
    call_command("load", "saved", str(dataset), stdout=io.StringIO())

    rows = CandidateOutput.objects.order_by("pk")
    names = ("document__doc_id", "system__name", "document__source", "text")
    assert list(rows.values_list(*names)) == EXPECTED


def test_an_arrow_file_of_either_format(tmp_path: Path) -> None:
    table = pyarrow.table(ROWS)
    with ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)

    assert outputs(read(tmp_path / "rows.arrow")[0]) == EXPECTED


def test_a_zip_of_a_dataset_is_refused(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table(ROWS), tmp_path / "0.parquet")
    with zipfile.ZipFile(tmp_path / "dataset.zip", "w") as archive:
        archive.write(tmp_path / "0.parquet", "data/train-0.parquet")
        archive.writestr("README.md", "# Card")

    rows, errors = read(tmp_path / "dataset.zip")

    assert rows == []
    assert "upload the files separately" in errors.listed[0].message


@pytest.mark.parametrize("cut", [20, 200, 500])
def test_a_damaged_arrow_file_is_an_error(tmp_path: Path, dataset: Path, cut: int) -> None:
    content = (dataset / "train" / "data-00000-of-00001.arrow").read_bytes()
    path = tmp_path / "broken.arrow"
    path.write_bytes(content[:cut] + bytes(8) + content[cut + 8 :])

    rows, errors = read(path)

    assert errors.total or len(rows) <= len(EXPECTED)
    assert all("cannot be read" in one.message or one.column for one in errors.listed)
