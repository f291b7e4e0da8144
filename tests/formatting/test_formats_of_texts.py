"""A text in each format: what it looks like, and when it is shown as it was written."""

import json
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.texts.formatting.kinds import FieldFormat, TextFormat, language_of, looks_like
from geval.texts.formatting.showing import (
    DEEPEST_JSON,
    MOST_CELLS,
    MOST_LETTERS,
    indented_json,
    shown,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
LINES = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.just("\n"), max_size=60)


def html_of(text: str, kind: TextFormat, code: str = "") -> str:
    return shown(text, FieldFormat(kind, code)).html


def words_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_code_is_coloured_in_its_language_and_without_one_shown_as_code() -> None:
    coloured = html_of("def f():\n    pass", TextFormat.CODE, "python")

    assert '<span class="code-k">def</span>' in coloured
    assert html_of("def f(): <b>", TextFormat.CODE).endswith(
        "<code>def f(): &lt;b&gt;</code></pre>"
    )


@given(LINES, st.sampled_from(["", "python", "html", "sql", "xml"]))
def test_code_and_source_keep_every_character(text: str, language: str) -> None:
    for kind in (TextFormat.CODE, TextFormat.HTML):
        if html := html_of(text, kind, language):
            assert words_of(html) == text


@given(VALUES)
def test_indented_json_is_the_same_json(value: object) -> None:
    text = json.dumps(value)

    assert json.loads(indented_json(text)) == json.loads(text)


def test_json_is_indented_with_its_values_as_they_were_written() -> None:
    text = '{"a":1.50,"a":[ ],"b":[1e5,{"c":"\\u0041, [x]"}]}'

    assert indented_json(text).split("\n") == [
        "{",
        '  "a": 1.50,',
        '  "a": [],',
        '  "b": [',
        "    1e5,",
        "    {",
        '      "c": "\\u0041, [x]"',
        "    }",
        "  ]",
        "}",
    ]


@pytest.mark.parametrize(
    ("text", "delimited"),
    [("a,b\n1,2", ","), ("a\tb\n1\t2", "tab"), ('a;b\n"1";2\n', "quoted"), ("a,b\r\n1,2", "CRLF")],
)
def test_rows_of_a_file_are_a_table(text: str, delimited: str) -> None:
    html = html_of(text, TextFormat.TABLE)

    assert html == (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    )


REFUSED = {
    "no JSON": ("{'a': 1}", TextFormat.JSON, "It cannot be read as JSON: Expecting property name"),
    "not a number": ("[NaN]", TextFormat.JSON, "NaN is not a value of JSON"),
    "deep JSON": ("[" * 9_000 + "]" * 9_000, TextFormat.JSON, f"more than {DEEPEST_JSON} deep"),
    "wide JSON": ("[" * 20 + "1," * 2_000 + "1" + "]" * 20, TextFormat.JSON, "characters"),
    "one column": ("a\nb", TextFormat.TABLE, "its first line has one column"),
    "rows of different lengths": ("a,b\n1", TextFormat.TABLE, "row 2 has 1 cells, the first has 2"),
    "an open quote": ('a,b\n"1,2', TextFormat.TABLE, "It cannot be read as a table"),
    "many cells": ("a,b\n" * MOST_CELLS, TextFormat.TABLE, "more than 3,000 cells"),
    "long HTML": ("<p>" * 2_000, TextFormat.HTML, "more than 4,000 characters"),
    "long text": ("a " * MOST_LETTERS, TextFormat.MARKDOWN, "more than 20,000 characters"),
}


@pytest.mark.parametrize(("text", "kind", "why"), REFUSED.values(), ids=REFUSED)
def test_a_text_that_cannot_be_shown_in_its_format_says_why(
    text: str, kind: TextFormat, why: str
) -> None:
    found = shown(text, FieldFormat(kind))

    assert found.html == ""
    assert found.why.startswith("Shown as it was written. ")
    assert why in found.why


LOOKS = {
    '{"a": 1}': TextFormat.JSON,
    " [1, 2]": TextFormat.JSON,
    "<!DOCTYPE html>\n<html></html>": TextFormat.HTML,
    "<div class=a>x</div>\n": TextFormat.HTML,
    "a\tb\n1\t2": TextFormat.TABLE,
    "# Title\n\nText": TextFormat.MARKDOWN,
    "A list:\n- one\n- two": TextFormat.MARKDOWN,
    "It is **so**.": TextFormat.MARKDOWN,
    "| a | b |\n|---|---|": TextFormat.MARKDOWN,
    "First, this.\nThen, that.": TextFormat.PLAIN,
    "2 * 3 * 4, #1 - and <b": TextFormat.PLAIN,
    "- a dash begins a quote": TextFormat.PLAIN,
    "": TextFormat.PLAIN,
}


@pytest.mark.parametrize(("text", "kind"), LOOKS.items())
def test_a_format_is_told_by_the_looks_of_a_text(text: str, kind: TextFormat) -> None:
    assert looks_like(text) == kind


@given(LINES)
def test_any_text_may_be_in_any_format(text: str) -> None:
    for kind in TextFormat:
        found = shown(text, FieldFormat(kind))
        assert not (found.html and found.why)


def test_a_language_is_taken_from_metadata_if_it_has_the_form_of_one() -> None:
    assert language_of({"lang": "zh-Hant"}) == "zh-Hant"
    assert language_of({"lang": '"><script>'}) == ""
    assert language_of({"lang": 5}) == ""
    assert language_of({}) == ""
