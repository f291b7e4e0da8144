"""Files that are made to harm whoever reads them; each is small and takes gigabytes, or minutes,
where it can."""

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet


def written(table: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out, **options)
    return out.getvalue()


def long_list(elements: int = 10**8) -> bytes:
    """A Parquet file of one row with a list of so many elements, in about a kilobyte."""
    values = pa.repeat(pa.scalar(0, pa.int8()), elements)
    lists = pa.ListArray.from_arrays(pa.array([0, elements], pa.int32()), values)
    return written(
        pa.table({"doc_id": ["d"], "system_id": ["s"], "output": lists}), compression="zstd"
    )


def one_text_for_all_rows(rows: int = 500, characters: int = 10**7) -> bytes:
    """A Parquet file whose rows have one and the same long text, which is in it once."""
    text = pa.array(["x" * characters])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), text)
    names = pa.array([f"d{number}" for number in range(rows)])
    table = pa.table(
        {"doc_id": names, "system_id": pa.repeat("s", rows), "source": column, "output": column}
    )
    return written(table, compression="zstd")


def wide_csv(columns: int = 50_000) -> bytes:
    return (",".join(f"column{n}" for n in range(columns)) + "\n").encode()


def wide_jsonl(columns: int = 50_000) -> bytes:
    return json.dumps({f"column{n}": n for n in range(columns)}).encode()


def wide_parquet(columns: int = 5_000) -> bytes:
    return written(pa.table({f"column{n}": [1] for n in range(columns)}))


def zeros_in_gzip(size: int = 10**9) -> bytes:
    """Zeros without an end of line."""
    return gzipped(b"\0" * 2**20, size // 2**20)


def json_list_in_gzip(size: int = 4 * 10**8) -> bytes:
    """A list of empty objects: each of its bytes takes twenty once it is read."""
    return gzipped(b"{}," * 2**18, size // (3 * 2**18), before=b"[", after=b"{}]")


def long_lines_in_gzip(rows: int = 40, characters: int = 2 * 10**7) -> bytes:
    """JSON Lines whose texts are just within the limit of a field."""
    row = (
        json.dumps(
            {"doc_id": "d", "system_id": "s", "source": "x" * characters, "output": "y"}
        ).encode()
        + b"\n"
    )
    return gzipped(row, rows)


def zip_of_many(names: int = 100_000) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(names):
            archive.writestr(str(number), b"")
    return out.getvalue()


def zip_in_zip() -> bytes:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", b"\0" * 10**8)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.zip", inner.getvalue())
    return out.getvalue()


def gzipped(piece: bytes, times: int, *, before: bytes = b"", after: bytes = b"") -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [
        packer.compress(before),
        *(packer.compress(piece) for _ in range(times)),
        packer.compress(after),
    ]
    return b"".join(parts) + packer.flush()


def deep_json(levels: int = 100_000) -> bytes:
    return b"[" * levels + b"]" * levels


def long_number() -> bytes:
    return b'[{"doc_id": "d", "system_id": "s", "score": ' + b"9" * 5000 + b"}]"


def broken_gzip() -> bytes:
    content = bytearray(gzip.compress(b"doc_id,system_id,source,output\n" * 100))
    content[15] ^= 0xFF
    return bytes(content)


def broken_parquet() -> bytes:
    content = bytearray(written(pa.table({"doc_id": ["d"] * 100})))
    content[-40] ^= 0xFF
    return bytes(content)


HOSTILE_FILES = {
    "long list.parquet": long_list,
    "one text for all rows.parquet": one_text_for_all_rows,
    "wide.csv": wide_csv,
    "wide.jsonl": wide_jsonl,
    "wide.parquet": wide_parquet,
    "zeros.gz": zeros_in_gzip,
    "list.json.gz": json_list_in_gzip,
    "long lines.jsonl.gz": long_lines_in_gzip,
    "many.zip": zip_of_many,
    "zip in zip.zip": zip_in_zip,
    "deep.json": deep_json,
    "long number.json": long_number,
    "broken.gz": broken_gzip,
    "broken.parquet": broken_parquet,
}


def as_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(HOSTILE_FILES[name]())
    return path
