"""HTTP API of two judges compared."""

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from assurance.two_judges.page import two_judges
from assurance.two_judges.pair_figures import seen_by_search
from evaluations.reports.serving.parts import NotComputedError
from evaluations.web.api.auth import project_for
from geval.reports.options import ReportOptions
from geval.reports.pair_differences import difference_json
from geval.reports.pairs import PairView

router = Router()


@router.get("/judge-tests", response={200: dict[str, Any], 202: dict[str, Any]})
def get_judge_tests(
    request: HttpRequest, slug: Path[str], first: Query[int], second: Query[int]
) -> Any:
    """Which of two judges ranks outputs more like people, by criterion: the difference of their
    correlations (the first's less the second's) with its interval. `summary` says it in words, with
    what the dearer judge gives for its price. 202 while a worker computes the numbers of a large
    project: ask again."""
    project = project_for(request, slug)
    judges = [get_object_or_404(project.judges, pk=pk) for pk in (first, second)]
    try:
        pair = two_judges(project, PairView(ReportOptions(), first, second))
    except NotComputedError as error:
        return Status(202, {"detail": error.cached.in_words})
    seen = seen_by_search(project, judges)
    criteria = {
        row.criterion: difference_json(row, seen[row.criterion]) for row in pair.differences
    }
    costs = [
        {
            "judge": cost.judge,
            "items": cost.items,
            "money": None if cost.money is None else float(cost.money),
            "minutes": cost.minutes,
        }
        for cost in pair.costs
    ]
    return {"summary": pair.lead, "costs": costs, "criteria": criteria}
