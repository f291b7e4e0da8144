"""The elements of a figure: lines, marks, boxes and texts, with positions from the top left; and
how wide texts are, and where they are broken. Pure.

A unit is a quarter of a millimetre in print. Colours are named by their role: one ink and its
greys, and one colour for judges; pages use the theme's values, downloads those for paper.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# The size of most texts, in the units of a drawing.
TEXT = 11.0
# Advance widths of Arial and of Arimo, in thousandths of the size, from the blank to the tilde.
_ASCII = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
# The same for bold letters.
_BOLD = (
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
)  # fmt: skip
_SIGNS = {"−": 584, "±": 549, "–": 556, "…": 1000, "→": 1000, "\u202f": 200, "×": 584}
# Widths of other letters by category: enough for Latin, Greek and Cyrillic.
_CAPITAL, _OTHER, _IDEOGRAPH = 833, 660, 1000
# A line with a letter that Arimo lacks is drawn entirely in a font that has it; Latin letters of
# Noto Sans CJK and DejaVu Sans are up to a fifth wider in names.
_FALLBACK = 1.2
# Arimo has Latin, Greek, Cyrillic and Hebrew, which end here.
_BEYOND = 0x0600
# A name may be broken after these characters; anywhere if it has none.
_BREAKS = " -_/:.,@"
UNITS_PER_MM = 4
# The widths of one and two columns in most journals and conferences.
WIDTHS_MM = (85, 174)
WIDTH = WIDTHS_MM[0] * float(UNITS_PER_MM)
# Judges are drawn in the colour, people and everything else in ink.
JUDGE, PEOPLE = "llm", "ink"


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    role: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """A circle; `address` is its link on a page, `hint` its text when pointed at."""

    x: float
    y: float
    radius: float
    role: str
    outline: str = ""
    hint: str = ""
    address: str = ""


@dataclass(frozen=True)
class Box:
    """A rectangle; `hint` is its text when pointed at."""

    x: float
    y: float
    width: float
    height: float
    role: str
    opacity: float = 1.0
    hint: str = ""


@dataclass(frozen=True)
class Hexagon:
    """A hexagon with horizontal top and bottom; `x` and `y` are its centre, `width` is from corner
    to corner, `height` from side to side."""

    x: float
    y: float
    width: float
    height: float
    role: str
    opacity: float = 1.0
    hint: str = ""
    address: str = ""

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        half, quarter, up = self.width / 2, self.width / 4, self.height / 2
        steps = ((-half, 0.0), (-quarter, -up), (quarter, -up), (half, 0.0), (quarter, up))
        return tuple((self.x + x, self.y + y) for x, y in (*steps, (-quarter, up)))


@dataclass(frozen=True)
class Words:
    """A line of text; `anchor` is "start", "middle" or "end", `y` its baseline. If turned, it reads
    from bottom to top, and `x` is its baseline."""

    x: float
    y: float
    text: str
    role: str = "ink"
    anchor: str = "start"
    is_bold: bool = False
    size: float = TEXT
    is_turned: bool = False


Mark = Dot | Box | Hexagon
Shape = Line | Mark | Words


@dataclass(frozen=True)
class Drawing:
    """A figure: its finding, a caption for publication, its shapes, and the same numbers as
    rows."""

    kind: str
    title: str
    caption: str
    height: float
    shapes: tuple[Shape, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    width: float = WIDTH


def ordinal(place: int) -> str:
    """Return an ordinal number: "1st", "2nd", "11th"."""
    teens = 10 <= place % 100 <= 20
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def width_of(text: str, size: float = TEXT, *, is_bold: bool = False) -> float:
    """Return the width of a line of text, in the unit of `size`; for non-Latin scripts an upper
    bound."""
    widths = _BOLD if is_bold else _ASCII
    has_fallback = any(ord(letter) >= _BEYOND and letter not in _SIGNS for letter in text)
    wider = _FALLBACK if has_fallback else 1.0
    return sum(_advance(letter, widths, wider) for letter in text) * size / 1000


def is_measured(text: str) -> bool:
    """Return whether the width of a text is known exactly."""
    return all(letter in _SIGNS or " " <= letter <= "~" for letter in text)


def fitting(text: str, width: float, *, is_bold: bool = False) -> str:
    """Shorten a name in the middle to fit."""
    if width_of(text, TEXT, is_bold=is_bold) <= width:
        return text
    for kept in range(len(text) - 1, 0, -1):
        end = kept // 3
        short = f"{text[: kept - end]}…{text[len(text) - end :]}"
        if width_of(short, TEXT, is_bold=is_bold) <= width:
            return short
    return "…"


def wrapped(text: str, width: float, size: float = TEXT, *, is_bold: bool = False) -> list[str]:
    """Wrap a text into lines that fit, without omitting anything."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and width_of((line + piece).rstrip(), size, is_bold=is_bold) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
        while len(line) > 1 and width_of(line.rstrip(), size, is_bold=is_bold) > width:
            most = next(
                count
                for count in range(len(line) - 1, 0, -1)
                if count == 1 or width_of(line[:count], size, is_bold=is_bold) <= width
            )
            lines.append(line[:most])
            line = line[most:]
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _pieces(text: str) -> Iterable[str]:
    begin = 0
    for index, letter in enumerate(text):
        if letter in _BREAKS:
            yield text[begin : index + 1]
            begin = index + 1
    yield text[begin:]


def _advance(letter: str, widths: tuple[int, ...], wider: float) -> float:
    index = ord(letter) - 32
    if 0 <= index < len(widths):
        return widths[index] * wider
    if letter in _SIGNS:
        return _SIGNS[letter]
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return _IDEOGRAPH
    return _CAPITAL if letter.isupper() else _OTHER
