"""Convert annotators' guidelines from Markdown to safe HTML with nothing but formatting."""

from markdown_it import MarkdownIt

# Raw HTML stays text, and the library checks links: there are no scripts or external images.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def as_html(markdown: str) -> str:
    """Safe HTML of a text in Markdown."""
    return str(_MARKDOWN.render(markdown)) if markdown.strip() else ""
