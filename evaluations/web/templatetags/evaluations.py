"""Template tags and filters for a report's numbers."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluations.models import Project
from evaluations.models.improving import withheld_documents
from evaluations.people.languages import counted
from evaluations.reports.chosen_figures import downloads_of
from geval.reports.figures import FIGURE_TITLES
from geval.reports.glossary import TERMS, Term
from geval.reports.options import HUMAN_SCORES, ReportOptions
from geval.reports.page import estimate_cells, ppi_rows, rate_rows, share_of
from geval.reports.report import JudgeResult
from geval.reports.words import (
    SYMBOLS,
    chosen_note,
    groups_note,
    human_score_note,
    in_a_sentence,
    in_sight_note,
    left_out_in_words,
    same_documents_note,
    sessions_note,
    tested_over,
    unseen_in_words,
    weights_note,
    withheld_note,
)
from geval.statistics.consensus import HumanScore
from geval.statistics.correlation import Coefficient
from geval.texts.numbers import (
    in_brackets,
    in_time,
    money,
    p_value,
    shown,
    signed,
    thin,
    two_decimals,
    whole_percent,
    with_decimals,
)

register = template.Library()
# Functions of the library, for templates.
FILTERS: dict[str, Callable[..., Any]] = {
    "brackets": in_brackets,
    "chosen_note": chosen_note,
    "counted": counted,
    "estimate": shown,
    "estimate_cells": estimate_cells,
    # Django's own number filter takes many times as long, and pages show hundreds of numbers.
    "fixed": with_decimals,
    "human_score_note": human_score_note,
    "in_sight": in_sight_note,
    "in_time": in_time,
    "left_out_in_words": left_out_in_words,
    "money": money,
    "p_value": p_value,
    "percent": whole_percent,
    "ppi_rows": ppi_rows,
    "rate_rows": rate_rows,
    "same_documents_note": same_documents_note,
    "sentence": in_a_sentence,
    "sessions_note": sessions_note,
    "groups_note": groups_note,
    "share_of": share_of,
    "signed": signed,
    "tested_over": tested_over,
    "thin": thin,
    "two_decimals": two_decimals,
    "unseen_in_words": unseen_in_words,
    "weights_note": weights_note,
    "withheld_note": withheld_note,
}
for _name, _function in FILTERS.items():
    register.filter(_name, _function)


@register.simple_tag
def what_is(term: str) -> SafeString:
    """Return a question mark that opens a term's explanation, which `glossary` adds to the page."""
    return format_html(
        '<button class="what-is" type="button" popovertarget="what-is-{}"'
        ' aria-label="What is this? {}">?</button>',
        term,
        TERMS[term].name,
    )


@register.inclusion_tag("includes/glossary.html")
def glossary() -> dict[str, list[tuple[str, Term]]]:
    """Return the explanations of all terms, hidden until requested."""
    return {"terms": list(TERMS.items())}


@register.inclusion_tag("includes/withheld_some.html")
def withheld_some(project: Project) -> dict[str, Any]:
    """Return a note of how many documents' ratings a page leaves out."""
    return {"project": project, "withheld": len(withheld_documents(project.pk))}


@register.filter
def in_view(result: JudgeResult, options: ReportOptions) -> str:
    """Return a judge's correlation at a view's level and with its coefficient."""
    return shown(result.shown(options))


@register.filter
def fixed_or_dash(number: float | None, places: int = 2) -> str:
    """Format a number with decimals, or a dash if there is none."""
    return "–" if number is None else with_decimals(number, places)


@register.filter
def brief(number: float) -> str:
    """Format a number with no more decimals than it needs, two at most: 4, 3.5."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@register.filter
def ago(moment: datetime) -> SafeString:
    """Return how long ago a moment was, with the full time on hover."""
    local = timezone.localtime(moment)
    full = date_format(local, "DATETIME_FORMAT")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), full, naturaltime(moment)
    )


@register.filter
def starts_with(text: str, beginning: str) -> bool:
    """Whether a text begins with another."""
    return text.startswith(beginning)


@register.filter
def attribute(record: object, name: str) -> object:
    """Return the attribute of an option of the report, by name."""
    return getattr(record, name)


@register.filter
def human_score(kind: HumanScore) -> str:
    """Return the name of a human score as a choice."""
    return HUMAN_SCORES[kind][0]


@register.filter
def symbol(coefficient: Coefficient) -> str:
    """Return the symbol of a coefficient, such as rho for spearman."""
    return SYMBOLS[coefficient]


@register.filter
def figure_title(kind: str) -> str:
    """Return the title of a figure."""
    return FIGURE_TITLES[kind]


register.simple_tag(downloads_of, name="figure_downloads")
