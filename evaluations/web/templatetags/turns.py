"""Turns of a conversation on pages, built here because a session has thousands of them.

The text of `session` is exactly the session's transcript, whatever is collapsed, because the
positions of marked words refer to it. Everything else (numbers, times, links) is added by the
stylesheet from attributes. Every text of a corpus is escaped.
"""

from collections.abc import Iterator, Sequence
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from geval.texts.turns import ASSISTANT, CALL, RESULT, TOOL, USER, ToolCall, Turn

register = template.Library()
_KNOWN = {USER, ASSISTANT, TOOL, "system"}
# Calls up to this many characters are expanded initially.
SHORT = 300


@register.filter
def turns(listed: Sequence[Turn]) -> SafeString:
    """Return turns as a list, numbered as in their file."""
    return _list(listed)


@register.filter
def session(listed: Sequence[Turn]) -> SafeString:
    """Return the turns of a whole session, whose text is its transcript."""
    return _list(listed)


@register.filter
def reply(listed: Sequence[Turn]) -> SafeString:
    """Return the content of a turn without its speaker: the text is the turn's body."""
    return mark_safe("".join(_body(turn) for turn in listed))  # noqa: S308 (escaped)


def _list(listed: Sequence[Turn]) -> SafeString:
    label = escape(_("turn %(number)s"))
    items = '<span class="sep">\n</span></li>'.join(
        _turn(turn, turn.number or place, label) for place, turn in enumerate(listed, start=1)
    )
    whole = f'<ol class="turns" data-turns>{items}</li></ol>' if listed else ""
    return mark_safe(whole)  # noqa: S308 (escaped)


def _turn(turn: Turn, number: int, label: str) -> str:
    kind = turn.role if turn.role in _KNOWN else "other"
    time = f' data-time="{escape(turn.time)}"' if turn.time else ""
    return (
        f'<li class="turn turn-{kind}" data-turn tabindex="-1" value="{number}"'
        f'{time}><span class="turn-who" role="heading" aria-level="3"'
        f' data-number="{label % {"number": number}}">'
        f'{escape(turn.speaker)}<span class="sep">: </span></span>{_body(turn)}'
    )


def _body(turn: Turn) -> str:
    parts = [f'<div class="turn-text" dir="auto">{escape(turn.text)}</div>'] if turn.text else []
    parts += [_call(call) for call in turn.calls]
    return '<span class="sep">\n</span>'.join(parts) + "".join(_links(turn))


def _call(call: ToolCall) -> str:
    """Return a call with its result, collapsed if they are long."""
    size = len(call.arguments) + len(call.result or "")
    is_open = " open" if size <= SHORT else ""
    size_in_words = _("%(number)s characters") % {"number": f"{size:,}"}
    result = (
        f'<span class="sep">\n</span><span class="turn-result" dir="auto">{RESULT}'
        f"{escape(call.result)}</span>"
        if call.result is not None
        else ""
    )
    return (
        f'<details class="turn-call"{is_open}><summary data-size="{escape(size_in_words)}">{CALL}'
        f"{escape(call.name)}</summary><code>({escape(call.arguments)})</code>{result}</details>"
    )


def _links(turn: Turn) -> Iterator[str]:
    """Return the links to attachments, which open in a new context and send no referrer."""
    for link in turn.attachments:
        shown = escape(link)
        name = f"{escape(_('Attachment'))} {shown}"
        if link.startswith(("http://", "https://")):
            yield (
                f'<a class="turn-link" href="{shown}" target="_blank" data-label="{shown}"'
                f' rel="noopener noreferrer nofollow" aria-label="{name}"></a>'
            )
        else:
            yield (
                f'<span class="turn-link" role="img" data-label="{shown}"'
                f' aria-label="{name}"></span>'
            )
