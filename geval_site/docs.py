"""The docs at /docs/, for sites without internet: the site that `make docs` built."""

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.static import serve


@require_safe
def docs_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """A page or file of the docs; open to everybody, since they are the same on every site.

    Where they were not built, any address leads to a page that says how.
    """
    folder = settings.DOCS_SITE
    if not (folder / "index.html").is_file():
        return redirect("docs") if page else not_built(request)
    if page and not page.endswith("/") and "." not in page.rpartition("/")[2]:
        return HttpResponseRedirect(f"{request.path}/")
    name = f"{page}index.html" if not page or page.endswith("/") else page
    found: FileResponse | HttpResponse = serve(request, name, document_root=str(folder))
    # A new version has other pages under the same addresses.
    found["Cache-Control"] = "no-cache"
    return found


def not_built(request: HttpRequest) -> HttpResponse:
    return render(request, "docs_not_built.html")
