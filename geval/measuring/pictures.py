"""A criterion's row of the forest plot as a self-contained SVG, for a notebook or a file."""

from html import escape
from typing import TYPE_CHECKING

from geval.reports.at_a_glance import ForestRow, VerdictRow
from geval.reports.drawings.forest import Axis
from geval.reports.verdicts.expert import FOUND_AND_KEPT
from geval.statistics.resampling import Interval
from geval.texts.numbers import in_brackets, label_or_number, shown, two_decimals
from geval.texts.sentences import shortened

if TYPE_CHECKING:
    from geval.measuring.measurement import CriterionMeasure, Measurement

WIDTH, ROW, NAMES, NUMBERS = 640, 22, 180, 130
COLOURS = {"rater": "#b5540c", "judge": "#1b5fa8", "baseline": "#6b7280", "null": "#9ca3af"}


def forest_of(axis: Axis, row: VerdictRow) -> str:
    """Draw one rater, judges and null judges, each with its interval, and an axis below.

    Numbers are next to the drawing, so that it can be read without colours.
    """
    plot = WIDTH - NAMES - NUMBERS
    height = ROW * (len(row.forest) + 1) + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" font-size="12"'
        f' aria-label="{escape(_in_words(row), quote=True)}">',
        f'<svg x="{NAMES}" width="{plot}" height="{height}" overflow="visible">',
    ]
    if row.ground:
        band = row.ground.band
        parts.append(
            f'<rect x="{band.begin}" width="{band.width}" height="{height - ROW}" fill="#b5540c"'
            ' fill-opacity="0.15"/>'
        )
    for tick in axis.ticks:
        parts.append(
            f'<line x1="{tick.at}" x2="{tick.at}" y2="{height - ROW}" stroke="#e5e7eb"/>'
            f'<text x="{tick.at}" y="{height - 6}" text-anchor="middle" fill="#6b7280">'
            f"{tick.label}</text>"
        )
    for number, judge in enumerate(row.forest):
        parts.append(_drawn(judge, ROW * number + ROW // 2))
    parts.append("</svg>")
    for number, judge in enumerate(row.forest):
        y = ROW * number + ROW // 2 + 4
        name = shortened(judge.name, 26)
        parts.append(
            f'<text x="{NAMES - 8}" y="{y}" text-anchor="end">{escape(name)}'
            f"<title>{escape(judge.name)}</title></text>"
            f'<text x="{WIDTH}" y="{y}" text-anchor="end">'
            f"{escape(f'{judge.value} {judge.interval}'.strip())}</text>"
        )
    return "".join([*parts, "</svg>"])


def _drawn(judge: ForestRow, y: int) -> str:
    colour = COLOURS[judge.kind]
    line = (
        f'<line x1="{judge.span.begin}" x2="{judge.span.end}" y1="{y}" y2="{y}" stroke="{colour}"'
        ' stroke-width="2"/>'
        if judge.span
        else ""
    )
    dot = f'<circle cx="{judge.dot}" cy="{y}" r="4.5" fill="{colour}"/>' if judge.dot else ""
    return line + dot


def _in_words(row: VerdictRow) -> str:
    rows = "; ".join(f"{judge.name} {judge.value} {judge.interval}" for judge in row.forest)
    return f"{row.criterion}: {rows}"


def page_of(result: "Measurement") -> str:
    """One HTML file with the verdicts, their intervals drawn, and the largest disagreements."""
    gaps = "".join(
        f"<tr><td>{escape(gap.criterion)}</td><td>{escape(gap.judge)}</td>"
        f"<td>{escape(gap.output)}</td><td>{escape(label_or_number(gap.people))}</td>"
        f"<td>{escape(label_or_number(gap.score))}</td><td>{escape(gap.text)}</td></tr>"
        for gap in result.disagreements()
    )
    groups = "".join(f"<pre>{escape(str(field))}</pre>" for field in result.by_field)
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    head = "".join(
        f"<th>{name}</th>" for name in ("Criterion", "Judge", "Output", "People", "Score", "Text")
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>What a judge may rate</title><style>{_STYLE}</style>"
        f"<h1>What a judge may rate</h1><p>{escape(result.headline)}</p>{result._repr_html_()}"
        f"{groups}{notes}"
        f"<h2>Largest disagreements</h2><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{gaps}</tbody></table>"
        f"<details><summary>All numbers and cautions</summary><pre>{escape(str(result))}</pre>"
        "</details></html>\n"
    )


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 sans-serif;margin:2rem auto;padding:0 1rem;"
    "max-width:72rem}table{border-collapse:collapse}th,td{padding:.4rem .8rem;text-align:left;"
    "vertical-align:top;border-bottom:1px solid #8884}svg{max-width:100%;height:auto}"
    "svg text{fill:currentColor}pre{white-space:pre-wrap}"
)


def card_of(result: "Measurement") -> str:
    """Return the verdicts as one SVG, for a README or a comment."""
    lines = [
        (
            f"{measure.criterion}: {measure.verdict.label}",
            _numbers(measure),
        )
        for measure in result.criteria
    ] or [("No criterion has both ratings and scores", "")]
    height = 26 * len(lines) + 44
    rows = "".join(
        f'<text x="16" y="{56 + 26 * number}" font-weight="600">{escape(name)}</text>'
        f'<text x="{WIDTH - 16}" y="{56 + 26 * number}" text-anchor="end">{escape(about)}</text>'
        for number, (name, about) in enumerate(lines)
    )
    description = "; ".join(f"{name}, {about}".rstrip(", ") for name, about in lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" font-size="13"'
        f' aria-label="{escape(description, quote=True)}">'
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff" stroke="#d1d5db"/>'
        '<text x="16" y="28" fill="#6b7280">What a judge may'
        f" rate, by geval_site</text>{rows}</svg>\n"
    )


def _numbers(measure: "CriterionMeasure") -> str:
    if measure.judge is None:
        return ""
    if passing := measure.pass_fail:
        names = FOUND_AND_KEPT[passing.finds_passes]
        sides = zip(names, (passing.sensitivity, passing.specificity), strict=True)
        shares = [f"{name} {shown(share.estimate)}" for name, share in sides]
        return f"{measure.judge}, {', '.join(shares)}"
    if measure.rho is None:
        return ""
    interval = in_brackets(Interval(*measure.interval)) if measure.interval else ""
    return f"{measure.judge}, rho {two_decimals(measure.rho)} {interval}".rstrip()
