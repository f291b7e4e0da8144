"""The docs at /docs/, for sites without internet: as built by `make docs`, or rendered from a
checkout's docs/ where they were not built: text and links, without search and the generated pages.
"""

import errno
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.static import serve
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@require_safe
def docs_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """A page or file of the docs, open to everybody, because they are the same on every site.

    If they are not built, a checkout shows its Markdown files; without those, any address shows a
    page that says how to build them.
    """
    try:
        return _docs_page(request, page)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise Http404("The docs have no page with so long a name.") from None


def _docs_page(request: HttpRequest, page: str) -> HttpResponseBase:
    folder = settings.DOCS_SITE
    if not (folder / "index.html").is_file():
        has_pages = (settings.DOCS_PAGES / "method.md").is_file()
        return plain(request, page) if has_pages else not_built(request, page)
    if page and not page.endswith("/") and "." not in page.rpartition("/")[2]:
        return HttpResponseRedirect(f"{request.path}/")
    name = f"{page}index.html" if not page or page.endswith("/") else page
    docs_page: FileResponse | HttpResponse = serve(request, name, document_root=str(folder))
    # A new version has different pages at the same addresses.
    docs_page["Cache-Control"] = "no-cache"
    return docs_page


def plain(request: HttpRequest, page: str) -> HttpResponseBase:
    """A page of the checkout's docs, or a picture or notebook in them."""
    folder = settings.DOCS_PAGES
    if "." in page.rpartition("/")[2]:
        return serve(request, page, document_root=str(folder))
    plain_text = plain_page(folder, page)
    if plain_text is None:
        raise Http404(f"The docs have no page {page}, or only where they were built.")
    context = {"page": plain_text, "address": page, "titles": [] if page else plain_titles(folder)}
    return render(request, "docs_plain.html", context)


def not_built(request: HttpRequest, page: str) -> HttpResponse:
    return redirect("docs") if page else render(request, "docs_not_built.html")


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
