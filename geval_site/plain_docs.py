"""The pages of docs/ rendered from a checkout, for sites where the docs were not built: text and
links, without search and the generated reference."""

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class PlainPage:
    """A page's title, and its contents as HTML."""

    title: str
    content: str


def plain_page(folder: Path, address: str) -> PlainPage | None:
    """Return a page by its address below /docs/, such as "tutorials/vllm/", or None.

    Args:
        folder: the folder of our own Markdown files, which may contain HTML.
    """
    path = _file(folder, address)
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    match = TITLE.search(text)
    return PlainPage(match[1] if match else path.stem, _html(folder, path, text))


def plain_titles(folder: Path) -> list[tuple[str, str]]:
    """Return address and title of every page except the first."""
    pages = []
    for path in sorted(folder.rglob("*.md")):
        address = _address(path.relative_to(folder).as_posix())
        match = TITLE.search(path.read_text(encoding="utf-8"))
        if address and match:
            pages.append((address, match[1]))
    return pages


def _file(folder: Path, address: str) -> Path | None:
    name = address.strip("/") or "index"
    for candidate in (f"{name}.md", f"{name}/README.md"):
        path = (folder / candidate).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return path
    return None


def _address(name: str) -> str:
    """Return the address of a Markdown file, as in the site that `make docs` builds."""
    stem = name.removesuffix(".md")
    if stem == "index":
        return ""
    return f"{stem.removesuffix('README').rstrip('/')}/"


def _html(folder: Path, path: Path, text: str) -> str:
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.use(anchors_plugin, max_level=4, slug_func=_anchor)
    here = path.relative_to(folder).parent.as_posix()
    tokens = markdown.parse(text)
    for token in tokens:
        for inner in token.children or ():
            _lead_to_pages(inner, here)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _lead_to_pages(token: Token, here: str) -> None:
    """Rewrite links to Markdown files to lead to their pages, and the paths of pictures."""
    name = {"link_open": "href", "image": "src"}.get(token.type)
    target = str(token.attrGet(name) or "") if name else ""
    if not name or not target or re.match(r"[a-z]+:|/|#", target):
        return
    path, _, anchor = target.partition("#")
    place = posixpath.normpath(posixpath.join(here, path))
    place = _address(place) if place.endswith(".md") else place
    token.attrSet(name, f"/docs/{place}{f'#{anchor}' if anchor else ''}")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
