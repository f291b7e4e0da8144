"""Read users' files in separate processes with limits, because a file can attack its reader."""

from geval.files.apart.reading import (
    ReadingError,
    first_records,
    preview_apart,
    read_apart,
    records_apart,
    zip_apart,
)

__all__ = [
    "ReadingError",
    "first_records",
    "preview_apart",
    "read_apart",
    "records_apart",
    "zip_apart",
]
