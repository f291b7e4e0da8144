"""Possessive repetitions and atomic groups of regular expressions are wrong in early releases of
Python 3.11, which Debian 12 has: ratings were misread without a word. So no pattern uses them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("geval", "evaluations", "annotations", "assurance", "geval_site")
    for path in (ROOT / folder).rglob("*.py")
)
CHARACTER_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
POSSESSIVE = re.compile(r"(?<!\\)[*+?}]\+|\(\?>")


def strings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("pattern", ["a++", "a*+b", "(?:a|b)?+", "a{1,3}+", "(?>a)"])
def test_such_patterns_are_recognized(pattern: str) -> None:
    assert POSSESSIVE.search(CHARACTER_CLASS.sub("x", pattern))


def test_no_pattern_of_ours_is_possessive_or_atomic() -> None:
    possessive = [
        (str(path.relative_to(ROOT)), text)
        for path in SOURCES
        if "import re\n" in (source := path.read_text(encoding="utf-8"))
        for text in strings(source)
        if re.search(r"[\\(\[]", text)  # without them it is no pattern: "C++"
        and POSSESSIVE.search(CHARACTER_CLASS.sub("x", text))
    ]

    assert possessive == []
