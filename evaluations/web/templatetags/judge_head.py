"""The head that the pages of a judge share."""

from typing import Any

from django import template

from evaluations.pages.judges import judge_tabs
from evaluations.reports.data import usual_options
from evaluations.reports.serving.view import report_view
from geval.reports.judge_standing import judge_standings, verdict_lines

register = template.Library()


@register.inclusion_tag("evaluations/judge_head.html", takes_context=True)
def judge_head(context: dict[str, Any]) -> dict[str, Any]:
    """Show a judge's name, its verdicts in a line, the main button and the tabs."""
    request, judge = context["request"], context["judge"]
    page = request.resolver_match.url_name
    view = report_view(judge.project, usual_options(judge.project))
    has_standings = view.is_at_hand and view.has_numbers
    standings = judge_standings(view.numbers().report, judge.pk) if has_standings else []
    return {
        "request": request,
        "project": judge.project,
        "judge": judge,
        "headline": verdict_lines(standings),
        # The first tab fetches it with its table.
        "is_to_come": not view.is_at_hand and page != "judge_detail",
        "tabs": [
            (tab.name, tab.address(judge), page in tab.views)
            for tab in judge_tabs(judge, may_edit=request.may_edit)
        ],
    }
