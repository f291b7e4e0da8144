"""Syntax highlighting, by Pygments."""

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

# How many characters can be highlighted in a fifth of a second, in the worst case. Lexers of the
# first few take quadratic time; that of JSON is written by hand.
LONGEST = 20_000
_OTHERWISE = {"html": 4_000, "typescript": 4_000, "ts": 4_000, "xml": 4_000, "json": 60_000}
_LANGUAGES = set(_OTHERWISE) | {
    "bash", "c", "cpp", "css", "diff", "go", "javascript", "js", "python", "py", "rust", "sh",
    "sql", "toml",
}  # fmt: skip
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="code-")


def longest(language: str) -> int:
    """Return how many characters of code in a language can be highlighted."""
    return _OTHERWISE.get(language, LONGEST)


def coloured(code: str, language: str) -> str:
    """Return HTML of highlighted code; "" if the language is unknown or the code too long."""
    name = language.lower()
    if name not in _LANGUAGES or len(code) > longest(name):
        return ""
    # By default lexers strip line breaks at the ends; the formatter ends the last line.
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    html = str(highlight(code, lexer, _FORMATTER))
    return html if code.endswith("\n") else html.removesuffix("\n")
