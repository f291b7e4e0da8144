"""The list of projects, a new one, and a project's overview."""

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotations.models import Rating
from evaluations.access import EVERYONE, READERS, project_view
from evaluations.forms import ProjectForm
from evaluations.models import CandidateOutput, Project, Role
from evaluations.reports.options import ReportOptions
from evaluations.reports.page import report_now


@login_required
def project_list(request: HttpRequest) -> HttpResponse:
    projects = Project.objects.seen_by(request.user).with_counts()
    return render(request, "evaluations/project_list.html", {"projects": projects})


@login_required
def project_create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if form.is_valid():
        with transaction.atomic():
            project = form.save()
            project.memberships.create(user=request.user, role=Role.OWNER)
        return redirect(project)
    return render(request, "evaluations/project_create.html", {"form": form})


@project_view(EVERYONE)
def project_detail(request: HttpRequest, project: Project) -> HttpResponse:
    if request.role not in READERS:  # type: ignore[attr-defined]
        return redirect("annotations:campaign_list", project.slug)  # all that an annotator sees of a project
    rated = Rating.objects.filter(annotator=OuterRef("pk"))
    return render(
        request,
        "evaluations/project_detail.html",
        {
            "project": project,
            "tab": "overview",
            "report": report_now(project, ReportOptions())[0],
            "counts": {
                "documents": project.documents.count(),
                "systems": project.systems.count(),
                "outputs": CandidateOutput.objects.of_project(project).count(),
                "criteria": project.criteria.count(),
                "ratings": Rating.objects.filter(annotator__project=project).count(),
                "annotators": project.annotators.filter(Exists(rated)).count(),
            },
            "runs": project.runs.of_judges_that_run().select_related("judge")[:5],
        },
    )
