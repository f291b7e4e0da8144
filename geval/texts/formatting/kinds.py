"""The formats that a project's texts may have, and detecting a text's format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

# Signs of Markdown: a heading, a fence, a table's second line, or two lines of a list.
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
    """How a text is shown; the values are used in forms, the API and archives."""

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
# Languages that can be highlighted, with their names in a project's settings.
CODE_LANGUAGES = {
    "bash": "Shell", "c": "C", "cpp": "C++", "css": "CSS", "diff": "Diff", "go": "Go",
    "javascript": "JavaScript", "python": "Python", "rust": "Rust", "sql": "SQL", "toml": "TOML",
    "typescript": "TypeScript", "xml": "XML",
}  # fmt: skip


@dataclass(frozen=True)
class FieldFormat:
    """How the texts of one field are shown: `code` is the programming language, `lang` the human
    language; both are "" if unknown."""

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
        """Return the same formats with outputs as Markdown."""
        return replace(self, output=replace(self.output, kind=TextFormat.MARKDOWN))


def language_of(metadata: Mapping[str, object]) -> str:
    """Return the language of a document's texts in its metadata; "" if there is none."""
    name = metadata.get("lang")
    return name if isinstance(name, str) and is_language(name) else ""


def is_language(name: object) -> bool:
    """Return whether a value has the form of a language's name, such as "ar" or "zh-Hant"."""
    return isinstance(name, str) and _LANGUAGE.fullmatch(name) is not None


def looks_like(text: str) -> TextFormat:
    """Guess a text's format; plain without signs of another.

    Tables are recognised only by tabs, as prose has commas too.
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
