"""Guidelines for annotators: Markdown to HTML that holds nothing but formatting."""

from markdown_it import MarkdownIt

# Raw HTML stays text, and links are checked by the library: neither scripts nor foreign pictures
# get in.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def as_html(markdown: str) -> str:
    """Safe HTML of a text in Markdown."""
    return str(_MARKDOWN.render(markdown)) if markdown.strip() else ""
