"""All errors of a file are said at once, with their lines, before anything is asked."""

from typing import Any

import pytest

from evaluations.models import Project
from geval.pipelines.project_files.file import read_project_file
from geval.pipelines.project_files.reading import ProjectFileError, read_document
from tests.project_files.conftest import WHOLE, Run


def problems(text: str) -> list[str]:
    with pytest.raises(ProjectFileError) as refused:
        read_project_file(text.encode(), "f")
    return str(refused.value).splitlines()


def test_all_errors_come_at_once_by_line() -> None:
    message = problems(
        "project: a b\n"
        "criteria:\n"
        "  fluency: {scale_mni: 1}\n"
        "  fluency: {}\n"
        "endpoints:\n"
        "  here: {key: sk-1, base_url: http://x/v1}\n"
        "  there: {}\n"
        "judges:\n"
        "  mini: {samples: many, use_steps: yes}\n"
        "  two: {mode: best}\n"
        "campaigns:\n"
        "  first: {deadline: 2027-01-31T10:00:00}\n"
    )

    assert [int(line.split(":")[1]) for line in message] == [1, 3, 4, 6, 7, 9, 9, 10, 12]
    assert message[1].startswith("f:3: 'scale_mni' is no field here.")
    assert "mean scale_min?" in message[1]
    assert "'fluency' is here twice, first in line 3" in message[2]
    assert "A key never stands" in message[3]
    assert "sk-1" not in "".join(message)
    assert message[4] == "f:7: base_url is missing; add it."
    assert any("use_steps is true or false" in line for line in message)
    assert "mode must be" in message[7]
    assert "time zone" in message[8]


@pytest.mark.parametrize(
    ("field", "value"),
    [("key_env", "sk-proj-0123"), ("base_url", "https://me:secret@x/v1"), ("api_key", "sk-1")],
)
def test_a_key_is_refused_wherever_it_stands_and_not_repeated(field: str, value: str) -> None:
    fields = {"base_url": "http://x/v1"} | {field: value}
    listed = ", ".join(f'{name}: "{text}"' for name, text in fields.items())
    (message,) = problems(f"project: p\nendpoints:\n  here: {{{listed}}}\n")

    assert "f:3:" in message
    assert "A key never stands" in message
    assert value not in message


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *((word, word) for word in ("nUll", "none", "tRUE", "yes", "no", "on", "off", "1:30", "007",
                                    "2027-01-31", ".nan", "1e999", "1_000", "0x1f")),
        ("0", 0), ("-7", -7), ("12", 12), ("1.", 1.0), (".5", 0.5), ("1.50", 1.5), ("1e3", 1000.0),
        ("'12'", "12"), ("9" * 18, int("9" * 18)), ("9" * 19, "9" * 19), ("9" * 400, "9" * 400),
    ],
)  # fmt: skip
def test_words_are_what_json_has_or_else_texts(word: str, value: Any) -> None:
    read = read_document(f"a: {word}".encode(), "f").values["a"]

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1", "f:1: This is not YAML"),
        (b"a: \xff", "not UTF-8"),
        (b"a: !!python/object/apply:os.system [ls]", "Remove the tag"),
        (b"a: 1\n---\nb: 2\n", "a single document"),
        (b"a: *b", "undefined alias"),
        (b"a: &a [*a]", "more than 20 levels"),
        (b"? [a]\n: 1", "must be a word"),
        (
            b"a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + b"".join(
                b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 10))
                for n in range(6)
            ),
            "more than 50,000 values",
        ),
        (b"a: \x00", "not YAML"),
    ],
)
def test_what_is_no_plain_yaml_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ProjectFileError) as refused:
        read_document(content, "f")

    assert message in str(refused.value)


def test_an_alias_repeats_a_value() -> None:
    read, _document = read_project_file(
        b"project: p\njudges:\n  a: &usual {kind: rouge}\n  b: *usual\n", "f"
    )

    assert read.judges["b"] == read.judges["a"]


@pytest.mark.django_db
def test_what_does_not_fit_the_project_is_said_before_anything_is_changed(
    run: Run, small_project: Project
) -> None:
    text = (
        WHOLE.replace("scale_max: 1", "scale_max: 0")
        .replace("variant: rouge2", "variant: rouge9")
        .replace("criteria: [Coherence]", "criteria: [Coherence, beauty]")
        .replace("other: odd", "other: odder")
    )
    code, message = run("apply", text)

    assert code == 2
    lines = {line.split(":")[1]: line for line in message.splitlines() if line.count(":") > 1}
    assert sorted(map(int, lines)) == [16, 26, 29, 38]
    assert message.endswith("Nothing was changed.")
    assert not small_project.criteria.filter(name="faithful").exists()
