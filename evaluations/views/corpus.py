"""The corpus: its documents, and one document with all outputs side by side."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluations.access import READERS, project_view
from evaluations.models import Document, Project
from evaluations.models.corpus import DOCUMENT_SORTS
from evaluations.reports.side_by_side import SORTS, side_by_side

PAGE_SIZE = 50


@project_view(READERS)
def document_list(request: HttpRequest, project: Project) -> HttpResponse:
    """Documents, those with some words if asked for, in the order asked for."""
    words = request.GET.get("q", "").replace("\0", "").strip()[:200]
    sort = request.GET.get("sort", "")
    documents = project.documents.matching(words) if words else project.documents.all()
    documents = documents.sorted_by(sort if sort in DOCUMENT_SORTS else "")
    ids = documents.values_list("pk", flat=True)
    # A search is made once, where counting and showing a page would make it twice.
    page = Paginator(list(ids) if words else ids, PAGE_SIZE).get_page(request.GET.get("page"))
    shown = project.documents.with_counts(list(page.object_list))
    context = {
        "project": project,
        "tab": "data",
        "page": page,
        "documents": shown,
        "words": words,
        "sort": sort,
        "sorts": DOCUMENT_SORTS,
    }
    return render(request, "evaluations/document_list.html", context)


@project_view(READERS)
def document_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    document = get_object_or_404(Document, project=project, pk=pk)
    sort = request.GET.get("sort", "human")
    sort = sort if sort in SORTS else "human"
    others = project.documents.order_by("pk")
    return render(
        request,
        "evaluations/document_detail.html",
        {
            "project": project,
            "tab": "data",
            "document": document,
            "view": side_by_side(document, sort=sort),
            "sort": sort,
            "sorts": SORTS,
            "before": others.filter(pk__lt=pk).last(),
            "after": others.filter(pk__gt=pk).first(),
        },
    )
