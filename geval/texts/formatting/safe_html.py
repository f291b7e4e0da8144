"""Convert Markdown, or HTML of untrusted texts, to safe HTML with only formatting: nothing loads or
runs anything. Code is highlighted by Pygments, and formulas between dollars become MathML.
"""

import re
from typing import Any

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

# How many characters can be highlighted in a fifth of a second, in the worst case. Lexers of the
# first few take quadratic time; that of JSON is written by hand.
LONGEST_COLOURED = 20_000
_LONGEST_OF = {"html": 4_000, "typescript": 4_000, "ts": 4_000, "xml": 4_000, "json": 60_000}
_LANGUAGES = set(_LONGEST_OF) | {
    "bash", "c", "cpp", "css", "diff", "go", "javascript", "js", "python", "py", "rust", "sh",
    "sql", "toml",
}  # fmt: skip
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="code-")
_MATH = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac",
    "msqrt", "mroot", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded",
    "mphantom", "menclose",
}  # fmt: skip
# The output of libraries is filtered by this list, so that an error in one does no harm.
_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span",
} | _MATH  # fmt: skip
_ATTRIBUTES = {
    "ol": {"start"},
    "math": {"display"},
    "mo": {"stretchy", "fence", "form"},
    "mi": {"mathvariant"},
    "mover": {"accent"},
}
# The classes of code's colours; all others are removed.
_CLASSES = {"span": {f"code-{name}" for name in STANDARD_TYPES.values() if name}}
_SCHEMES = {"http", "https", "mailto"}
# "//host": browsers read a backslash as a slash, and skip leading spaces and line breaks.
_NAMES_A_HOST = re.compile(r"[\x00-\x20]*[/\\][\t\r\n]*[/\\]")
# The most characters of a formula, and of a highlighted piece of code, as a text may have many.
LONGEST_FORMULA, LONGEST_CODE = 500, 4_000
# The deepest nesting of braces, as the library is recursive.
DEEPEST_FORMULA = 20
# Text within a formula, which is not parsed as LaTeX.
_MARKUP_IN_TEXT = re.compile(r"\\(text|mbox|operatorname)\w{0,20}\s{0,20}\{[^}]{0,500}[<&]")
# Headings of an output are ranked below the page's.
_HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}


def longest_coloured(language: str) -> int:
    """Return how many characters of code in a language can be highlighted."""
    return _LONGEST_OF.get(language, LONGEST_COLOURED)


def coloured(code: str, language: str) -> str:
    """Return HTML of highlighted code; "" if the language is unknown or the code too long."""
    name = language.lower()
    if name not in _LANGUAGES or len(code) > longest_coloured(name):
        return ""
    # By default lexers strip line breaks at the ends; the formatter ends the last line.
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    html = str(highlight(code, lexer, _FORMATTER))
    return html if code.endswith("\n") else html.removesuffix("\n")


def cleaned(html: str) -> str:
    """Return the safe part of HTML, without links: a click would leave the page and tell a third
    party about the reader."""
    return str(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES))


def cleaned_with_links(html: str) -> str:
    """Return the safe part of HTML by a project's members, with links."""
    safe = nh3.clean(
        html,
        tags=_TAGS | {"a"},
        attributes=_ATTRIBUTES | {"a": {"href"}},
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        attribute_filter=_without_other_hosts,
        link_rel="noopener noreferrer nofollow",
    )
    return str(safe)


def _without_other_hosts(_tag: str, name: str, value: str) -> str | None:
    """Leave out the address of a link that leads to another host without naming a scheme."""
    return None if name == "href" and _NAMES_A_HOST.match(value) else value


def escaped(text: str) -> str:
    """Escape a text for HTML."""
    return str(nh3.clean_text(text))


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Highlight code; "" leaves it unchanged."""
    return coloured(code, language) if len(code) <= LONGEST_CODE else ""


def _formula(latex: str, options: dict[str, Any]) -> str:
    """Return a formula as MathML, or as it was written if it cannot be parsed."""
    block = bool(options.get("display_mode"))
    written = f"{'$$' if block else '$'}{latex}{'$$' if block else '$'}"
    is_deep = latex.count("{") > DEEPEST_FORMULA
    if len(latex) > LONGEST_FORMULA or is_deep or _MARKUP_IN_TEXT.search(latex):
        return escaped(written)
    try:
        return str(convert(latex.strip(), display="block" if block else "inline"))
    except Exception:  # any error of its parser
        return escaped(written)


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted})
    made.enable("table").disable("image")
    # As in chats: "$5 and $6" is not a formula, "$x^2$" is.
    return made.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=_formula)


# Raw HTML stays text, and the library checks links: there are no scripts or external images.
_MARKDOWN = _markdown()


def as_html(markdown: str) -> str:
    """Return safe HTML of Markdown by a project's members."""
    return cleaned_with_links(_MARKDOWN.render(markdown)) if markdown.strip() else ""


def output_as_html(text: str) -> str:
    """Return safe HTML of a system's output, which may be hostile; "" if it is nested too
    deeply."""
    try:
        tokens = _MARKDOWN.parse(text)
        for token in tokens:
            token.tag = _HEADINGS.get(token.tag, token.tag)
        return cleaned(str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})))
    except RecursionError:
        return ""
