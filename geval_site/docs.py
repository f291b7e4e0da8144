"""The docs at /docs/, for sites without internet: as built by `make docs`."""

import errno

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.static import serve

from geval_site.plain_docs import plain_page, plain_titles


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
