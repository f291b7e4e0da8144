"""A drawing as SVG, for a page in the theme's colours and as a file in those for paper, and as PNG
or PDF, converted from the SVG by Typst, which is an extra of the package.
"""

import importlib.util
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from geval.reports.drawings.shapes import (
    TEXT,
    UNITS_PER_MM,
    Box,
    Dot,
    Drawing,
    Hexagon,
    Line,
    Mark,
    Shape,
    Words,
    is_measured,
    width_of,
    wrapped,
)
from geval.texts.spelling import for_xml

# One ink with its greys, and one colour; the light theme of static/css/tokens.css.
PAPER = {
    "ink": "#1a2026",
    "quiet": "#5b6670",
    "axis": "#8b959e",
    "grid": "#e8ebee",
    "other": "#66717b",
    "llm": "#1f5fa8",
    "llm-mid": "#b4cfec",
    "paper": "#ffffff",
}
# Widths of letters are Arial's in all of these; Arimo is the one that PNG and PDF are made with.
FONT = "Arimo, Helvetica, Arial, 'Liberation Sans', sans-serif"
# On a page, a mark's text is shown below the figure: the number of lines for it, and their
# distance.
READ_OUT_LINES, READ_OUT_STEP, READ_OUT_SIZE = 2, 12.0, TEXT - 1.5
READ_OUT_HELP = "Point at a mark, or go to it with Tab, for its numbers."
# Journals ask for 300 in photos and more in drawings with lines and text.
DPI = 600
INCHES_A_METRE = 1 / 0.0254
# A page with the drawing's size. Texts are passed as values, so that none is interpreted as Typst
# code; without a date the same drawing gives the same bytes.
TYPST_PAGE = b"""
#set document(title: sys.inputs.title, description: sys.inputs.caption, date: none)
#set page(width: auto, height: auto, margin: 0pt, fill: white)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.caption)
"""
PICTURES_MISSING = (
    "PNG and PDF need Typst, which is not installed on this site. Download the SVG, or ask the"
    " site's administrator to run: pip install 'geval-site[figures]'"
)


def as_page_part(drawing: Drawing) -> str:
    """Return an element for a page. Colours are classes, because the strict CSP refuses inline
    styles. Marks show their numbers below the figure when they are pointed at or focused, with CSS
    alone."""
    # A picture has no focusable elements.
    speaks = any(_hint(shape) for shape in drawing.shapes)
    height = drawing.height + (READ_OUT_LINES * READ_OUT_STEP + 4 if speaks else 0)
    box, role = _box(drawing.width, height), "group" if speaks else "img"
    head = f'<svg class="drawing" viewBox="{box}" role="{role}">'
    shapes = "".join(_on_page(shape, drawing) for shape in drawing.shapes)
    help_text = _read_out(READ_OUT_HELP, drawing, "read-out-help fill-quiet") if speaks else ""
    return f"{head}<title>{for_xml(drawing.title)}</title>{shapes}{help_text}</svg>"


def as_file(drawing: Drawing) -> str:
    """Return a self-contained file of the intended width, with the caption as its description."""
    width, height = drawing.width / UNITS_PER_MM, drawing.height / UNITS_PER_MM
    shapes = "".join(_in_file(shape) for shape in drawing.shapes)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:.2f}mm"'
        f' viewBox="{_box(drawing.width, drawing.height)}" font-family="{for_xml(FONT)}">'
        f"<title>{for_xml(drawing.title)}</title><desc>{for_xml(drawing.caption)}</desc>"
        f"{shapes}</svg>\n"
    )


def _box(width: float, height: float) -> str:
    return f"0 0 {width:g} {height:g}"


def _hint(shape: Shape) -> str:
    return shape.hint if isinstance(shape, Mark) else ""


def _on_page(shape: Shape, drawing: Drawing) -> str:
    element, hint = _element(shape, on_page=True), _hint(shape)
    if not hint:
        return element
    content = f"{element}{_read_out(hint, drawing, 'read-out fill-ink')}"
    label = for_xml(hint)
    if isinstance(shape, Dot | Hexagon) and shape.address:
        address = for_xml(shape.address)
        return f'<a href="{address}" class="drawn-mark" aria-label="{label}">{content}</a>'
    return f'<g class="drawn-mark" tabindex="0" role="img" aria-label="{label}">{content}</g>'


def _read_out(text: str, drawing: Drawing, classes: str) -> str:
    """Return a text below the figure; what does not fit is in the mark's label and in the table."""
    # Pages have wider letters than paper.
    lines = wrapped(text, 0.85 * drawing.width, READ_OUT_SIZE)[:READ_OUT_LINES]
    first = drawing.height + READ_OUT_STEP
    spans = "".join(
        f'<tspan x="0" y="{_n(first + index * READ_OUT_STEP)}">{for_xml(line)}</tspan>'
        for index, line in enumerate(lines)
    )
    return (
        f'<text class="{classes}" font-size="{_n(READ_OUT_SIZE)}" aria-hidden="true">{spans}</text>'
    )


def _in_file(shape: Shape) -> str:
    element, hint = _element(shape, on_page=False), _hint(shape)
    return f"<g><title>{for_xml(hint)}</title>{element}</g>" if hint else element


def _element(shape: Shape, *, on_page: bool) -> str:
    if isinstance(shape, Line):
        dashes = ' stroke-dasharray="3 3"' if shape.dashed else ""
        ends = f'x1="{_n(shape.x1)}" y1="{_n(shape.y1)}" x2="{_n(shape.x2)}" y2="{_n(shape.y2)}"'
        stroke = _colours(on_page, stroke=shape.role)
        return f'<line {ends} {stroke} stroke-width="{_n(shape.width)}"{dashes}/>'
    if isinstance(shape, Box):
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}"'
        size = f'width="{_n(shape.width)}" height="{_n(shape.height)}"'
        fill = _colours(on_page, fill=shape.role)
        return f'<rect {place} {size} {fill} fill-opacity="{_n(shape.opacity)}"/>'
    if isinstance(shape, Hexagon):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.corners)
        fill = _colours(on_page, fill=shape.role)
        return f'<polygon points="{points}" {fill} fill-opacity="{_n(shape.opacity)}"/>'
    if isinstance(shape, Dot):
        place = f'cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
        return f"<circle {place} {_colours(on_page, fill=shape.role, stroke=shape.outline)}/>"
    return _words(shape, on_page)


def _words(words: Words, on_page: bool) -> str:
    bold = ' font-weight="bold"' if words.is_bold else ""
    x, y = _n(words.x), _n(words.y)
    turned = f' transform="rotate(-90 {x} {y})"' if words.is_turned else ""
    # A page may lack these fonts; a wider one is compressed to the measured width.
    fitted = ""
    if on_page and words.text and is_measured(words.text):
        width = width_of(words.text, words.size, is_bold=words.is_bold)
        fitted = f' textLength="{_n(width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{x}" y="{y}" {_colours(on_page, fill=words.role)}'
        f' font-size="{_n(words.size)}" text-anchor="{words.anchor}"{bold}{turned}{fitted}>'
        f"{for_xml(words.text)}</text>"
    )


def _colours(on_page: bool, **roles: str) -> str:
    """Return the colours of fill and stroke; elements without a role have none."""
    painted = [(what, role) for what, role in roles.items() if role]
    if on_page:
        return f'class="{" ".join(f"{what}-{role}" for what, role in painted)}"'
    return " ".join(f'{what}="{PAPER[role]}"' for what, role in painted)


def _n(value: float) -> str:
    return f"{round(value, 2):g}"


class PicturesMissingError(Exception):
    """Typst is not installed."""


def can_draw_pictures() -> bool:
    """Return whether the extra is installed, without loading it."""
    return importlib.util.find_spec("typst") is not None


def as_picture(drawing: Drawing, ending: Literal["png", "pdf"]) -> bytes:
    """Render the drawing at its intended width.

    Args:
        ending: "png" (600 dots per inch) or "pdf" (its caption is the subject).

    Raises:
        PicturesMissingError: the extra is not installed.
    """
    if not can_draw_pictures():
        raise PicturesMissingError(PICTURES_MISSING)
    import typst

    inputs = {"svg": as_file(drawing), "title": drawing.title, "caption": drawing.caption}
    content = typst.compile(
        TYPST_PAGE, format=ending, sys_inputs=inputs, font_paths=_fonts(), ppi=DPI
    )
    return _described_png(content, drawing) if ending == "png" else content


@cache
def _fonts() -> Any:
    """Return Arimo, and the machine's fonts for the scripts that it lacks."""
    import typst

    return typst.Fonts(font_paths=[Path(__file__).with_name("fonts")])


def _described_png(png: bytes, drawing: Drawing) -> bytes:
    """Add resolution, title and caption to a PNG, which Typst omits."""
    dots = round(DPI * INCHES_A_METRE).to_bytes(4, "big")
    texts = {"Title": drawing.title, "Description": drawing.caption, "Software": "geval_site"}
    chunks = [
        _png_chunk(b"pHYs", dots + dots + b"\x01"),
        *(
            _png_chunk(b"iTXt", name.encode() + b"\0\0\0\0\0" + text.encode())
            for name, text in texts.items()
        ),
    ]
    # A signature of 8 bytes; then the header, which must be the first chunk.
    start = 8 + 4 + 4 + 13 + 4
    return b"".join((png[:start], *chunks, png[start:]))


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    return (
        len(content).to_bytes(4, "big")
        + kind
        + content
        + zlib.crc32(kind + content).to_bytes(4, "big")
    )
