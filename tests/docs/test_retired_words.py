"""Words and phrases that were replaced do not come back. A failure names file and line, the phrase
and the better one.

In templates only what a reader sees is looked at: text, and the attributes that are shown or read
out. In Python and scripts it is the texts in quotes, docstrings left out; docs are read as they
are.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

# Folders and files that are clean. Those that are still being worked on join the list when they are
# done.
CLEAN = (
    "templates", "static/js", "evaluations/web/forms", "evaluations/web/views", "annotations/forms",
    "annotations/views", "assurance/web",
)  # fmt: skip

# Regular expressions, a space standing for any white space, with the better words.
RETIRED = {
    r"faults?": "error(s)",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:stand|stands|stood) on": "depend(s) on",
    r"under way": "running",
    r"go(?:es|ing)? on": "resume, continue",
    r"go(?:es)? with people": "agree with people",
    r"(?:is|are|was|were|been|get) told": "is reported, is notified, sees",
    r"there already": "already exists, unchanged",
    r"what the files leave unsaid": "defaults for missing columns",
    r"take it with you": "download",
    r"tell it when": "events",
    r"in (?:the|somebody's) hands(?: of)?": "assigned to, in progress",
    r"comes? along": "bundled, with it",
    r"(?:brings?|took|takes?|taken) (?:it )?(?:back|out)": "restore, revoke, remove",
    r"bring (?:it|a project|them) in": "import",
    r"calls in flight": "parallel calls",
    r"(?:replies|call|item|time|one|calls) an? (?:item|hour|minute|line|million)": (
        "per item, per hour"
    ),
    r"valid for days": "valid for (days)",
    r"rated too": "also rated by people",
    r"do not differ(?! significantly)": "do not differ significantly",
    r"worth ratings": "effective ratings",
    r"may a judge": "can a judge",
    r"documents whose name has": "document name contains",
    r"pairwise accuracy (?:with ties calibrated|\(ties calibrated\))": "tie-calibrated pairwise "
    "accuracy",
    r"speak to the judge": "address the judge directly (possible prompt injection)",
    r"heard of it": "no progress",
    r"call a worker": "retry",
    r"no worker is alive": "no worker is running",
    r"half loaded": "no partial data was written",
    r"a score of this judge": "a score by this judge",
    r"nothing was asked": "no calls were made",
    r"is made(?! of)": "is created",
    r"made by": "created by",
    r"make (?:an? )?(?:link|token|account|judge|endpoint|webhook|invitation)": "create",
    r"look (?:again|into your mail|at the data)": "check again, check your email, check data",
    r"(?:left|leave) unsaid": "missing",
    r"otherwise called|called otherwise|name (?:the person|it) otherwise": "have another name",
    r"whoever": "the person who, anyone who",
    r"who (?:is|are|has|comes|signs) [\w ]{0,20}\bso": "anyone who …",
    r"somebody's": "another person's",
    r"is (?:here|over)(?=[.!]|$)": "has arrived, is no longer valid",
    r"\d+ calls an item": "calls per item",
    r"sent on its way|on its way": "we have sent",
    r"not yours to see": "you do not have access",
    r"made[- ]up": "randomly generated",
    r"as people do with rho": "agrees with people on how to rank",
    r"(?:one|once one|who one) (?:has|is|may|can|must)": "you have",
    r"paused: paused": "Paused by …",
}
SHOWN_ATTRIBUTES = re.compile(r"\b(title|aria-label|alt|placeholder|content|value)=\"([^\"]*)\"")


def blank(text: str, pattern: str) -> str:
    """The text with what matches the pattern made blank; lines stay where they are."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def template_text(text: str) -> str:
    """What a reader sees of a template, each word on its own line still."""
    text = blank(text, r"\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}|<!--.*?-->")
    text = blank(text, r"\{%.*?%\}|\{\{.*?\}\}")

    def attributes(tag: re.Match[str]) -> str:
        kept = list(re.sub(r"[^\n]", " ", tag[0]))
        for found in SHOWN_ATTRIBUTES.finditer(tag[0]):
            kept[found.start(2) : found.end(2)] = found[2]
        return "".join(kept)

    return re.sub(r"<[^<>]*>", attributes, text, flags=re.S)


def python_texts(text: str) -> str:
    """The messages, where they are: texts in quotes of more than a word. Docstrings, comments and
    names are blank."""
    lines = [" " * len(line) for line in text.splitlines()]
    docstrings = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    middle = getattr(
        tokenize, "FSTRING_MIDDLE", None
    )  # from Python 3.12 on an f-string comes in parts
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_message = token.type == middle or (token.type == tokenize.STRING and " " in token.string)
        if is_message and token.start[0] not in docstrings:
            for number, part in enumerate(
                blank(token.string, r"\{[^{}]*\}").splitlines(), start=token.start[0] - 1
            ):
                at = token.start[1] if number == token.start[0] - 1 else 0
                line = lines[number].ljust(at + len(part))
                lines[number] = line[:at] + part + line[at + len(part) :]
    return re.sub(r"\"|(?<=[ (=])[fr](?=\")", " ", "\n".join(lines))


def script_texts(text: str) -> str:
    """The texts in quotes of a script, comments left out."""
    kept = list(re.sub(r"[^\n]", " ", text))
    for found in re.finditer(
        r"\"[^\"\n]*\"|`[^`]*`", re.sub(r"(?m)//.*$", lambda c: " " * len(c[0]), text)
    ):
        kept[found.start() : found.end()] = found[0]
    return "".join(kept)


READERS = {
    ".html": template_text,
    ".txt": template_text,
    ".py": python_texts,
    ".js": script_texts,
    ".md": str,
}


def files_of(place: str) -> list[Path]:
    path = CHECKOUT / place
    return (
        [path]
        if path.is_file()
        else sorted(file for file in path.rglob("*") if file.suffix in READERS)
    )


def retired_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, phrase and better words for each retired phrase of a text."""
    for phrase, better in RETIRED.items():
        spaced = phrase.replace(" ", r"\s+")
        pattern = rf"(?<![\w-])(?:{spaced})(?![\w-])"
        for found in re.finditer(pattern, text, re.I | re.M):
            yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), better


@pytest.mark.parametrize("place", CLEAN)
def test_no_retired_word(place: str) -> None:
    files = files_of(place)
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}: “{phrase}”, better: {better}"
        for path in files
        for line, phrase, better in retired_in(READERS[path.suffix](path.read_text()))
    ]

    assert files
    assert found == [], "\n" + "\n".join(found)


def test_only_what_is_seen_counts_in_templates() -> None:
    text = (
        '<p class="fault">{% if fault %}{{ fault }}{% endif %}\nHow judges\n go  with people</p>'
        '<b title="a fault">'
    )

    assert list(retired_in(template_text(text))) == [
        (3, "fault", "error(s)"),
        (3, "go with people", "agree with people"),
    ]


def test_only_texts_count_in_python() -> None:
    text = '"""A fault."""\nfault = 1  # a fault\nsaid = f"One {fault} fault."\n'

    assert [(line, phrase) for line, phrase, _better in retired_in(python_texts(text))] == [
        (3, "fault")
    ]
