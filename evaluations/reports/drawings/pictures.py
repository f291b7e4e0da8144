"""A drawing as PNG or PDF, with Matplotlib, which is an extra of the package."""

import importlib.util
import io
import threading
from typing import Any

from evaluations.reports.drawings.shapes import COLUMN_MM, Box, Dot, Drawing, Line, Words
from evaluations.reports.drawings.svg import PAPER

DPI = 600
# Letters of the bundled font are wider than those that SVG asks for.
NARROWER = 0.88
# It embeds letters as outlines of their font, which journals ask for, not as Type 3.
SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
    "text.parse_math": False,
}
MISSING = (
    "PNG and PDF need Matplotlib, which is not installed on this site. Download the SVG, or ask the"
    " site's administrator to run: pip install 'geval-site[figures]'"
)
_turn = threading.Lock()  # Matplotlib's settings and fonts belong to the process.


class PicturesMissingError(Exception):
    """Matplotlib is not installed."""


def can_draw_pictures() -> bool:
    """Whether Matplotlib is installed; it is not loaded for that."""
    return importlib.util.find_spec("matplotlib") is not None


def as_picture(drawing: Drawing, ending: str) -> bytes:
    """The drawing as wide as a column.

    Args:
        ending: "png" (600 dots per inch) or "pdf" (its caption is the subject).

    Raises:
        PicturesMissingError: Matplotlib is not installed.
    """
    if not can_draw_pictures():
        raise PicturesMissingError(MISSING)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    inches = COLUMN_MM / 25.4
    with _turn, mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(inches, inches * drawing.height / drawing.width))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
        axes.axis("off")
        points = 72 * inches / drawing.width
        for order, shape in enumerate(drawing.shapes):
            _add(axes, shape, order, points)
        about = (
            {"Title": drawing.title, "Description": drawing.caption, "Software": "geval_site"}
            if ending == "png"
            else {"Title": drawing.title, "Subject": drawing.caption, "Creator": "geval_site"}
        )
        if ending == "pdf":
            about["CreationDate"] = None  # type: ignore[assignment]
        content = io.BytesIO()
        figure.savefig(content, format=ending, dpi=DPI, metadata=about)
    return content.getvalue()


def _add(axes: Any, shape: Line | Dot | Box | Words, order: int, points: float) -> None:
    """Put a shape on top of the ones before.

    Args:
        points: how many make a unit.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Rectangle

    if isinstance(shape, Line):
        width = shape.width * points
        ends = (shape.x1, shape.x2), (shape.y1, shape.y2)
        line = Line2D(*ends, color=PAPER[shape.role], linewidth=width, zorder=order)
        if shape.dashed:
            line.set_linestyle((0, (3 / shape.width, 3 / shape.width)))
        axes.add_line(line)
    elif isinstance(shape, Box):
        corner = (shape.x, shape.y)
        axes.add_patch(
            Rectangle(
                corner, shape.width, shape.height, facecolor=PAPER[shape.role],
                alpha=shape.opacity, linewidth=0, zorder=order,
            )
        )  # fmt: skip
    elif isinstance(shape, Dot):
        edge = PAPER[shape.outline] if shape.outline else "none"
        axes.add_patch(
            Circle(
                (shape.x, shape.y), shape.radius, facecolor=PAPER[shape.role], edgecolor=edge,
                linewidth=points, zorder=order,
            )
        )  # fmt: skip
    else:
        side = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        axes.text(
            shape.x, shape.y, shape.text, color=PAPER[shape.role], ha=side, va="baseline",
            fontsize=shape.size * points * NARROWER, zorder=order,
            fontweight="bold" if shape.is_bold else "normal",
        )  # fmt: skip
