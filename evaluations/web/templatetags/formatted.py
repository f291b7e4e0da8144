"""Texts of a corpus in the format that their project gives them."""

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from evaluations.models import Document
from geval.texts.formatting.kinds import FieldFormat, TextFormat, language_of
from geval.texts.formatting.showing import ShownText, shown

register = template.Library()
# Code runs from left to right in every language.
_LEFT_TO_RIGHT = {TextFormat.CODE, TextFormat.HTML, TextFormat.JSON}
_OPEN, _SEARCHED = SafeString(" open"), SafeString(" data-source")
# A wide table scrolls separately, also by keyboard.
_SCROLLS = SafeString(' tabindex="0" role="group"')


@register.simple_block_tag
def formatted(
    content: str,
    format_: FieldFormat,
    text: str,
    of: Document | None = None,
    raw: bool = False,
    searched: bool = False,
) -> SafeString:
    """Return a text in its format, and collapsed below it `content`, which is the same text as
    written. Without a format, return only `content`.

    Args:
        of: its document, whose metadata may name its language.
        raw: show the text as written first, because parts of it are marked.
        searched: whether the page's search also covers the formatted text.
    """
    shown_text = shown(text, format_)
    written = mark_safe(content)  # noqa: S308 (rendered by a template)
    body = _both(shown_text, written, raw=raw, searched=searched) if shown_text.html else written
    if lang := _language(of, format_.lang):
        body = format_html('<div lang="{}">{}</div>', lang, body)
    return (
        format_html('{}<p class="small quiet">{}</p>', body, shown_text.why)
        if shown_text.why
        else body
    )


@register.simple_tag(takes_context=True)
def lang_of(context: Context, document: Document) -> str:
    """Return the attribute `lang` of an element with a document's texts; "" if the language is
    unknown."""
    lang = _language(document, context["project"].text_language)
    return format_html(' lang="{}"', lang) if lang else ""


def _language(of: Document | None, of_project: str) -> str:
    return (of is not None and language_of(of.metadata)) or of_project


def _both(formatted: ShownText, written: SafeString, *, raw: bool, searched: bool) -> SafeString:
    return format_html(
        '<div class="text formatted formatted-{}" data-formatted dir="{}"{}{}>{}</div>'
        '<details class="as-written" data-as-written{}><summary>{} <kbd>m</kbd></summary>'
        "{}</details>",
        formatted.kind.value,
        "ltr" if formatted.kind in _LEFT_TO_RIGHT else "auto",
        _SEARCHED if searched else "",
        _SCROLLS if formatted.kind == TextFormat.TABLE else "",
        mark_safe(formatted.html),  # noqa: S308 (cleaned)
        _OPEN if raw else "",
        _("As written, which is what judges get"),
        written,
    )
