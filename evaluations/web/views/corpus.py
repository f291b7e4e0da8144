"""Pages of the corpus: its documents, one document with all outputs side by side, and its systems:
who wrote the outputs, and of which family of models.
"""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from evaluations.corpus.families import keep_families
from evaluations.corpus.removing import StillInUseError, remove_document, remove_output
from evaluations.models import CandidateOutput, Document, Project
from evaluations.pages.browsing import browse
from evaluations.pages.side_by_side import SORTS, side_by_side
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.web.forms.corpus import DocumentFilterForm
from evaluations.web.forms.projects import JudgeFormSet, SystemFormSet
from evaluations.web.notices import noticing
from evaluations.web.parameters import reads
from evaluations.web.views.reports import waits
from geval.reports.report import family_of_judge
from geval.statistics.bias import Family

SYSTEMS_A_PAGE = 200


@reads("q", "rated", "name", "value", "sort", "page")
@project_view(READERS)
@waits
def document_list(request: HttpRequest, project: Project) -> HttpResponse:
    """Documents, filtered by words, metadata or ratings, and sorted."""
    names = project.documents.metadata_names()
    form = DocumentFilterForm(project, names, request.GET)
    filters = form.filters()
    browsed = browse(project, filters, names, page=request.GET.get("page"))
    context = {
        "project": project,
        "tab": "data",
        "form": form,
        "filters": filters,
        "is_filtered": any(name in filters for name in ("q", "value", "rated")),
        "browsed": browsed,
        "page": browsed.page,
        "judge": form.judges.get(browsed.judge) if browsed.judge else None,
        "query": urlencode(filters),
    }
    return render(request, "evaluations/document_list.html", context)


@reads("sort", "against")
@project_view(READERS)
def document_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    document = get_object_or_404(project.documents, pk=pk)
    sort = request.GET.get("sort", "human")
    sort = sort if sort in SORTS else "human"
    before, after = project.documents.beside(document)
    return render(
        request,
        "evaluations/document_detail.html",
        {
            "project": project,
            "tab": "data",
            "document": document,
            "view": side_by_side(document, sort=sort, against=request.GET.get("against", "")),
            "sort": sort,
            "sorts": SORTS,
            "before": before,
            "after": after,
        },
    )


@project_action(EDITORS)
def document_remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    document = get_object_or_404(Document, project=project, pk=pk)
    with noticing(request, StillInUseError):
        remove_document(document)
        note_detail(request, document.doc_id)
        messages.success(request, f"Document {document.doc_id} was removed.")
        return redirect("evaluations:document_list", project.slug)
    return redirect(document)


@project_action(EDITORS)
def output_remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    outputs = CandidateOutput.objects.select_related("document__project", "system")
    output = get_object_or_404(outputs, document__project=project, pk=pk)
    with noticing(request, StillInUseError):
        remove_output(output)
        note_detail(request, f"{output.system.name} for {output.document.doc_id}")
        messages.success(request, f"The output of {output.system.name} was removed.")
    return redirect(output.document)


@reads("page")
@project_view(READERS)
def system_list(request: HttpRequest, project: Project) -> HttpResponse:
    page = Paginator(project.systems.order_by("pk"), SYSTEMS_A_PAGE).get_page(
        request.GET.get("page")
    )
    shown = project.systems.filter(pk__in=[system.pk for system in page]).order_by("pk")
    systems = SystemFormSet(queryset=shown, prefix="system")
    judges = JudgeFormSet(queryset=project.judges.order_by("pk"), prefix="judge")
    return _show_systems(request, project, systems, judges, page=page)


@project_action(EDITORS)
def system_change(request: HttpRequest, project: Project) -> HttpResponse:
    systems = SystemFormSet(request.POST, queryset=project.systems.all(), prefix="system")
    judges = JudgeFormSet(request.POST, queryset=project.judges.all(), prefix="judge")
    if not (systems.is_valid() and judges.is_valid()):
        return _show_systems(request, project, systems, judges)
    keep_families(project, systems=systems.save(commit=False), judges=judges.save(commit=False))
    messages.success(request, "Saved. Reports use it from now on.")
    return redirect("evaluations:system_list", project.slug)


def _show_systems(
    request: HttpRequest, project: Project, systems: Any, judges: Any, page: Any = None
) -> HttpResponse:
    context = {
        "project": project,
        "tab": "data",
        "systems": systems,
        "judges": judges,
        "page": page,
        "system_rows": [
            (form, Family.of(form.instance.family, form.instance.name)) for form in systems
        ],
        "judge_rows": [(form, family_of_judge(form.instance)) for form in judges],
    }
    return render(request, "evaluations/system_list.html", context)
