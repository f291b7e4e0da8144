"""Make texts storable in the database, and writable as XML. Pure."""

from html import escape


def storable(text: str) -> str:
    """A text that PostgreSQL can store: NUL and lone surrogates become replacement characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def for_xml(text: str) -> str:
    """A text within an element or an attribute of XML, which has no control characters: they, and
    all else that does not print, become spaces."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
