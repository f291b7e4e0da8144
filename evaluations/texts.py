"""Texts as the database can hold them. Pure."""


def storable(text: str) -> str:
    """A text without what PostgreSQL cannot hold: NUL and lone surrogates become replacement
    characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
