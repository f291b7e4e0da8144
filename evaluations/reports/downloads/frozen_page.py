"""A report's page as a self-contained file, to be kept for years: text, tables and drawings.

Scripts, forms and links would not outlive the site, so it contains none.
"""

from html import escape
from pathlib import Path

import nh3
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from evaluations.reports.chosen_figures import ChosenFigures
from evaluations.reports.serving.parts import ReportView

STYLES = ("css/tokens.css", "css/site.css")
# Interactive elements are removed, as in print.
OWN_STYLE = ".no-print { display: none; } main { padding-top: 1rem; }"
# The page is shown in a sandbox and may load nothing; its own style is inline.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_TEXT = {
    "article", "b", "br", "caption", "code", "col", "colgroup", "dd", "details", "div", "dl", "dt",
    "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "li", "main", "ol", "p", "section",
    "small", "span", "strong", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "time",
    "tr", "ul",
}  # fmt: skip
_DRAWINGS = {
    "circle", "clipPath", "defs", "desc", "ellipse", "g", "line", "path", "polygon", "polyline",
    "rect", "svg", "symbol", "text", "title", "tspan", "use",
}  # fmt: skip
_WITH_CONTENT = {"button", "form", "nav", "option", "script", "select", "style"}
_ATTRIBUTES = {
    "aria-hidden", "aria-label", "class", "clip-path", "colspan", "cx", "cy", "d", "datetime",
    "dir", "dx", "dy", "fill", "fill-opacity", "font-size", "font-weight", "height", "id", "lang",
    "lengthAdjust", "open", "points", "preserveAspectRatio", "r", "role", "rowspan", "rx", "ry",
    "scope", "stroke", "stroke-dasharray", "stroke-width", "tabindex", "text-anchor", "textLength",
    "title", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
}  # fmt: skip


def frozen_page(view: ReportView, *, sha256: str) -> str:
    """Return the page of a view as HTML.

    Args:
        sha256: digest of the JSON stored with the page, which the page states.

    Raises:
        NotComputedError: a worker is still computing the view.
    """
    project, page = view.project, view.page()
    criteria = list(project.criteria.all())
    figures = [
        ChosenFigures(
            view,
            criteria,
            criterion_pk=result.pk,
            judge_pk=None,
            base="",
            may_open=False,
        )
        for result in page.report.criteria
        if result.judges
    ]
    body = render_to_string(
        "evaluations/report_frozen.html",
        {
            "project": project,
            "page": page,
            "options": view.options,
            "criteria": page.report.criteria,
            "rows": page.glance.rows,
            "cautions": page.cautions,
            "ties": page.ties,
            "figures_of_criteria": figures,
            "base": "",
            "frozen": True,
            "sha256": sha256,
        },
    )
    title = escape(f"{project.name}: which judge may rate what ({sha256[:12]})")
    style = "\n".join([*map(_sheet, STYLES), OWN_STYLE])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body>{_without_what_acts(body)}</body></html>\n"
    )


def _without_what_acts(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TEXT | _DRAWINGS,
        clean_content_tags=_WITH_CONTENT,
        attributes={"*": _ATTRIBUTES, "use": {"href"}},
        url_schemes=set(),
        link_rel=None,
    )


def _sheet(name: str) -> str:
    path = finders.find(name)
    if path is None:
        raise FileNotFoundError(f"{name} is missing from the installed package.")
    return Path(path).read_text(encoding="utf-8")
