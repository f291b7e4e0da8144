"""Read rows of Parquet and Arrow files. A few kilobytes of Parquet can decode to gigabytes, so a
file's own statistics are checked first."""

import math
from collections.abc import Iterator
from typing import IO, Any

from geval.files.limits import file_limits, too_many_columns
from geval.files.packed import PackedError, check_unpacked, unpacked_file
from geval.files.rows import EXPECTED, FileErrors

# Rows have texts of any length, and become Python objects.
BATCH_ROWS = 500
# How many bytes of rows are converted to Python objects at a time.
SLICE_BYTES = 8 * 2**20
# The sizes of all chunks are added up before anything is read.
MOST_CHUNKS = 200_000
PARQUET = b"PAR1"
# The file format of Arrow, and its stream format, which Hugging Face uses for datasets on disk.
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
NOT_INSTALLED = (
    "is a Parquet or Arrow file, and this site was installed without what reads them: pip install"
    " 'geval-site[parquet]' where its web processes and workers run, or write the file as CSV or"
    " JSON Lines"
)
LIMITS: dict[str, Any] = {
    "thrift_string_size_limit": 16 * 2**20,
    "thrift_container_size_limit": 2 * 10**6,
    "buffer_size": 2**20,
}


def is_parquet(stream: Any) -> bool:
    """Return whether a stream at its beginning is a Parquet file."""
    return bool(stream.peek(4)[:4] == PARQUET)


def is_arrow(stream: Any) -> bool:
    """Return whether a stream at its beginning is in one of Arrow's formats."""
    return bool(stream.peek(8).startswith(ARROW))


def columnar_records(
    stream: IO[bytes], name: str, errors: FileErrors
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbered rows of a Parquet or Arrow file, which is unpacked first, as its index is at
    the end."""
    load_arrow()
    import pyarrow

    with unpacked_file(stream) as file:
        number = 0
        try:
            for record in _rows(file):
                number += 1
                yield number, record
        except (MemoryError, PackedError):
            raise
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            message = str(error).split("\n")[0][:200]
            errors.add(
                name, 0, "", f"the Parquet or Arrow file cannot be read ({message}); write it again"
            )
            return
    if not number:
        errors.add(name, 0, "", f"the file has no rows; {EXPECTED}")


def load_arrow() -> None:
    """Import Arrow, which is large and optional (the extra `parquet`), as few uploads need it.

    Raises:
        PackedError: it is not installed.
    """
    try:
        from pyarrow import parquet  # noqa: F401
    except ImportError:
        raise PackedError(NOT_INSTALLED) from None


def max_decoded_size(stream: IO[bytes]) -> int:
    """Return the most bytes that a Parquet file's rows can take: each may have the longest possible
    text."""
    from pyarrow import parquet

    with unpacked_file(stream) as file:
        metadata = parquet.ParquetFile(file, **LIMITS).metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        return sum(group.num_rows * group.total_byte_size for group in groups)


def _rows(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    file.seek(0)
    head = file.read(8)
    file.seek(0)
    return _arrow_rows(file, head) if head.startswith(ARROW) else _parquet_rows(file)


def _arrow_rows(file: IO[bytes], head: bytes) -> Iterator[dict[str, Any]]:
    from pyarrow import ipc

    reader = (ipc.open_file if head.startswith(ARROW[0]) else ipc.open_stream)(file)
    if problem := too_many_columns(len(reader.schema)):
        raise PackedError(problem)
    batches = (
        map(reader.get_batch, range(reader.num_record_batches))
        if head.startswith(ARROW[0])
        else iter(reader)
    )
    rows = decoded = 0
    for batch in batches:
        batch.validate(full=True)  # offsets of a damaged file may point anywhere
        rows += batch.num_rows
        if rows > file_limits().rows:
            raise PackedError(
                f"has more than {file_limits().rows:,} rows, which is the limit"
                " (GEVAL_ROW_LIMIT); split it"
            )
        decoded += _decoded_bytes(batch)
        check_unpacked(decoded)
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield from batch.slice(start, BATCH_ROWS).to_pylist()


def _parquet_rows(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    first = parquet.ParquetFile(file, **LIMITS)
    _check_metadata(first.metadata)
    # A text that occurs in a million rows is stored once until its row is read.
    texts = [field.name for field in first.schema_arrow if _is_text(field.type)]
    decoded = 0
    parquet_file = parquet.ParquetFile(file, read_dictionary=texts, **LIMITS)
    for batch in parquet_file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
        size = _decoded_bytes(batch)
        decoded += size
        check_unpacked(decoded)
        rows = (
            max(1, batch.num_rows // math.ceil(size / SLICE_BYTES + 1e-9)) if size else BATCH_ROWS
        )
        for start in range(0, batch.num_rows, rows):
            yield from batch.slice(start, rows).to_pylist()


def _check_metadata(metadata: Any) -> None:
    """Refuse a file that declares more than the site accepts.

    Raises:
        PackedError: too many rows, columns, values or bytes.
    """
    if problem := too_many_columns(metadata.num_columns):
        raise PackedError(problem)
    if metadata.num_rows > file_limits().rows:
        raise PackedError(
            f"has {metadata.num_rows:,} rows; the limit is {file_limits().rows:,}"
            " (GEVAL_ROW_LIMIT); split it"
        )
    if metadata.num_row_groups * metadata.num_columns > MOST_CHUNKS:
        raise PackedError(f"has {metadata.num_row_groups:,} row groups; write it again with fewer")
    size = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(metadata.num_columns)):
            size += max(0, chunk.total_uncompressed_size)
            if chunk.num_values > file_limits().rows:
                raise PackedError(
                    f"has {chunk.num_values:,} values in column {chunk.path_in_schema}; the limit"
                    f" is {file_limits().rows:,} (GEVAL_ROW_LIMIT); shorten the lists or split the"
                    " file"
                )
    check_unpacked(size)


def _decoded_bytes(batch: Any) -> int:
    """Return how many bytes a batch's rows take once each has its own copy of the texts."""
    import pyarrow.compute as pc
    from pyarrow import types

    size = 0
    for column in batch.columns:
        if types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
            size += pc.sum(lengths).as_py() or 0
        else:
            size += column.nbytes
    return size


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))
