"""Pages of endpoints: details with probe findings, create, change, probe and retire."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from evaluations.judging.judges.clients import findings_of
from evaluations.judging.judges.judges import retire, save_endpoint
from evaluations.judging.runs.accounts import warn_of_key
from evaluations.judging.runs.errands import request_models, request_probe
from evaluations.models import Endpoint, ModelProbe, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_refusal
from evaluations.web.forms.judges import EndpointForm, ProbeForm
from evaluations.web.notices import show_form
from evaluations.web.revisions import locked, sent
from evaluations.web.views.errands import shown_errand
from geval.llm.findings import findings_rows


@project_view(READERS)
def endpoint_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    return render(request, "evaluations/endpoint_detail.html", _context(project, endpoint))


@project_view(EDITORS, calls_out=True)
def endpoint_create(request: HttpRequest, project: Project) -> HttpResponse:
    return _edit(request, project, None, EndpointForm(request.POST or None))


@project_view(EDITORS, calls_out=True)
@transaction.atomic
def endpoint_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = locked(project.endpoints.all(), pk=pk)
    return _edit(request, project, endpoint, EndpointForm.of(endpoint, sent(request)))


def _edit(
    request: HttpRequest, project: Project, endpoint: Endpoint | None, form: EndpointForm
) -> HttpResponse:
    """Save a form's endpoint, new or changed, or show the form with its errors."""
    if form.is_valid():
        try:
            saved = save_endpoint(project, form.draft(), endpoint=endpoint)
        except ValidationError as error:
            note_refusal(request, error)
            form.take_errors(error)
        else:
            return _saved(request, saved, "saved" if endpoint else "created")
    context = {"project": project, "tab": "judges", "form": form, "endpoint": endpoint}
    return show_form(request, "evaluations/endpoint_form.html", context)


def _saved(request: HttpRequest, endpoint: Endpoint, outcome: str) -> HttpResponse:
    """Redirect to the endpoint's page, which shows its models as soon as a worker has listed
    them."""
    messages.success(request, f"{endpoint} is {outcome}.")
    if warning := warn_of_key(endpoint):
        messages.warning(request, warning)
    if not endpoint.retired_at:
        request_models(endpoint)
    return redirect(endpoint)


@project_action(EDITORS)
def endpoint_probe(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    form = ProbeForm(request.POST, suggestions=endpoint.suggested_models)
    if endpoint.retired_at:
        form.add_error(None, "This endpoint is retired, so it cannot be probed. Restore it first.")
    if "models" in request.POST and not form.non_field_errors():
        request_models(endpoint)
        return redirect(endpoint)
    if form.is_valid():
        request_probe(endpoint, form.cleaned_data["model"].strip())
        return redirect(endpoint)
    context = _context(project, endpoint) | {"form": form}
    return render(request, "evaluations/endpoint_detail.html", context, status=422)


@project_action(EDITORS, calls_out=True)
def endpoint_retire(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    retire(endpoint, back=bool(endpoint.retired_at))
    return redirect(endpoint)


def _context(project: Project, endpoint: Endpoint) -> dict[str, object]:
    judges = endpoint.judges.all()
    model = judges[0].model if judges else ""
    probes = [_shown_probe(probe) for probe in endpoint.probes.select_related("endpoint")]
    return {
        "project": project,
        "tab": "judges",
        "endpoint": endpoint,
        "judges": judges,
        "form": ProbeForm(initial={"model": model}, suggestions=endpoint.suggested_models),
        "listing": next((entry for entry in probes if not entry["probe"].model), None),
        "probes": [entry for entry in probes if entry["probe"].model],
    }


def _shown_probe(probe: ModelProbe) -> dict[str, Any]:
    return {
        "probe": probe,
        "shown_errand": shown_errand("probe", probe) if probe.is_open else None,
        "rows": findings_rows(findings_of(probe)) if probe.findings else None,
    }
