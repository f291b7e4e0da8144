"""Folders that are loaded as a whole: datasets of Hugging Face on disk, and tables in Parquet."""

from pathlib import Path

import orjson

STATE, SPLITS = "state.json", "dataset_dict.json"
ENDINGS = (".parquet", ".jsonl", ".arrow")
CACHED = "cache-"
# Our datasets also contain records of campaigns, which an upload cannot restore.
NOT_LOADED = "campaign-"


class FolderError(ValueError):
    """Nothing in a folder can be loaded; the message says what was expected."""


def files_in(folder: Path) -> list[Path]:
    """Return the files with the rows of a dataset: as written by `save_to_disk`, or with the same
    extension.

    Raises:
        FolderError: there are none, or a file that the dataset names is missing.
    """
    if (folder / SPLITS).is_file():
        splits = _json(folder / SPLITS).get("splits")
        if not isinstance(splits, list) or not splits:
            raise FolderError(f"{folder / SPLITS} names no splits.")
        return [path for split in splits for path in files_in(folder / str(split))]
    if (folder / STATE).is_file():
        listed = _json(folder / STATE).get("_data_files")
        files = listed if isinstance(listed, list) else []
        names = [file.get("filename") for file in files if isinstance(file, dict)]
        paths = [folder / name for name in names if isinstance(name, str)]
        if missing := [path for path in paths if not path.is_file()]:
            raise FolderError(f"{missing[0]} is missing, which {folder / STATE} names.")
        if paths:
            return paths
    for ending in ENDINGS:
        found = sorted(folder.rglob(f"*{ending}"))
        if usable := [path for path in found if not path.name.startswith((CACHED, NOT_LOADED))]:
            return usable
    raise FolderError(
        f"{folder} holds no dataset: expected {STATE} with Arrow files (save_to_disk), or files"
        f" {', '.join(f'*{ending}' for ending in ENDINGS)}."
    )


def _json(path: Path) -> dict[str, object]:
    try:
        content = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise FolderError(f"{path} cannot be read ({error}).") from None
    if not isinstance(content, dict):
        raise FolderError(f"{path} is not a JSON object.")
    return content
