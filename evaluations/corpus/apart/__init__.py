"""Read uploaded files in separate processes with limits, because a file can attack its reader."""

from evaluations.corpus.apart.reading import preview_apart, read_apart, records_apart

__all__ = ["preview_apart", "read_apart", "records_apart"]
