"""A criterion's row of the forest as an SVG that stands alone, in a notebook or a file."""

from html import escape

from geval.drawings.forest import Axis
from geval.reports.at_a_glance import ForestRow, VerdictRow

WIDTH, ROW, NAMES, NUMBERS = 640, 22, 180, 130
COLOURS = {"rater": "#b5540c", "judge": "#1b5fa8", "baseline": "#6b7280", "null": "#9ca3af"}


def forest_of(axis: Axis, row: VerdictRow) -> str:
    """One rater, judges and what reads nothing, each with its interval, and one axis below.

    Numbers stand beside the drawing, so that it says the same without colours.
    """
    plot = WIDTH - NAMES - NUMBERS
    height = ROW * (len(row.forest) + 1) + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" font-size="12"'
        f' aria-label="{escape(_in_words(row), quote=True)}">',
        f'<svg x="{NAMES}" width="{plot}" height="{height}">',
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
        name = judge.name if len(judge.name) <= 26 else f"{judge.name[:25]}…"
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
