"""The part of a page that polls until a worker has an endpoint's answer."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.judging.runs.errands import KINDS
from evaluations.models import (
    Errand,
    Explanation,
    ModelProbe,
    Project,
    StepsRequest,
    WorkerHeartbeat,
)
from evaluations.people.access import READERS, project_view
from evaluations.web.notices import STOP_POLLING
from evaluations.web.parameters import reads

# What to do once the answer has arrived: reload the page, submit its form, or only say so.
ENDINGS = ("refresh", "submit", "say")


@reads("then")
@project_view(READERS)
def errand_state(request: HttpRequest, project: Project, kind: str, pk: int) -> HttpResponse:
    if kind not in KINDS:
        raise Http404("There is no such request.")
    model = KINDS[kind].model
    errand = model.objects.filter(**{model.PROJECT: project.pk}, pk=pk).first()
    if errand is None:
        raise Http404("There is no such request.")
    ending = request.GET.get("then", "refresh")
    shown = shown_errand(kind, errand, then=ending if ending in ENDINGS else "refresh")
    response = render(
        request, "evaluations/errand.html", {"project": project, "shown_errand": shown}
    )
    if not errand.is_open:
        response.status_code = STOP_POLLING
        if ending == "refresh":
            response["HX-Refresh"] = "true"
    return response


def shown_errand(kind: str, errand: Errand, *, then: str = "refresh") -> dict[str, Any]:
    """Return what `errand.html` shows about a request, as `shown_errand`."""
    return {
        "kind": kind,
        "errand": errand,
        "pk": errand.pk,
        "text": _text(errand),
        "then": then,
        "worker_alive": WorkerHeartbeat.objects.doing("quick").exists(),
    }


def _text(errand: Errand) -> str:
    match errand:
        case ModelProbe(model=""):
            return f"Asking {errand.endpoint} which models it has"
        case ModelProbe():
            return f"Probing what {errand.endpoint} can do with {errand.model}"
        case StepsRequest():
            return f"{errand.judge.model} is writing {errand.what}"
        case Explanation():
            return "Asking the model to explain its score"
    raise AssertionError(errand)
