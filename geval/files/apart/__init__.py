"""Read users' files in separate processes with limits, because a file can attack its reader."""

from geval.files.apart.reading import ReadingError as ReadingError
from geval.files.apart.reading import column_names_apart as column_names_apart
from geval.files.apart.reading import columns_apart as columns_apart
from geval.files.apart.reading import preview_apart as preview_apart
from geval.files.apart.reading import read_apart as read_apart
from geval.files.apart.reading import records_apart as records_apart
from geval.files.apart.reading import zip_apart as zip_apart
