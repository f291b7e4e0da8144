"""HTTP API of disagreements between judges and people, and of their causes."""

from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router

from assurance.disagreements.causes import as_jsonl
from assurance.disagreements.numbers import GAPS, largest_gaps_as_rows
from evaluations.reports.serving.parts import NotComputedError
from evaluations.reports.serving.view import page_view
from evaluations.web.api.auth import project_for
from evaluations.web.api.corpus import LINES
from evaluations.web.api.runs import ReportProgress, criteria_named, not_computed
from evaluations.web.api.schemas import LARGEST_ID, In
from geval.reports.gap_list import MOST_GAPS, USUAL_GAPS, GapRow
from geval.reports.gap_view import GapView
from geval.reports.options import ReportOptions

router = Router()


class GapQuery(In):
    """`judge` 0 is the best one, as the report has it, an empty `criterion` the first with
    a judge."""

    judge: int = Field(0, ge=0, le=LARGEST_ID)
    criterion: str = Field("", max_length=100)
    by: str = Field("gap", pattern="^(gap|shifted|apart)$")
    most: int = Field(USUAL_GAPS, ge=1, le=MOST_GAPS)


@router.get("/disagreements", response={200: list[GapRow], 202: ReportProgress})
def get_disagreements(
    request: HttpRequest, response: HttpResponse, slug: Path[str], query: Query[GapQuery]
) -> Any:
    """The outputs on which a judge and people differ most, with their texts, the largest gap first.
    202 with Retry-After while a worker computes them, in a large project."""
    project = project_for(request, slug)
    criterion = criteria_named(project, [query.criterion])[0].pk if query.criterion else 0
    if query.judge:
        get_object_or_404(project.judges, pk=query.judge)
    view = GapView(ReportOptions(), criterion=criterion, judge=query.judge, by=query.by)
    try:
        numbers = page_view(project, GAPS, view).needed("page")
    except NotComputedError as error:
        return not_computed(error.cached, response)
    return largest_gaps_as_rows(project, numbers, query.most)


@router.get("/causes", openapi_extra=LINES, tags=["corpus"])
def get_causes(request: HttpRequest, slug: Path[str], pseudonyms: bool = False) -> Any:
    """Why judges and people differ, as members found: all causes, one JSON object per line."""
    lines = as_jsonl(project_for(request, slug), pseudonyms=pseudonyms)
    return StreamingHttpResponse(lines, content_type="application/x-ndjson")
