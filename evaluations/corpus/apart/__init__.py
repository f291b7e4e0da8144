"""Files are read in processes apart, with limits on memory and time: a file may be made to harm its
reader."""

from evaluations.corpus.apart.reading import preview_apart, read_apart

__all__ = ["preview_apart", "read_apart"]
