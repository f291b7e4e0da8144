"""The elements of a figure: lines, marks, boxes and texts, with positions from the top left.

A unit is a quarter of a millimetre in print. Colours are named by their role: one ink and its
greys, and one colour for judges; pages use the theme's values, downloads those for paper.
"""

from dataclasses import dataclass

from geval.reports.drawings.letters import TEXT

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
