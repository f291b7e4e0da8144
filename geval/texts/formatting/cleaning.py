"""Sanitise HTML of untrusted texts: keep formatting, and nothing that loads or runs anything."""

import re

import nh3
from pygments.token import STANDARD_TYPES

_MATH = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac",
    "msqrt", "mroot", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded",
    "mphantom", "menclose",
}  # fmt: skip
# The output of libraries is filtered by this list, so that an error in one does no harm.
_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span",
} | _MATH  # fmt: skip
_ATTRIBUTES = {
    "ol": {"start"},
    "math": {"display"},
    "mo": {"stretchy", "fence", "form"},
    "mi": {"mathvariant"},
    "mover": {"accent"},
}
# The classes of code's colours; all others are removed.
_CLASSES = {"span": {f"code-{name}" for name in STANDARD_TYPES.values() if name}}
_SCHEMES = {"http", "https", "mailto"}
# "//host": browsers read a backslash as a slash, and skip leading spaces and line breaks.
_NAMES_A_HOST = re.compile(r"[\x00-\x20]*[/\\][\t\r\n]*[/\\]")


def cleaned(html: str) -> str:
    """Return the safe part of HTML, without links: a click would leave the page and tell a third
    party about the reader."""
    return str(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES))


def cleaned_with_links(html: str) -> str:
    """Return the safe part of HTML by a project's members, with links."""
    safe = nh3.clean(
        html,
        tags=_TAGS | {"a"},
        attributes=_ATTRIBUTES | {"a": {"href"}},
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        attribute_filter=_without_other_hosts,
        link_rel="noopener noreferrer nofollow",
    )
    return str(safe)


def _without_other_hosts(_tag: str, name: str, value: str) -> str | None:
    """Leave out the address of a link that leads to another host without naming a scheme."""
    return None if name == "href" and _NAMES_A_HOST.match(value) else value


def as_text(text: str) -> str:
    """Escape a text for HTML."""
    return str(nh3.clean_text(text))
