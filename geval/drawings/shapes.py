"""What a figure consists of: lines, dots, boxes and words, with positions from the top left.

A unit is a quarter of a millimetre of a column in print. Colours are named by who or what they
stand for; a page gives them its theme's values, a download those of paper.
"""

from dataclasses import dataclass

# A column of most journals and conferences.
COLUMN_MM = 85
WIDTH = 340.0
TEXT = 11.0


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
    """A circle; `address` is where it leads on a page, `hint` what it says when pointed at."""

    x: float
    y: float
    radius: float
    role: str
    outline: str = ""
    hint: str = ""
    address: str = ""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    role: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Words:
    """A line of text; `anchor` is "start", "middle" or "end", `y` its baseline."""

    x: float
    y: float
    text: str
    role: str = "ink"
    anchor: str = "start"
    is_bold: bool = False
    size: float = TEXT


Shape = Line | Dot | Box | Words


@dataclass(frozen=True)
class Drawing:
    """A figure: its finding, a caption that can be published with it, its shapes, and the same
    numbers as rows."""

    kind: str
    title: str
    caption: str
    height: float
    shapes: tuple[Shape, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    width: float = WIDTH


def fitting(text: str, width: float, size: float = TEXT) -> str:
    """A name as far as it fits, shortened in the middle."""
    most = max(4, int(width / (0.56 * size)))
    if len(text) <= most:
        return text
    end = (most - 1) // 3
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def ordinal(place: int) -> str:
    """A place as people write it: "1st", "2nd", "11th"."""
    teens = 10 <= place % 100 <= 20
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"
