"""Small elements of which a document's page has hundreds, built here because templates take ten
times as long.

Every text of a corpus is escaped here; everything else is a number.
"""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from geval.reports.score_cells import CriterionRow, ScoreCell
from geval.texts.word_differences import Piece

register = template.Library()


@register.filter
def marked(pieces: Iterable[Piece]) -> SafeString:
    """Return a text in pieces, marking those that the other text does not contain."""
    texts = ((escape(piece.text), piece.differs) for piece in pieces)
    marks = (f'<mark class="differs">{text}</mark>' if differs else text for text, differs in texts)
    return mark_safe("".join(marks))  # noqa: S308 (escaped)


@register.filter
def criterion_rows(rows: Iterable[CriterionRow]) -> SafeString:
    """Return an output's results, one row per criterion: the human mean, each rating, each judge's
    score."""
    return mark_safe("".join(_criterion_row(row) for row in rows))  # noqa: S308 (escaped)


def _criterion_row(row: CriterionRow) -> str:
    title = f' title="{escape(row.by_whom)}"' if row.each else ""
    judges = "".join(_judge_cell(cell) for cell in row.judges)
    return (
        f'<tr><th scope="row">{escape(row.criterion.name)}</th><td class="number'
        f' human">{row.mean}</td>'
        f'<td class="nowrap"{title}>{row.each}</td>{judges}</tr>'
    )


def _judge_cell(cell: ScoreCell | None) -> str:
    """Return a judge's score with its distribution and its distance from people."""
    if cell is None:
        return "<td>–</td>"
    words = f'<br><small class="quiet">{cell.words}</small>' if cell.words else ""
    return (
        f'<td class="nowrap"><span class="llm">{cell.written}</span>'
        f"{_bars(cell) if cell.bars else ''}{words}</td>"
    )


@register.filter
def bars(cell: ScoreCell) -> SafeString:
    """Return a score's distribution as a small chart; empty without one."""
    return mark_safe(_bars(cell) if cell.bars else "")  # noqa: S308 (numbers, escaped names)


def _bars(cell: ScoreCell) -> str:
    """Return a distribution as bars, with a text alternative."""
    label = " ".join(f"{escape(bar.point)}: {bar.share:.2f}" for bar in cell.bars)
    drawn = "".join(
        f'<rect x="{bar.x}" y="{bar.y}" width="6" height="{bar.height}"></rect>'
        for bar in cell.bars
    )
    size = f'width="{cell.width}" height="20" viewBox="0 0 {cell.width} 20"'
    return f'<svg class="bars" {size} role="img" aria-label="{label} ">{drawn}</svg>'
