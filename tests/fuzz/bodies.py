"""What the bulk endpoints are sent: lines and tables with fields that they know, half sensible, half anything."""

import csv
import io
import json
from typing import Any

from hypothesis import strategies as st

KNOWN = (
    "doc_id", "system_id", "source", "output", "context", "references", "metadata", "criterion", "annotator", "score",
    "judge", "first", "second", "preferred", "output_a", "output_b", "choice", "fluency",
)  # fmt: skip
SENSIBLE: tuple[Any, ...] = ("d1", "d2", "good", "bad", "fluency", "kim", 1, 3, 5, 2.5, "4", "a", "b", "tie")
HOSTILE = ("=cmd|' /C calc'!A0", "\u202eabc", "a\0b", "<script>alert(1)</script>", "9" * 400, "1e999", "\ud83d")

values = st.one_of(
    st.sampled_from(SENSIBLE),
    st.sampled_from(HOSTILE),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)
names = st.sampled_from(("d1", "d2", "d3", "new"))
texts = st.just("One and the same text.") | st.text(min_size=1, max_size=20)
systems = st.sampled_from(("good", "bad", "other"))
# Rows that may well come in, so that what stores them is tried as well.
whole = st.one_of(
    st.fixed_dictionaries({"doc_id": names, "system_id": systems, "source": texts, "output": texts}),
    st.fixed_dictionaries(
        {
            "doc_id": names,
            "system_id": systems,
            "criterion": st.just("fluency"),
            "annotator": names,
            "score": st.integers(1, 5),
        }
    ),
)
anything = st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=8), values, max_size=8)
rows = st.lists(whole, min_size=1, max_size=4) | st.lists(whole | anything, max_size=6)


def _lines(found: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in found)


def _table(found: list[dict[str, Any]]) -> bytes:
    names = sorted({name for row in found for name in row})
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows([row.get(name, "") for name in names] for row in found)
    return text.getvalue().encode("utf-8", "surrogatepass")


def _broken(content: bytes, at: int, what: bytes) -> bytes:
    place = at % (len(content) + 1)
    return content[:place] + what + content[place:]


def _with_faults(strategy: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """As it is, with something put in somewhere, or nothing but bytes."""
    broken = st.builds(_broken, strategy, st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
    return strategy | strategy | broken | st.binary(max_size=50)


json_lines = _with_faults(rows.map(_lines))
tables = _with_faults(rows.map(_table))
