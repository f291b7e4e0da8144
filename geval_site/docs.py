"""The docs at /docs/, for sites without internet, as `make docs` built them."""

import errno

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.static import serve


@require_safe
def docs_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """A page or file of the docs, open to everybody, because they are the same on every site.

    If they are not built, any address shows a page that says how to build them.
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
        return redirect("docs") if page else render(request, "docs_not_built.html")
    if page and not page.endswith("/") and "." not in page.rpartition("/")[2]:
        return HttpResponseRedirect(f"{request.path}/")
    name = f"{page}index.html" if not page or page.endswith("/") else page
    docs_page: FileResponse | HttpResponse = serve(request, name, document_root=str(folder))
    # A new version has different pages at the same addresses.
    docs_page["Cache-Control"] = "no-cache"
    return docs_page
