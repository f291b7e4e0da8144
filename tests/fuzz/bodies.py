"""What the bulk endpoints are sent: lines and tables with fields that they know, half sensible,
half anything."""

from typing import Any

from hypothesis import strategies as st

from tests.made_up_files import HOSTILE, as_csv, as_jsonl, broken

KNOWN = (
    "doc_id", "system_id", "source", "output", "context", "references", "metadata", "criterion",
    "annotator", "score",
    "judge", "first", "second", "preferred", "output_a", "output_b", "choice", "fluency",
)  # fmt: skip
SENSIBLE: tuple[Any, ...] = (
    "d1",
    "d2",
    "good",
    "bad",
    "fluency",
    "kim",
    1,
    3,
    5,
    2.5,
    "4",
    "a",
    "b",
    "tie",
)

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
    st.fixed_dictionaries(
        {"doc_id": names, "system_id": systems, "source": texts, "output": texts}
    ),
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


def _with_errors(strategy: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """As it is, with something put in somewhere, or nothing but bytes."""
    return strategy | strategy | broken(strategy) | st.binary(max_size=50)


json_lines = _with_errors(rows.map(as_jsonl))
tables = _with_errors(rows.map(as_csv))
