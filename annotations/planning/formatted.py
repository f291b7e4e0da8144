"""Convert Markdown to safe HTML with nothing but formatting: guidelines, and outputs if a campaign
shows them formatted. Code is coloured, and formulas between dollars become MathML."""

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

# Longer texts are shown as they were written: what is made to be slow, such as brackets that are
# opened and never closed, takes the square of its length, and a page should not wait for a second.
MOST_LETTERS = 20_000
# Of a formula, and of a coloured piece of code.
LONGEST_FORMULA, LONGEST_CODE = 500, 4_000
# Braces within each other: the library calls itself for each.
DEEPEST_FORMULA = 20
# Those whose readers take less than a fifth of a second for any text of that length.
_LANGUAGES = {
    "bash", "c", "cpp", "css", "diff", "go", "html", "javascript", "js", "json", "python", "py",
    "rust", "sh", "sql", "toml", "typescript", "ts", "xml",
}  # fmt: skip
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="code-")
# Text within a formula, which is not read as one.
_MARKUP_IN_TEXT = re.compile(r"\\(text|mbox|operatorname)\w*\s*\{[^}]*[<&]")


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Code in the colours of its language; "" leaves it as it is."""
    if language.lower() not in _LANGUAGES or len(code) > LONGEST_CODE:
        return ""
    return str(highlight(code, get_lexer_by_name(language.lower()), _FORMATTER))


def _formula(latex: str, options: dict[str, Any]) -> str:
    """A formula as MathML, or as it was written if it cannot be read."""
    block = bool(options.get("display_mode"))
    written = f"{'$$' if block else '$'}{latex}{'$$' if block else '$'}"
    is_deep = latex.count("{") > DEEPEST_FORMULA
    if len(latex) > LONGEST_FORMULA or is_deep or _MARKUP_IN_TEXT.search(latex):
        return nh3.clean_text(written)
    try:
        return str(convert(latex.strip(), display="block" if block else "inline"))
    except Exception:  # whatever its parser meets
        return nh3.clean_text(written)


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted})
    made.enable("table").disable("image")
    # As in chats: "$5 and $6" is no formula, "$x^2$" is.
    return made.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=_formula)


# Raw HTML stays text, and the library checks links: there are no scripts or external images.
_MARKDOWN = _markdown()
_MATH = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac",
    "msqrt", "mroot", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded",
    "mphantom", "menclose",
}  # fmt: skip
# What the library writes is held against this list, so that an error in it does no harm.
_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span",
} | _MATH  # fmt: skip
_ATTRIBUTES = {
    "ol": {"start"},
    "math": {"display"},
    "mo": {"stretchy", "fence", "form"},
    "mi": {"mathvariant"},
    "mover": {"accent"},
}
# The colours of code; no other class is left.
_CLASSES = {"span": {f"code-{name}" for name in STANDARD_TYPES.values() if name}}
_SCHEMES = {"http", "https", "mailto"}
# Headings of an output are below the page's own.
_HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}


def as_html(markdown: str) -> str:
    """Safe HTML of a text in Markdown, as members of a project write it."""
    return _clean(_MARKDOWN.render(markdown)) if markdown.strip() else ""


def output_as_html(text: str) -> str:
    """Safe HTML of what a system wrote, which may be hostile; "" for what is shown as written.

    There are no links to follow: a click would leave the page, and say to whom that somebody reads.
    """
    if not text.strip() or len(text) > MOST_LETTERS:
        return ""
    try:
        tokens = _MARKDOWN.parse(text)
        for token in tokens:
            token.tag = _HEADINGS.get(token.tag, token.tag)
        rendered = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    except RecursionError:
        return ""
    return str(
        nh3.clean(
            rendered,
            tags=_TAGS - {"a"},
            attributes=_ATTRIBUTES,
            allowed_classes=_CLASSES,
        )
    )


def _clean(html: str) -> str:
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES | {"a": {"href"}},
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return str(cleaned)
