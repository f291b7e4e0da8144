"""A dataset of Hugging Face: tables of outputs, ratings, scores and preferences, and a card.
Parquet, or JSON Lines where Arrow is not installed. `load` reads the folder again, or any folder
with tables in Parquet.
"""

import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any

import orjson

from geval.files.opening import is_of_file_manager
from geval.texts.program import command

STATE_FILE, SPLITS_FILE = "state.json", "dataset_dict.json"
ENDINGS = (".parquet", ".jsonl", ".arrow")
CACHE_PREFIX = "cache-"
# Our datasets also contain records of campaigns, which an upload cannot restore.
NOT_LOADED = "campaign-"
# Rows have texts of any length, and a batch is in memory as Python objects and as Arrow.
BATCH = 500
CARD = "README.md"
# Size categories of dataset cards.
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "n>1M"
TABLES = {
    "outputs": "Each system's output for a document, with the document's texts.",
    "ratings": "People's ratings of outputs on criteria.",
    "scores": "The newest score of each judge.",
    "preferences": "People's choices between two outputs of a document.",
    "answers": "People's answers in campaigns: comments, flags, skips, times, checks, history.",
    "decisions": "Decisions of adjudicators where people differed.",
}
# Types of the record's columns other than texts; nested values are JSON.
_TYPES = {
    "item": "int64", "version": "int64", "seconds": "float64", "flagged": "bool_",
    "scores_in_sight": "bool_", "passed": "bool_",
    "guidelines_version": "int64",
}  # fmt: skip
RECORDS = ("answers", "decisions")
# By the names that cards of datasets use.
LICENCES = {
    "cc0-1.0": "CC0 1.0: no conditions",
    "cc-by-4.0": "CC BY 4.0: name the authors",
    "cc-by-sa-4.0": "CC BY-SA 4.0: name the authors, and share alike",
    "cc-by-nc-4.0": "CC BY-NC 4.0: name the authors, not for commerce",
    "odc-by": "ODC-BY: name the authors of the database",
    "other": "another one, which you add to the card",
}
Rows = Iterable[Mapping[str, Any]]
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Dataset:
    """The content of a project's dataset.

    Args:
        tables: functions that read the rows of each of TABLES.
        columns: the columns of RECORDS, whose rows may have nested values.
        metadata: the names in the metadata of documents.
        criteria: the name of each, the ends of its scale, and its definition.
        languages: their codes.
        sections: the lines of further sections of the card, by title.
        version: the version of the software that writes it.
        licence: one of LICENCES; empty for none.
    """

    name: str
    description: str
    tables: Mapping[str, Callable[[], Rows]]
    columns: Mapping[str, Sequence[str]]
    metadata: Sequence[str]
    criteria: Sequence[tuple[str, float, float, str]]
    languages: Sequence[str]
    sections: Mapping[str, Sequence[str]]
    version: str
    licence: str = ""


def write_folder(dataset: Dataset, folder: Path) -> dict[str, int]:
    """Write a dataset into a folder; return the number of rows of each non-empty table.

    Raises:
        FileExistsError: the folder is not empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    with_arrow = find_spec("pyarrow") is not None
    counts, files = {}, {}
    for name, read in dataset.tables.items():
        rows = _as_texts(read()) if name in RECORDS else read()
        stem = f"{NOT_LOADED}{name}" if name in RECORDS else name
        path = folder / f"{stem}.{'parquet' if with_arrow else 'jsonl'}"
        write = _write_parquet if with_arrow else _write_lines
        if count := write(path, rows, _schema(dataset, name) if with_arrow else None):
            counts[name], files[name] = count, path.name
        else:
            path.unlink()
    (folder / CARD).write_text(card_of(dataset, counts, files), encoding="utf-8")
    return counts


def write_zip(dataset: Dataset, target: IO[bytes]) -> None:
    """Write the same folder as a zip."""
    with (
        tempfile.TemporaryDirectory(prefix="geval-dataset-") as folder,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        write_folder(dataset, Path(folder))
        for path in sorted(Path(folder).iterdir()):
            archive.write(path, path.name)


def _as_texts(rows: Rows) -> Iterator[dict[str, Any]]:
    """Return rows with nested values as JSON texts, as their parts differ by task; times are texts
    as well."""
    for row in rows:
        yield {
            name: value
            if value is None or isinstance(value, str | int | float)
            else value.isoformat()
            if isinstance(value, datetime)
            else orjson.dumps(value).decode()
            for name, value in row.items()
        }


def _schema(dataset: Dataset, name: str) -> Any:
    """Return the columns of a table; None if every row shows them."""
    if name not in ("outputs", *RECORDS):
        return None
    import pyarrow as pa

    if name in RECORDS:
        # Arrow could not infer the type of a column whose first values are empty.
        return pa.schema(
            [
                (column, getattr(pa, _TYPES.get(column, "string"))())
                for column in dataset.columns[name]
            ]
        )
    call = pa.struct([(part, pa.string()) for part in ("name", "arguments", "result", "id")])
    turn = pa.struct(
        [
            *((part, pa.string()) for part in ("role", "text", "name", "time")),
            ("tool_calls", pa.list_(call)),
            ("attachments", pa.list_(pa.string())),
        ]
    )
    texts = ("doc_id", "system_id", "source", "output", "context", "session_id", "rate")
    return pa.schema(
        [
            *((part, pa.string()) for part in texts),
            ("references", pa.list_(pa.string())),
            ("turns", pa.list_(turn)),
            *((f"metadata.{part}", pa.string()) for part in dataset.metadata),
        ]
    )


def _write_parquet(path: Path, rows: Rows, schema: Any) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    count, writer, left = 0, None, iter(rows)
    try:
        while batch := list(islice(left, BATCH)):
            table = pa.Table.from_pylist(batch, schema=writer.schema if writer else schema)
            if writer is None:
                table = table.cast(_with_types(table.schema))
                writer = parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
            count += len(batch)
    finally:
        if writer is None:
            path.touch()
        else:
            writer.close()
    return count


def _with_types(schema: Any) -> Any:
    """Return an inferred schema in which columns without a value so far have their type."""
    import pyarrow as pa

    for index, field in enumerate(schema):
        if pa.types.is_null(field.type) and field.name in _TYPES:
            schema = schema.set(index, field.with_type(getattr(pa, _TYPES[field.name])()))
    return schema


def _write_lines(path: Path, rows: Rows, _schema: Any) -> int:
    count = 0
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count


def card_of(
    dataset: Dataset, counts: Mapping[str, int] = NOTHING, files: Mapping[str, str] = NOTHING
) -> str:
    """Return the card: metadata for programs as YAML, then text for people.

    Args:
        counts, files: the number of rows, and the file, of each table; without any, as a preview.
    """
    outputs = counts.get("outputs", 0)
    size = next((name for most, name in SIZES if outputs < most), LARGEST)
    lines = [dataset.description, ""] if dataset.description else []
    header = [
        "---",
        f"pretty_name: {orjson.dumps(dataset.name).decode()}",
        *([f"license: {dataset.licence}"] if dataset.licence else []),
        *(["language:", *(f"- {code}" for code in dataset.languages)] if dataset.languages else []),
        "tags:",
        "- evaluation",
        "- human-ratings",
        *([f"size_categories:\n- {size}", "configs:"] if files else []),
    ]
    for name, file in files.items():
        default = "\n  default: true" if name == "outputs" else ""
        header.append(
            f"- config_name: {name}{default}\n  data_files:\n  - split: train\n    path: {file}"
        )
    tables = [
        f"- `{files[name]}` ({count:,} rows): {TABLES[name]}" for name, count in counts.items()
    ]
    criteria = [
        f"- **{name}** ({lowest:g} to {highest:g}): {' '.join(definition.split())}"
        for name, lowest, highest, definition in dataset.criteria
    ]
    return "\n".join(
        [
            *header,
            "---",
            "",
            f"# {dataset.name}",
            "",
            *lines,
            *(["## Tables", "", *tables, ""] if tables else []),
            *(["## Criteria", "", *criteria, ""] if criteria else []),
            *(
                line
                for title, own in dataset.sections.items()
                for line in (f"## {title}", "", *own, "")
            ),
            f"Written by geval_site {dataset.version}. To load it again: `{command('load')} PROJECT"
            " FOLDER`.",
            "",
        ]
    )


class FolderError(ValueError):
    """Nothing in a folder can be loaded; the message says what was expected."""


def files_in(folder: Path) -> list[Path]:
    """Return the files with the rows of a dataset: as written by `save_to_disk`, or with the same
    extension.

    Raises:
        FolderError: there are none, or a file that the dataset names is missing.
    """
    if (folder / SPLITS_FILE).is_file():
        splits = _read_json(folder / SPLITS_FILE).get("splits")
        if not isinstance(splits, list) or not splits:
            raise FolderError(f"{folder / SPLITS_FILE} names no splits.")
        return [path for split in splits for path in files_in(folder / str(split))]
    if (folder / STATE_FILE).is_file():
        listed = _read_json(folder / STATE_FILE).get("_data_files")
        files = listed if isinstance(listed, list) else []
        names = [file.get("filename") for file in files if isinstance(file, dict)]
        paths = [folder / name for name in names if isinstance(name, str)]
        if missing := [path for path in paths if not path.is_file()]:
            raise FolderError(f"{missing[0]} is missing, which {folder / STATE_FILE} names.")
        if paths:
            return paths
    for ending in ENDINGS:
        alike = sorted(folder.rglob(f"*{ending}"))
        if usable := [
            path
            for path in alike
            if not (path.name.startswith((CACHE_PREFIX, NOT_LOADED)) or is_of_file_manager(path))
        ]:
            return usable
    raise FolderError(
        f"{folder} holds no dataset: expected {STATE_FILE} with Arrow files (save_to_disk), or"
        f" files {', '.join(f'*{ending}' for ending in ENDINGS)}."
    )


def _read_json(path: Path) -> dict[str, object]:
    try:
        content = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise FolderError(f"{path} cannot be read ({error}).") from None
    if not isinstance(content, dict):
        raise FolderError(f"{path} is not a JSON object.")
    return content
