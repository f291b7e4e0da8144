"""Convert Markdown to safe HTML with only formatting. Code is highlighted, and formulas between
dollars become MathML."""

import re
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from geval.texts.formatting.cleaning import as_text, cleaned, cleaned_with_links
from geval.texts.formatting.colours import coloured

# The most characters of a formula, and of a highlighted piece of code, as a text may have many.
LONGEST_FORMULA, LONGEST_CODE = 500, 4_000
# The deepest nesting of braces, as the library is recursive.
DEEPEST_FORMULA = 20
# Text within a formula, which is not parsed as LaTeX.
_MARKUP_IN_TEXT = re.compile(r"\\(text|mbox|operatorname)\w{0,20}\s{0,20}\{[^}]{0,500}[<&]")


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Highlight code; "" leaves it unchanged."""
    return coloured(code, language) if len(code) <= LONGEST_CODE else ""


def _formula(latex: str, options: dict[str, Any]) -> str:
    """Return a formula as MathML, or as it was written if it cannot be parsed."""
    block = bool(options.get("display_mode"))
    written = f"{'$$' if block else '$'}{latex}{'$$' if block else '$'}"
    is_deep = latex.count("{") > DEEPEST_FORMULA
    if len(latex) > LONGEST_FORMULA or is_deep or _MARKUP_IN_TEXT.search(latex):
        return as_text(written)
    try:
        return str(convert(latex.strip(), display="block" if block else "inline"))
    except Exception:  # any error of its parser
        return as_text(written)


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted})
    made.enable("table").disable("image")
    # As in chats: "$5 and $6" is not a formula, "$x^2$" is.
    return made.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=_formula)


# Raw HTML stays text, and the library checks links: there are no scripts or external images.
_MARKDOWN = _markdown()
# Headings of an output are ranked below the page's.
_HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}


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
