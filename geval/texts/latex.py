"""Escape texts for LaTeX. Pure."""

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def escaped(text: str) -> str:
    """Escape a text for LaTeX."""
    return "".join(_SPECIAL.get(letter, letter) for letter in _one_line(text))


def _one_line(text: str) -> str:
    """Join lines: an empty line would end the paragraph, and with it the table."""
    return re.sub(r"[\r\n\v\f\x85\u2028\u2029]+", " ", text)


def first_cell(text: str) -> str:
    """Return a text at the beginning of a row: after `\\\\`, LaTeX would take `*` and `[` for
    arguments of it."""
    return f"{{}}{escaped(text)}" if text.lstrip()[:1] in ("*", "[") else escaped(text)


def label_part(name: str) -> str:
    """Return a name as a part of a `\\label`: small letters of ASCII, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
