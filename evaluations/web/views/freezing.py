"""Frozen reports: created by editors from their current view, read by members."""

import hashlib

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from evaluations.models import Project, ReportSnapshot
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.reports.data import options_of
from evaluations.reports.downloads.frozen_page import POLICY, frozen_page
from evaluations.reports.serving.parts import NotComputedError
from evaluations.reports.serving.view import report_view
from evaluations.web.forms.projects import SnapshotForm
from evaluations.web.notices import refuse
from evaluations.web.parameters import REPORT, reads

# Length of a hash's prefix that identifies one of a project's snapshots.
LEAST_CHARACTERS = 8


@project_action(EDITORS)
def snapshot_create(request: HttpRequest, project: Project) -> HttpResponse:
    """Freeze the current view; equal numbers give the same snapshot."""
    form = SnapshotForm(request.POST)
    if not form.is_valid():
        refuse(request, "The note is too long; the limit is 300 characters.")
        return redirect("evaluations:report_detail", project.slug)
    options, errors = options_of(QueryDict(form.cleaned_data["query"]), project)
    if errors:
        refuse(request, f"Nothing was frozen. {' '.join(errors)}")
        return redirect("evaluations:report_detail", project.slug)
    try:
        view = report_view(project, options, pseudonyms=True)
        content = view.needed("download", "json")
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        page = frozen_page(view, sha256=sha256)
    except NotComputedError as error:
        refuse(request, f"{error.cached.in_words} Freeze it once it shows numbers.")
        return redirect("evaluations:report_detail", project.slug)
    snapshot, made = ReportSnapshot.objects.get_or_create(
        project=project,
        sha256=sha256,
        defaults={
            "content": content,
            "page": page,
            "query": options.query,
            "note": form.cleaned_data["note"],
            "made_by": request.user if request.user.is_authenticated else None,
        },
    )
    messages.success(
        request, "The report is frozen." if made else "These numbers are already frozen."
    )
    return redirect(snapshot)


@reads(*REPORT, "sha256")
@project_view(READERS)
def snapshot_list(request: HttpRequest, project: Project) -> HttpResponse:
    """All frozen reports; if exactly one hash begins with the query, it opens at once."""
    wanted = request.GET.get("sha256", "").strip().lower()
    snapshots = project.snapshots.listed()
    matching = snapshots.filter(sha256__startswith=wanted) if wanted else snapshots
    if len(wanted) >= LEAST_CHARACTERS and len(matching) == 1:
        return redirect(matching[0])
    options, _errors = options_of(request.GET, project)
    context = {
        "project": project,
        "tab": "report",
        "options": options,
        "snapshots": matching,
        "wanted": wanted,
    }
    return render(request, "evaluations/snapshot_list.html", context)


@reads("download")
@project_view(READERS)
def snapshot_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    snapshot = get_object_or_404(ReportSnapshot, project=project, pk=pk)
    if "download" in request.GET:
        response = HttpResponse(snapshot.content, "application/json")
        name = f"{project.slug}-{snapshot}.json"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response
    options, _errors = options_of(QueryDict(snapshot.query), project)
    context = {"project": project, "tab": "report", "snapshot": snapshot, "options": options}
    return render(request, "evaluations/snapshot_detail.html", context)


@reads("download")
@project_view(READERS)
def snapshot_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The page as it was when the report was frozen."""
    snapshot = get_object_or_404(project.snapshots.exclude(page=""), pk=pk)
    response = HttpResponse(snapshot.page)
    response["Content-Security-Policy"] = POLICY
    if "download" in request.GET:
        name = f"{project.slug}-{snapshot}.html"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
