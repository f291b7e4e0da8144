"""Make texts storable in the database. Pure."""


def storable(text: str) -> str:
    """A text that PostgreSQL can store: NUL and lone surrogates become replacement characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
