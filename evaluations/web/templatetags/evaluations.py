"""Template tags and filters for a report's numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluations.people.languages import counted
from evaluations.reports.chosen_figures import downloads_of
from geval.reports.figures import FIGURE_TITLES
from geval.reports.glossary import TERMS, Term
from geval.reports.options import HUMAN_SCORES, ReportOptions
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.words import (
    SYMBOLS,
    chosen_note,
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
from geval.statistics.correlation import COEFFICIENTS, Coefficient, Level
from geval.statistics.passing import SystemRate
from geval.statistics.ppi import SystemMean
from geval.statistics.resampling import Interval
from geval.statistics.results import Estimate
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


@dataclass(frozen=True)
class TableNumber:
    """A number as shown in the table, with the reason if it is undefined."""

    text: str
    reason: str
    begins_group: bool
    interval: str


@register.simple_tag
def what_is(term: str) -> SafeString:
    """A question mark that opens a term's explanation, which `glossary` puts on the page."""
    return format_html(
        '<button class="what-is" type="button" popovertarget="what-is-{}"'
        ' aria-label="What is this? {}">?</button>',
        term,
        TERMS[term].name,
    )


@register.inclusion_tag("includes/glossary.html")
def glossary() -> dict[str, list[tuple[str, Term]]]:
    """The explanations of all terms, hidden until they are asked for."""
    return {"terms": list(TERMS.items())}


@register.filter
def in_view(result: JudgeResult, options: ReportOptions) -> str:
    """A judge's correlation at the level and by the coefficient of a view."""
    return shown(result.shown(options))


@register.filter
def fixed(number: float, places: int = 2) -> str:
    """A number with so many decimals and a true minus; Django's own filter takes many times as
    long, and pages show hundreds."""
    return with_decimals(number, places)


@register.filter
def fixed_or_dash(number: float | None, places: int = 2) -> str:
    """A number with decimals, or a dash where there is none."""
    return "–" if number is None else fixed(number, places)


register.filter("two_decimals", two_decimals)
register.filter("signed", signed)
register.filter("money", money)
register.filter("p_value", p_value)
register.filter("in_time", in_time)


@register.filter
def brief(number: float) -> str:
    """A number with no more decimals than it needs, two at most: 4, 3.5."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@register.filter
def ago(moment: datetime) -> SafeString:
    """How long ago a moment was, with the full time on hover."""
    local = timezone.localtime(moment)
    full = date_format(local, "DATETIME_FORMAT")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), full, naturaltime(moment)
    )


@register.filter
def starts_with(text: str, beginning: str) -> bool:
    """Whether a text begins with another one."""
    return text.startswith(beginning)


register.filter(thin)
register.filter(counted)
register.filter(same_documents_note)
register.filter(sessions_note)
register.filter(chosen_note)
register.filter(human_score_note)
register.filter(weights_note)
register.filter(withheld_note)
register.filter(left_out_in_words)
register.filter(unseen_in_words)


@register.filter
def human_score(kind: HumanScore) -> str:
    """A human score as a choice is named."""
    return HUMAN_SCORES[kind][0]


@register.filter
def in_sight(report: Report) -> str:
    """The note about ratings made while scores were visible."""
    return in_sight_note(report)


@register.filter
def sentence(result: CriterionResult) -> str:
    """A criterion's result in a sentence."""
    return in_a_sentence(result)


@register.filter
def estimate(value: Estimate) -> str:
    """An estimate with two decimals, or a dash."""
    return shown(value)


@register.filter
def estimate_cells(result: JudgeResult, levels: Sequence[Level]) -> list[TableNumber]:
    """A judge's coefficients at some levels in the order of the table's columns."""
    estimates = result.correlations.estimates
    return [
        TableNumber(
            text=shown(estimates[coefficient][level]),
            reason=estimates[coefficient][level].reason,
            begins_group=coefficient == COEFFICIENTS[0],
            interval=in_brackets(result.intervals[coefficient]) if level == "summary" else "",
        )
        for level in levels
        for coefficient in COEFFICIENTS
    ]


@register.filter
def attribute(record: object, name: str) -> object:
    """A named part of the report's options."""
    return getattr(record, name)


register.filter(tested_over)


@register.filter
def symbol(coefficient: Coefficient) -> str:
    """rho for spearman, and so on."""
    return SYMBOLS[coefficient]


@register.filter
def figure_title(kind: str) -> str:
    """The title of a figure."""
    return FIGURE_TITLES[kind]


register.simple_tag(downloads_of, name="figure_downloads")


@register.filter
def brackets(interval: Interval) -> str:
    """An interval, or an empty text."""
    return in_brackets(interval)


register.filter("percent", whole_percent)


@register.filter
def share_of(criterion: CriterionResult, result: JudgeResult) -> str:
    """A judge's correlation in its view as a share of what one rater reaches."""
    share = criterion.share_of_ceiling(result)
    return "–" if share is None else whole_percent(share)


@register.filter
def rate_rows(result: JudgeResult, systems: tuple[str, ...]) -> list[tuple[str, SystemRate]]:
    """Systems with their pass rates, in the report's order."""
    passing = result.analysis.passing
    return list(zip(systems, passing.systems, strict=True)) if passing else []


@register.filter
def ppi_rows(result: JudgeResult, systems: tuple[str, ...]) -> list[tuple[str, SystemMean]]:
    """Systems with their prediction-powered means, the best first."""
    pairs = list(zip(systems, result.analysis.ppi.systems, strict=True))
    return sorted(
        pairs, key=lambda pair: -(pair[1].mean.estimate if pair[1].mean else float("-inf"))
    )
