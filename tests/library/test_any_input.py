"""Whatever bytes or JSON the library is given, it returns a result or raises an `InputError`, in a
process that stays alive; `improve` and `evaluate` also have errors of their own."""

import http.server
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geval
from geval.client.requests import ApiError
from tests.workbooks import xlsx

EXAMPLES = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = ("doc", "doc_id", "system_id", "criterion", "annotator", "judge", "score", "output",
         "winner", "turns", "ann", "gpt", "all_responses")  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
rows = st.lists(st.dictionaries(st.sampled_from(NAMES) | st.text(), json_values), max_size=6)
signatures = st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"ARROW1\0\0", b"doc,ann\n",
                              b"\xff\xfe", b"[{", b"\xd0\xcf\x11\xe0"])  # fmt: skip
contents = st.one_of(
    st.tuples(signatures, st.binary(max_size=300)).map(b"".join),
    json_values.map(lambda value: json.dumps(value).encode()),
    rows.map(lambda lines: "\n".join(map(json.dumps, lines)).encode()),
)


def improve(source: Any, folder: Path) -> Any:
    return geval.improve(source, locked=folder / "locked.jsonl")


def evaluate(source: Any, folder: Path) -> Any:
    # Nothing listens there, so that what can be read ends with the model's error.
    return geval.evaluate(
        source, criterion="quality", definition="how good it is", model="m",
        base_url="http://127.0.0.1:9/v1", api_key="k", kept_in=None, progress=False, steps=False,
    )  # fmt: skip


def measure(source: Any, folder: Path) -> Any:
    result = geval.measure(source)
    str(result), result.to_json()
    for after in (
        lambda: geval.certify(result, ["raters>=3"]),
        lambda: geval.plan(result),
        lambda: geval.compare(result, "a", "b"),
    ):
        in_words(after)
    return result


ENTRIES = [measure, improve, evaluate]
ERRORS = (geval.InputError, geval.ImproveError, geval.EvaluationError)


def in_words(act: Callable[[], Any]) -> None:
    """Do something; whatever is not an error with words fails the test."""
    with suppress(*ERRORS):
        act()


@pytest.mark.parametrize("entry", ENTRIES)
@given(content=contents)
@EXAMPLES
def test_any_bytes_are_a_result_or_an_input_error(
    tmp_path: Path, entry: Callable[..., Any], content: bytes
) -> None:
    path = tmp_path / "any"
    path.write_bytes(content)

    in_words(lambda: entry(path, tmp_path))


@pytest.mark.parametrize("entry", ENTRIES)
@given(source=rows | json_values)
@EXAMPLES
def test_any_json_is_a_result_or_an_input_error(
    tmp_path: Path, entry: Callable[..., Any], source: Any
) -> None:
    in_words(lambda: entry(source, tmp_path))


@given(text=st.text())
@EXAMPLES
def test_any_requirement_and_name_is_answered(text: str) -> None:
    table = [{"doc": d, "ann": d % 3, "bob": d % 4, "gpt": d % 5} for d in range(12)]
    if not (kept := getattr(test_any_requirement_and_name_is_answered, "kept", None)):
        kept = geval.measure(table, human=["ann", "bob"], judge="gpt", document="doc")
        test_any_requirement_and_name_is_answered.kept = kept  # type: ignore[attr-defined]

    in_words(lambda: geval.certify(kept, [text]))
    in_words(lambda: geval.plan(kept, criterion=text))
    in_words(lambda: geval.compare(kept, text, "gpt"))


@pytest.fixture(scope="module")
def site() -> Iterator[Any]:
    """A server that answers every request with the same bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
        content = b""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.content)))
            self.end_headers()
            self.wfile.write(self.content)

        def log_message(self, *_arguments: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@given(content=contents | st.just(b'{"items": [{}], "next": null}'))
@EXAMPLES
def test_any_reply_to_pull_is_a_result_or_an_error(site: Any, content: bytes) -> None:
    site[0].content = content
    with suppress(geval.InputError, ApiError, OSError):
        geval.pull(site[1], "mine", token="t")


def with_rows(added: bytes) -> bytes:
    """A workbook with more rows in its sheet."""
    whole, out = io.BytesIO(xlsx({"S": [["doc", "ann", "gpt"], ["a", 1, 2]]})), io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            content = source.read(name)
            made.writestr(name, content.replace(b"</sheetData>", added + b"</sheetData>"))
    return out.getvalue()


FAR = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
SPREAD = b"".join(
    b'<row r="%d"><c r="A%d"><v>1</v></c><c r="GR%d"><v>1</v></c></row>' % (n, n, n)
    for n in range(3, 400_000, 40)
)


@pytest.mark.parametrize("added", [FAR, SPREAD], ids=["far", "spread"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_workbook_that_takes_gigabytes_harms_its_reader_alone(
    tmp_path: Path, entry: Callable[..., Any], added: bytes
) -> None:
    path = tmp_path / "hostile.xlsx"
    path.write_bytes(with_rows(added))

    with pytest.raises(geval.InputError, match=r"hostile.xlsx: cannot be read within 256 MB"):
        entry(path, tmp_path)


def test_limits_are_read_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geval.files import limits

    monkeypatch.setenv("GEVAL_ROW_LIMIT", "20")
    monkeypatch.setenv("GEVAL_UNPACKED_LIMIT_MB", "soon")

    applied = limits.limits_of(limits._of_environment)

    assert (applied.rows, applied.unpacked_bytes) == (20, limits.FileLimits.unpacked_bytes)


def test_odd_sources_are_errors_in_words(tmp_path: Path) -> None:
    circular: dict[str, Any] = {"doc": 1}
    circular["self"] = circular
    for source in ("x" * 5000, "a\0b", ["a", 1], b"doc,ann", tmp_path, [circular], 3, None, [[]],
                   [{"a": {("tuple",): 1}}], [{"a": "\ud800"}]):  # fmt: skip
        with pytest.raises(geval.InputError):
            geval.measure(source)
