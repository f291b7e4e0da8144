"""What files are called where several are kept together. Pure."""

from geval.texts.plain import storable

LONGEST_NAME = 190


def name_among(name: str, taken: set[str]) -> str:
    """A name that can be stored and that no other file has, as errors name files.

    Args:
        taken: those of the other files, to which it is added.
    """
    name = storable(name)[:LONGEST_NAME]
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
