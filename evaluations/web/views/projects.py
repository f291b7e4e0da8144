"""Pages of projects: the list, create, import, and a project's overview."""

import tempfile
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from evaluations.corpus.locks.locking import lock_in_words
from evaluations.models import Project, Role
from evaluations.models.sizes import with_sizes
from evaluations.pages.home import Home, home_of, report_step, steps_of
from evaluations.pages.jobs import jobs_of
from evaluations.people.access import (
    EDITORS,
    EVERYONE,
    OWNERS,
    READERS,
    project_action,
    project_view,
    why_not_call_out,
)
from evaluations.people.activity import recent_activity
from evaluations.people.audit import note_detail
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.projects.archiving import archive, restore
from evaluations.projects.deletion import DeletionError, delete_project
from evaluations.reports.data import usual_options
from evaluations.reports.serving.live import data_version
from evaluations.reports.serving.parts import ReportView
from evaluations.reports.serving.view import report_view
from evaluations.web.forms.projects import ArchiveForm, DeletionForm, FormatsForm, ProjectForm
from evaluations.web.notices import show_form
from evaluations.web.parameters import PSEUDONYMS, reads, wants_pseudonyms
from evaluations.web.revisions import locked
from geval.files.archive.record_file import ArchiveError


@login_required
def project_list(request: HttpRequest) -> HttpResponse:
    projects = with_sizes(Project.objects.seen_by(request.user))
    context = {
        "projects": [project for project in projects if not project.archived_at],
        "archived": [project for project in projects if project.archived_at],
    }
    return render(request, "evaluations/project_list.html", context)


@project_action(OWNERS, archived=True)
def project_archive(request: HttpRequest, project: Project) -> HttpResponse:
    """Archive a project, or restore it."""
    bring_back = "back" in request.POST
    (restore if bring_back else archive)(project)
    note_detail(request, "restored" if bring_back else "archived")
    return redirect(project)


@project_view(OWNERS, archived=True)
def project_delete(request: HttpRequest, project: Project) -> HttpResponse:
    """Delete an archived project for good."""
    form = DeletionForm(request.POST or None, project=project)
    if form.is_valid():
        try:
            delete_project(project, user=request.user, by=request.user.get_username())
        except DeletionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{project} is deleted.")
            return redirect("evaluations:project_list")
    context = {
        "project": with_sizes([project])[0],
        "form": form,
        "tab": "overview",
    }
    status = 422 if form.errors else 200
    return render(request, "evaluations/project_delete.html", context, status=status)


@project_view(EDITORS)
@transaction.atomic
def project_formats(request: HttpRequest, project: Project) -> HttpResponse:
    """How the project's texts are shown."""
    project = locked(Project.objects.all(), pk=project.pk)
    form = FormatsForm(request.POST or None, instance=project)
    if form.is_valid():
        form.save()
        messages.success(request, "Saved. Pages show texts in their formats.")
        return redirect("evaluations:document_list", project.slug)
    context = {"project": project, "tab": "data", "form": form}
    return show_form(request, "evaluations/project_formats.html", context)


@login_required
def project_create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if form.is_valid():
        return redirect(Project.objects.make(**form.cleaned_data, owner_id=request.user.pk or 0))
    return show_form(request, "evaluations/project_create.html", {"form": form})


@login_required
def project_import(request: HttpRequest) -> HttpResponse:
    """Create a project from an archive; the user who imports it owns it."""
    form = ArchiveForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            with transaction.atomic():
                path = Path(form.cleaned_data["file"].temporary_file_path())
                owner = {"user_id": request.user.pk or 0, "role": Role.OWNER}
                project = read_archive(
                    path, anew=True, give_to=lambda made: made.memberships.create(**owner)
                )
                if why_not_call_out(request.user, Role.OWNER):
                    # Its endpoints are addresses from the archive; a person with the right to enter
                    # addresses has to restore them.
                    project.endpoints.filter(retired_at=None).update(retired_at=timezone.now())
        except (ArchiveError, ValidationError) as error:
            form.add_error(None, error if isinstance(error, ValidationError) else str(error))
        else:
            messages.success(request, f"{project} is imported. {lock_in_words(project)}".strip())
            return redirect(project)
    status = 422 if form.errors else 200
    return render(request, "evaluations/project_import.html", {"form": form}, status=status)


@reads(PSEUDONYMS)
@project_view(EDITORS)
def project_export(request: HttpRequest, project: Project) -> Any:
    """Download the whole project as one file; with `?pseudonyms`, without annotators' names."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it when it is sent)
    write_archive(project, file, pseudonyms=wants_pseudonyms(request, usually=False))
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{project.slug}.zip")


@project_view(EVERYONE)
def project_detail(request: HttpRequest, project: Project) -> HttpResponse:
    if request.role not in READERS:  # type: ignore[attr-defined]
        return redirect(
            "annotations:campaign_list", project.slug
        )  # everything that an annotator sees of a project
    jobs = jobs_of(project)
    report = report_view(project, usual_options(project))
    context: dict[str, Any] = {"project": project, "cached": report.cached}
    if report.is_at_hand:
        context = _standing(report)
    home: Home | None = context.get("home")
    may_edit: bool = request.may_edit  # type: ignore[attr-defined]
    context |= {
        "tab": "overview",
        "jobs": jobs,
        "steps": steps_of(project, jobs, home.glance if home else None, may_edit=may_edit),
        "activity": recent_activity(project) if may_edit else [],
        "version": data_version(project),
    }
    return render(request, "evaluations/project_detail.html", context)


@project_view(READERS)
def project_standing(request: HttpRequest, project: Project) -> HttpResponse:
    """The verdicts, fetched by the home page if they take longer than a moment."""
    context = _standing(report_view(project, usual_options(project)))
    home: Home | None = context.get("home")
    context |= {"step": report_step(project, home.glance if home else None), "is_fetched": True}
    return render(request, "evaluations/home_standing.html", context)


def _standing(report: ReportView) -> dict[str, Any]:
    """Return the context for showing a project's verdicts."""
    context: dict[str, Any] = {
        "project": report.project,
        "options": report.options,
        "cached": report.cached,
        "base": reverse("evaluations:report_detail", args=[report.project.slug]),
    }
    return context | {"home": home_of(report.numbers().report)} if report.has_numbers else context
