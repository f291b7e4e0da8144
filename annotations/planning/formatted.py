"""Convert Markdown to safe HTML with nothing but formatting: guidelines, and outputs if a campaign
shows them formatted."""

import nh3
from markdown_it import MarkdownIt

# Raw HTML stays text, and the library checks links: there are no scripts or external images.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
# What the library writes is held against this list, so that an error in it does no harm.
_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# Longer texts are shown as they were written: what is made to be slow, such as brackets that are
# opened and never closed, takes the square of its length, and a page should not wait for a second.
MOST_LETTERS = 20_000
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
    return str(nh3.clean(rendered, tags=_TAGS - {"a"}, attributes={"ol": {"start"}}))


def _clean(html: str) -> str:
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return str(cleaned)
