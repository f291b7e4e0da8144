"""Pages of endpoints: details with probe findings, create, change, probe and retire."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluations.judging.judges.findings import findings_of
from evaluations.judging.judges.judges import retire, save_endpoint
from evaluations.judging.runs.errands import request_probe
from evaluations.models import Endpoint, ModelProbe, Project
from evaluations.pages.runs.findings import findings_rows
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.people.audit import note_refusal
from evaluations.web.forms import EndpointForm, ProbeForm
from evaluations.web.views.errands import shown_errand


@project_view(READERS)
def endpoint_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    return render(request, "evaluations/endpoint_detail.html", _context(project, endpoint))


@project_view(EDITORS, calls_out=True)
def endpoint_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = EndpointForm(request.POST or None)
    if form.is_valid():
        try:
            endpoint = save_endpoint(project, form.draft())
        except ValidationError as error:
            note_refusal(request, error)
            form.take_errors(error)
        else:
            messages.success(
                request, f"{endpoint} is created. Probe a model on it, or create a judge."
            )
            return redirect(endpoint)
    context = {"project": project, "tab": "judges", "form": form}
    return render(
        request, "evaluations/endpoint_form.html", context, status=422 if form.errors else 200
    )


@project_view(EDITORS, calls_out=True)
def endpoint_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    form = (
        EndpointForm(request.POST, endpoint=endpoint)
        if request.method == "POST"
        else EndpointForm.of(endpoint)
    )
    if request.method == "POST" and form.is_valid():
        try:
            save_endpoint(project, form.draft(), endpoint=endpoint)
        except ValidationError as error:
            note_refusal(request, error)
            form.take_errors(error)
        else:
            messages.success(request, f"{endpoint} is saved.")
            return redirect(endpoint)
    context = {"project": project, "tab": "judges", "form": form, "endpoint": endpoint}
    return render(
        request, "evaluations/endpoint_form.html", context, status=422 if form.errors else 200
    )


@require_POST
@project_view(EDITORS)
def endpoint_probe(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    form = ProbeForm(request.POST, suggestions=endpoint.suggested_models)
    if endpoint.retired_at:
        form.add_error(None, "This endpoint is retired, so it cannot be probed. Restore it first.")
    if form.is_valid():
        request_probe(endpoint, form.cleaned_data["model"].strip())
        return redirect(endpoint)
    context = _context(project, endpoint) | {"form": form}
    return render(request, "evaluations/endpoint_detail.html", context, status=422)


@require_POST
@project_view(EDITORS, calls_out=True)
def endpoint_retire(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(Endpoint, project=project, pk=pk)
    retire(endpoint, back=bool(endpoint.retired_at))
    return redirect(endpoint)


def _context(project: Project, endpoint: Endpoint) -> dict[str, object]:
    judges = endpoint.judges.all()
    model = judges[0].model if judges else ""
    return {
        "project": project,
        "tab": "judges",
        "endpoint": endpoint,
        "judges": judges,
        "form": ProbeForm(initial={"model": model}, suggestions=endpoint.suggested_models),
        "probes": [_shown_probe(probe) for probe in endpoint.probes.select_related("endpoint")],
    }


def _shown_probe(probe: ModelProbe) -> dict[str, object]:
    return {
        "probe": probe,
        "shown_errand": shown_errand("probe", probe) if probe.is_open else None,
        "rows": findings_rows(findings_of(probe)) if probe.findings else None,
    }
