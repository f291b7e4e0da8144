"""A project's usage, for members who may change it, and the whole site's, for its
administrators."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import structlog
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from evaluations.models import Project, ProjectLimits
from evaluations.operations.overview import site_at_a_glance
from evaluations.people.access import EDITORS, project_view
from evaluations.people.limits import allowances
from evaluations.web.forms.projects import LimitsForm

log = structlog.stdlib.get_logger(__name__)


def administrators_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Restrict a view to superusers; other signed-in users are refused."""

    @login_required
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_superuser:
            raise PermissionDenied("Only administrators of this site see this page.")
        return view(request, *args, **kwargs)

    return checked


@project_view(EDITORS)
def project_usage(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"project": project, "tab": "members", "allowances": allowances(project)}
    return render(request, "evaluations/project_usage.html", context)


@administrators_only
def site_overview(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluations/site_overview.html", {"site": site_at_a_glance()})


@administrators_only
def limits_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """A project's own limits, with its usage."""
    project = get_object_or_404(Project, pk=pk)
    limits = ProjectLimits.objects.filter(project=project).first() or ProjectLimits(project=project)
    form = LimitsForm(request.POST or None, instance=limits)
    if request.method == "POST" and form.is_valid():
        form.save()
        log.info("limits changed", project=project.slug, user=request.user.pk, **form.cleaned_data)
        messages.success(request, f"The limits of {project} are changed.")
        return redirect("evaluations:site_overview")
    # Not as `project`: an administrator who is not a member gets none of its tabs.
    context = {"limited": project, "form": form, "allowances": allowances(project)}
    status = 422 if form.errors else 200
    return render(request, "evaluations/limits_edit.html", context, status=status)
