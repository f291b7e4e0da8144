"""Pages of a run's items: the list by state and reason, an item's prompt, reply and explanation."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluations.judging.runs.errands import request_explanation
from evaluations.models import EvaluationRun, Explanation, ItemState, Project, RunItem, Score
from evaluations.pages.runs.item import item_view
from evaluations.pages.runs.run_items import PAGE_SIZE, SORTS, ItemsView, count_items, item_rows
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.web.views.errands import shown_errand


@project_view(READERS)
def item_list(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun.objects.select_related("judge"), project=project, pk=pk)
    view = ItemsView.of(request.GET)
    page = Paginator(range(count_items(run, view)), PAGE_SIZE).get_page(request.GET.get("page"))
    reasons = run.items.filter(state=ItemState.FAILED).order_by("reason")
    context = {
        "project": project,
        "tab": "runs",
        "run": run,
        "page": page,
        "view": view,
        "rows": item_rows(run, view, page=page.number),
        "states": ItemState.choices,
        "reasons": reasons.values_list("reason", flat=True).distinct(),
        "criteria": run.judged_criteria(),
        "systems": project.systems.order_by("name"),
        "sorts": SORTS,
    }
    return render(request, "evaluations/item_list.html", context)


@project_view(READERS)
def item_detail(request: HttpRequest, project: Project, run: int, pk: int) -> HttpResponse:
    item = _item(project, run, pk)
    view = item_view(item)
    explanation = Explanation.objects.filter(score=view.score).first() if view.score else None
    context = {"project": project, "tab": "runs", "run": item.run, "item": item, "view": view}
    context["explanation"] = explanation
    if explanation and explanation.is_open:
        context["shown_errand"] = shown_errand("explanation", explanation)
    return render(request, "evaluations/item_detail.html", context)


@require_POST
@project_view(EDITORS)
def item_explain(_request: HttpRequest, project: Project, run: int, pk: int) -> HttpResponse:
    item = _item(project, run, pk)
    score = get_object_or_404(Score, run=item.run, output=item.output, criterion=item.criterion)
    request_explanation(score)
    return redirect("evaluations:item_detail", project.slug, run, pk)


def _item(project: Project, run: int, pk: int) -> RunItem:
    items = RunItem.objects.select_related(
        "run__judge__endpoint",
        "output__document",
        "output__system",
        "criterion",
        "rival__system",
        "reply",
    )
    return get_object_or_404(items, run__project=project, run_id=run, pk=pk)
