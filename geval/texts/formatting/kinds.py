"""The formats that a project's texts may have, and which of them a text looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

# What looks like Markdown: a heading, a fence, a table's second line, or two lines of a list.
_MARKDOWN = re.compile(
    r"^ {0,3}(#{1,6} \S|```|\|?[ \t]*:?-{3,}:?[ \t]*\|)"
    r"|^(?:[-*+]|\d{1,3}\.) \S[^\n]*\n(?:[-*+]|\d{1,3}\.) \S"
    r"|\*\*[^\s*][^*\n]{0,200}\*\*",
    re.M,
)
_HTML = re.compile(r"(<!doctype html|<(html|body|div|p|article|section|table)\b[^>]*>)", re.I)
# Names of languages in `lang` of HTML, by their form: "ar", "zh-Hant", "pt-BR".
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


class TextFormat(StrEnum):
    """How a text is shown; the values are what forms, API and archives say."""

    PLAIN = "plain"
    MARKDOWN = "markdown"
    CODE = "code"
    HTML = "html"
    JSON = "json"
    TABLE = "table"
    AUTOMATIC = "automatic"


LABELS = {
    TextFormat.PLAIN: "Plain text",
    TextFormat.MARKDOWN: "Markdown",
    TextFormat.CODE: "Code",
    TextFormat.HTML: "HTML, shown as source",
    TextFormat.JSON: "JSON, indented",
    TextFormat.TABLE: "Table (CSV or TSV)",
    TextFormat.AUTOMATIC: "As it looks, text by text",
}
# Languages that code can be coloured in, as a project's settings name them.
CODE_LANGUAGES = {
    "bash": "Shell", "c": "C", "cpp": "C++", "css": "CSS", "diff": "Diff", "go": "Go",
    "javascript": "JavaScript", "python": "Python", "rust": "Rust", "sql": "SQL", "toml": "TOML",
    "typescript": "TypeScript", "xml": "XML",
}  # fmt: skip


@dataclass(frozen=True)
class FieldFormat:
    """How the texts of one field are shown: `code` is the language of code, `lang` what people
    speak in them; both are "" where that is not known."""

    kind: TextFormat = TextFormat.PLAIN
    code: str = ""
    lang: str = ""


@dataclass(frozen=True)
class Formats:
    """The formats of a project's fields."""

    source: FieldFormat = field(default_factory=FieldFormat)
    output: FieldFormat = field(default_factory=FieldFormat)
    reference: FieldFormat = field(default_factory=FieldFormat)

    @property
    def is_task_plain(self) -> bool:
        """Whether annotators see every text as it was written."""
        return self.source.kind == self.output.kind == TextFormat.PLAIN

    def with_markdown_outputs(self) -> Formats:
        """The same with outputs as Markdown."""
        return replace(self, output=replace(self.output, kind=TextFormat.MARKDOWN))


def language_of(metadata: Mapping[str, object]) -> str:
    """The language that a document's metadata give its texts; "" if they give none."""
    name = metadata.get("lang")
    return name if isinstance(name, str) and is_language(name) else ""


def is_language(name: object) -> bool:
    """Whether a value has the form of a language's name, such as "ar" or "zh-Hant"."""
    return isinstance(name, str) and _LANGUAGE.fullmatch(name) is not None


def looks_like(text: str) -> TextFormat:
    """The format that a text has by its looks; plain where nothing speaks for another.

    Tables are recognised by tabs alone: prose has commas too.
    """
    begins = text.lstrip()[:200]
    if begins.startswith(("{", "[")):
        return TextFormat.JSON
    if _HTML.match(begins) and text.rstrip().endswith(">"):
        return TextFormat.HTML
    lines = text.strip("\n").split("\n")
    tabs = lines[0].count("\t")
    if tabs and len(lines) > 1 and all(line.count("\t") == tabs for line in lines):
        return TextFormat.TABLE
    return TextFormat.MARKDOWN if _MARKDOWN.search(text) else TextFormat.PLAIN
