"""Template tags for pages of disagreements, and of two judges."""

from collections.abc import Iterable
from html import escape
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from geval.reports.gap_view import GapView
from geval.reports.pairs import PairView
from geval.texts.word_differences import Piece

register = template.Library()


@register.filter
def taken(pieces: Iterable[Piece]) -> SafeString:
    """Mark the pieces of a source that an output copies."""
    texts = ((escape(piece.text), piece.differs) for piece in pieces)
    marks = (text if differs else f'<mark class="taken">{text}</mark>' for text, differs in texts)
    return mark_safe("".join(marks))  # noqa: S308 (escaped)


@register.simple_tag
def to(view: GapView | PairView, **changes: Any) -> str:
    """Return the address of another view of the same page, with some parts changed."""
    return view.to(**changes)
