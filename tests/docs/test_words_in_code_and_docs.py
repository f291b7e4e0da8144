"""Code and docs use one word for one thing; this lists words that the product no longer uses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

# Regular expression, without regard to case -> what to write instead.
RETIRED = {
    r"\bfault(s|y)?\b": "error; invalid",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(stands?|stood|standing) on\b": "depends on; is based on",
    r"\bthere already\b": "already exists; unchanged",
    r"\bgo(es)? with (people|the mean|each other)\b": "agree with",
    r"\b(is|are|was|were|be) told\b": "is reported; is asked; gets a message",
    r"\b(still )?under way\b": "running; in progress",
    r"\b(go|goes|going) on with\b": "continue; resume",
    r"\bcomes? along\b": "bundled; in the same upload",
    r"\bbrings?\b.*\balong\b": "starts its own",
    r"\b(called|named|computed|rounded|stems?|treats \w+ words) otherwise\b": "differently",
    r"\bwho \w+ (\w+ )?so\b": "anyone who … this way",
    r"\bin (somebody's|the) hands\b": "assigned to",
    r"\b(in|by|one|an?) (JSON )?object a line\b": "one JSON object per line",
    r"\bone a (line|core|row)\b": "one per line",
    r"\b(a row|replies|calls|time|one file|one module) an? (rating|score|item|subject)\b": "per",
    r"\b(tokens|requests|texts|cycles|items|answers) an? (minute|second|hour)\b": "per minute",
    r"\bbrought? back\b|\bbrings? (it|them) back\b": "restore",
    r"\bloaded already\b": "already exists",
    r"\b(in sight of|with LLM scores in sight)\b": "while scores were visible",
    r"\bspeaks? to the judge\b": "address the judge (prompt injection)",
    r"\bleaves? unsaid\b": "default for missing columns",
    r"\bmade-up\b": "randomly generated; invented",
    r"\bside is (constant|the same)\b": "people or the judge gave every output the same score",
    r"\bis no (member|number|text|list|whole)\b": "is not a",
    r"\bby themselves\b(?=[,;.]?$)": "separately",
    r"\bhuman ceiling\b": "one rater",
    r"\b(an?|another|one) annotator reaches\b|\ba rater reaches\b": "one rater reaches",
    r"\banother rater's (?!code)\w+": "one rater's",
    r"\b(un)?(authori|generali|maximi|minimi|normali|organi|recogni|standardi)z(e[ds]?|ing)\b": (
        "British spelling: -ise"
    ),
    r"\b(behavior|favor(s|ed)?\b|neighbor|labeled|canceled)": "British spelling",
}

# A file and a text in it, with the reason why it may stay.
EXCEPTIONS = {
    ("evaluations/models/uploads.py", "faulty"): "a stored state keeps its value",
    ("evaluations/models/runs.py", "Probability of each scale point, normalized."): (
        "a text of the schema, which no page shows"
    ),
    ("evaluations/models/runs.py", "Probability of valid points before normalizing."): (
        "a text of the schema, which no page shows"
    ),
}

PACKAGES = ("geval", "geval_site", "evaluations", "annotations", "assurance")
DOCS = [*CHECKOUT.glob("docs/**/*.md"), CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md"]
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|FROM|JOIN|COPY|CREATE|ALTER|EXISTS)\b")


def strings_of(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a module, docstrings and parts of f-strings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a string or a page with their numbers."""
    if path.suffix == ".md":
        yield from enumerate(path.read_text().splitlines(), start=1)
        return
    for first, text in strings_of(path):
        if not SQL.match(text):
            joined = re.sub(r"\s*\n\s*", " ", text)
            yield first, joined


def found_in(path: Path) -> list[str]:
    name = str(path.relative_to(CHECKOUT))
    return [
        f"{name}:{line}: “{match.group()}”; write: {better}"
        for line, text in lines_of(path)
        for phrase, better in RETIRED.items()
        if (match := re.search(phrase, text, re.IGNORECASE)) and (name, text) not in EXCEPTIONS
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_string_or_docstring_has_a_retired_word(package: str) -> None:
    modules = [
        path
        for path in sorted((CHECKOUT / package).rglob("*.py"))
        if path.parent.name != "migrations"
    ]

    assert modules
    assert [line for path in modules for line in found_in(path)] == []


def test_no_page_of_the_docs_has_a_retired_word() -> None:
    assert [line for path in sorted(DOCS) for line in found_in(path)] == []


def test_every_exception_is_still_needed() -> None:
    unused = [
        (name, text)
        for name, text in EXCEPTIONS
        if text not in (string for _line, string in strings_of(CHECKOUT / name))
    ]

    assert unused == []


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ("Every fault is told with its line.", "error; invalid"),
        ("12 ratings stand on it", "depends on; is based on"),
        ("The run is still\n    under way.", "running; in progress"),
    ],
)
def test_a_failure_names_the_place_the_phrase_and_a_better_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, better: str
) -> None:
    monkeypatch.setattr(f"{__name__}.CHECKOUT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(f'x = 1\n\n\ny = """{written}"""\n')

    message = found_in(module)[0]

    assert message.startswith("module.py:4: “")
    assert message.endswith(f"”; write: {better}")
