"""Names of files that are stored together. Pure."""

from geval.texts.spelling import storable

# The database stores 200 characters: this leaves room for a number in brackets.
LONGEST_NAME = 190


def name_among(name: str, taken: set[str]) -> str:
    """Return a name that can be stored and that no other file has, as errors name files.

    Args:
        taken: the names of the other files, to which it is added.
    """
    name = storable(name)[:LONGEST_NAME]
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
