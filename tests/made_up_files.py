"""Pieces of made-up files: texts that do harm where they are not taken for text, formats, and
errors."""

import csv
import io
import json
import random
from typing import Any

from hypothesis import strategies as st

HOSTILE = (
    "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\u202eevil\u2066", "\x00", "a\0b",
    "a\u0085b\u2028c",
    "{{Document}}", "%s %(x)s", "'; DROP TABLE evaluations_document; --", "\ud800", "😀" * 50,
    "\\N", "\t", "\r\n", "",
    " ", "NaN", "1e400", "9" * 400,
)  # fmt: skip


def files_of(
    outputs: list[str], ratings: list[str], scores: list[str] | None = None
) -> dict[str, str]:
    """Files to load, of lines: outputs as JSON, or as rows of CSV (doc_id, system_id, source,
    output) like ratings and scores; rows have their line ends."""
    if outputs[0].startswith("{"):
        files = {"o.jsonl": "\n".join(outputs)}
    else:
        files = {"o.csv": "doc_id,system_id,source,output\n" + "".join(outputs)}
    files["r.csv"] = "doc_id,system_id,criterion,annotator,score\n" + "".join(ratings)
    if scores is not None:
        files["s.csv"] = "doc_id,system_id,criterion,judge,score\n" + "".join(scores)
    return files


def two_judges() -> dict[str, str]:
    """Twelve documents by five systems and two judges; the worst gap is the first judge's on d07 by
    s3."""
    draw = random.Random(1)
    outputs, ratings, scores = [], [], []
    for number in range(12):
        for system in range(5):
            name = f"d{number:02},s{system},coherence"
            outputs.append(
                f'{{"doc_id": "d{number:02}", "system_id": "s{system}", "source": "The ferry sails'
                f' at {number} from the old harbour.", "output": "Output {number} of {system}: the'
                ' ferry sails at noon."}'
            )
            human = draw.randint(2, 4)
            is_worst = (number, system) == (7, 3)
            ratings += [f"{name},{rater},{5 if is_worst else human}\n" for rater in ("ann", "bob")]
            scores.append(f"{name},near,{1 if is_worst else human}\n")
            scores.append(f"{name},far,{draw.randint(1, 5)}\n")
    return files_of(outputs, ratings, scores)


def as_jsonl(records: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def as_csv(records: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(
        out, list(dict.fromkeys(name for record in records for name in record)) or ["doc_id"]
    )
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode("utf-8", "surrogatepass")


def broken(files: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Files with a few bytes put in somewhere."""
    return st.builds(_put_in, files, st.integers(0, 10_000), st.binary(max_size=8))


def _put_in(content: bytes, at: int, what: bytes) -> bytes:
    place = at % (len(content) + 1)
    return content[:place] + what + content[place:]
