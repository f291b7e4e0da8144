"""Where two texts differ, by words. Pure."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

# Beyond this the comparison takes long and shows little.
MOST_WORDS = 2000


@dataclass(frozen=True)
class Piece:
    """A stretch of a text, and whether the other text has something else there."""

    text: str
    differs: bool


def word_differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; joined, the pieces give the texts back. Very long texts come as one
    piece."""
    sides = [re.findall(r"\S+\s*|\s+", text) for text in (first, second)]
    if sum(len(words) for words in sides) > 2 * MOST_WORDS:
        return [Piece(first, False)], [Piece(second, False)]
    before, after = ([word.strip() for word in words] for words in sides)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for side, (low, high) in enumerate(((a, b), (c, d))):
            if low < high:
                pieces[side].append(Piece("".join(sides[side][low:high]), kind != "equal"))
    return pieces
