"""What a project's file may hold at most, just within and just beyond it, and lines of errors."""

from typing import Any

import pytest

from geval.pipelines.project_files import reading
from geval.pipelines.project_files.current import current_of
from geval.pipelines.project_files.file import read_project_file
from geval.pipelines.project_files.planning import plan_of
from geval.pipelines.project_files.reading import (
    MOST_BYTES,
    MOST_DEPTH,
    ProjectFileError,
    read_document,
)


def refusal(text: str | bytes) -> str:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ProjectFileError) as refused:
        read_document(content, "f")
    return str(refused.value)


@pytest.mark.parametrize(("field", "most"), [("criteria", 1000), ("annotators", 1000)])
def test_a_campaign_has_at_most_a_thousand_of_them(field: str, most: int) -> None:
    def text(count: int) -> bytes:
        names = ", ".join(f"n{number}" for number in range(count))
        return f"project: p\ncampaigns:\n  first: {{{field}: [{names}]}}\n".encode()

    read, _document = read_project_file(text(most), "f")
    with pytest.raises(ProjectFileError) as refused:
        read_project_file(text(most + 1), "f")

    assert len(getattr(read.campaigns["first"], field)) == most
    assert str(refused.value).startswith("f:3: ")


def test_a_file_has_at_most_so_many_bytes() -> None:
    fits = b"#" * MOST_BYTES

    assert read_document(fits, "f").values is None
    assert refusal(fits + b"#").startswith("f:1: The file has more than")


@pytest.mark.parametrize("text", [r'a: "\uD800"', r'"\uD800": 1', r'a: ["\0"]', r'"a\0": 1'])
def test_a_character_that_cannot_be_stored_is_named_with_its_line(text: str) -> None:
    refused = refusal(f"project: p\n{text}\n")

    assert refused.startswith("f:2: ")
    assert "cannot be stored" in refused


def test_values_are_nested_at_most_so_deep() -> None:
    fits = "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1)

    assert read_document(fits.encode(), "f").problems == []
    assert refusal(f"[{fits}]") == f"f:1: Values are nested more than {MOST_DEPTH} levels deep."


@pytest.mark.parametrize(
    ("text", "count"),
    [("a", 1), ("[a, b]", 3), ("{a: b, c: d}", 3), ("{a: [b, c], d: {e: f}}", 6),
     ("[&x [a, b], *x]", 7), ("[&x {a: b}, *x, *x]", 7), ("[&x a, *x]", 3)],
)  # fmt: skip
def test_each_value_counts_once_and_again_for_each_alias(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", count)
    assert read_document(text.encode(), "f").problems == []

    monkeypatch.setattr(reading, "MOST_VALUES", count - 1)
    assert "The file has more than" in refusal(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"a: 1\nb: \xff\n", 2),
        (b"a: 1\nb: 2\nc: [\n", 4),
        (b"a: 1\nb: \x01\n", 2),
        (b"a: 1\n\nb: !!python x\n", 3),
        (b"a: 1\nb: *nothing\n", 2),
        (b"? [a]\n: b\n", 1),
        (b"a: 1\n---\nb: 2\n", 2),
    ],
)
def test_a_refusal_names_the_line(text: bytes, line: int) -> None:
    assert refusal(text).startswith(f"f:{line}: "), refusal(text)


def test_lines_are_those_of_names_and_of_items_of_lists() -> None:
    document = read_document(b"a:\n  b: 1\n\n  c:\n    - x\n    - y\na: 2\n", "f")

    places: list[tuple[Any, ...]] = [(), ("a",), ("a", "b"), ("a", "c"), ("a", "c", 1), ("z",)]
    assert [document.line_of(place) for place in places] == [1, 1, 2, 4, 6, 1]
    (problem,) = document.problems
    assert str(problem.message).startswith("'a' is here twice, first in line 1;")


def test_a_mode_that_the_site_chose_is_no_difference_and_another_is() -> None:
    record = {"id": 1, "name": "mini", "label": "mini", "kind": "geval", "version": 1,
              "endpoint_id": 1, "model": "m", "mode": "logprobs", "temperature": 1.0,
              "max_tokens": 16, "settings": {}, "retired_at": None, "samples": 20,
              "is_frozen": False}  # fmt: skip

    def differences(fields: str) -> set[str]:
        text = f"project: p\njudges:\n  mini: {{kind: geval, endpoint: here, model: m{fields}}}\n"
        wanted, _document = read_project_file(text.encode(), "f")
        project = {"name": "p", "description": "", "guidelines": ""}
        here = {"id": 1, "name": "here"}
        current = current_of(project, endpoints=[here], judges=[record])
        return {name for change in plan_of(wanted, current).changes for name in change.differences}

    assert differences("") == set()
    assert differences(', mode: ""') == set()
    assert differences(", mode: samples") == {"mode"}


def accepted(text: str) -> bool:
    try:
        read_project_file(text.encode(), "f")
    except ProjectFileError as refused:
        if "at most" not in str(refused) and "at least" not in str(refused):
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("template", "most"),
    [
        ("judges: {{m: {{kind: {}}}}}", 40),
        ("judges: {{m: {{endpoint: {}}}}}", 100),
        ("judges: {{m: {{model: {}}}}}", 200),
        ("description: {}", 20_000),
        ("criteria: {{{}: {{}}}}", 100),
        ("endpoints: {{{}: {{base_url: http://x}}}}", 100),
        ("endpoints: {{m: {{base_url: {}}}}}", 500),
        ("endpoints: {{m: {{base_url: http://x, api_version: {}}}}}", 40),
        ("endpoints: {{m: {{base_url: http://x, key_env: {}}}}}", 100),
        ("campaigns: {{m: {{criteria: [{}]}}}}", 200),
        ("campaigns: {{m: {{language: {}}}}}", 10),
        ("campaigns: {{m: {{span_categories: [{}]}}}}", 100),
        ("campaigns: {{m: {{span_severities: [{}]}}}}", 100),
    ],
)
def test_texts_are_at_most_so_long(template: str, most: int) -> None:
    fits, longer = (f"project: p\n{template.format('a' * length)}\n" for length in (most, most + 1))

    assert (accepted(fits), accepted(longer)) == (True, False)


@pytest.mark.parametrize(
    ("template", "least", "most"),
    [
        ("requirements: [{{judge: m, criterion: c, require: [{}]}}]", 1, 50),
        ("campaigns: {{m: {{span_categories: [{}]}}}}", 0, 100),
        ("campaigns: {{m: {{span_severities: [{}]}}}}", 0, 20),
    ],
)
def test_lists_have_so_many_items(template: str, least: int, most: int) -> None:
    counts = [count for count in (least - 1, least, most, most + 1) if count >= 0]

    taken = [
        count
        for count in counts
        if accepted(f"project: p\n{template.format(', '.join(['documents>=3'] * count))}\n")
    ]

    assert taken == [count for count in counts if least <= count <= most]
