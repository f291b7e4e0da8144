"""Find the words in which two texts differ. Pure."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

# Longer comparisons take long and show little.
MOST_WORDS = 2000
# Fewer words in a row are in any two texts on a subject.
LEAST_WORDS = 3


@dataclass(frozen=True)
class Piece:
    """A part of a text, and whether the other text differs there."""

    text: str
    differs: bool


def word_differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Split both texts into pieces, which join to the original texts. Very long texts are one
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


# A line, marked "added", "removed" or "".
MarkedLine = tuple[str, str]


def line_differences(before: str, after: str) -> tuple[MarkedLine, ...]:
    """Return all lines of two texts, marked where only one has them."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1000)
    kinds = {"+": "added", "-": "removed"}
    marked = tuple((kinds.get(line[0], ""), line[1:]) for line in list(lines)[3:])
    return marked or tuple(("", line) for line in after.splitlines())


def taken_from(source: str, text: str) -> list[Piece]:
    """Split the source into pieces: `differs` is False for `LEAST_WORDS` or more consecutive words
    that the text has too, in the same order. Very long texts are one piece that differs."""
    pieces, _text = word_differences(source, text)
    if len(pieces) == 1 and source != text:
        return [Piece(source, True)]
    merged: list[Piece] = []
    for piece in pieces:
        differs = piece.differs or len(piece.text.split()) < LEAST_WORDS
        if merged and merged[-1].differs and differs:
            merged[-1] = Piece(merged[-1].text + piece.text, True)
        else:
            merged.append(Piece(piece.text, differs))
    return merged
