"""Make texts storable in the database, and writable as XML. Pure."""

from html import escape


def storable(text: str) -> str:
    """Make a text storable in PostgreSQL: NUL and lone surrogates become replacement characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def for_xml(text: str) -> str:
    """Make a text valid in XML: control and other non-printable characters become spaces."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
