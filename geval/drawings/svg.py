"""A drawing as SVG: for a page, in the colours of its theme, and as a file, in those of paper."""

from geval.drawings.shapes import COLUMN_MM, Box, Dot, Drawing, Line, Shape, Words
from geval.texts.plain import for_xml

# The light theme of static/css/tokens.css.
PAPER = {
    "ink": "#1a2026",
    "quiet": "#5b6670",
    "axis": "#8b959e",
    "grid": "#e8ebee",
    "other": "#66717b",
    "human": "#b4560b",
    "llm": "#1f5fa8",
    "llm-mid": "#b4cfec",
    "paper": "#ffffff",
}
# Widths of letters are Arial's in all of these; Arimo is the one that PNG and PDF are made with.
FONT = "Arimo, Helvetica, Arial, 'Liberation Sans', sans-serif"


def as_page_part(drawing: Drawing) -> str:
    """An element for a page. Colours are classes, because a strict policy refuses styles."""
    # A picture has nothing to follow in it.
    leads_on = any(isinstance(shape, Dot) and shape.address for shape in drawing.shapes)
    role = "group" if leads_on else "img"
    head = f'<svg class="drawing" viewBox="{_box(drawing)}" role="{role}">'
    return f"{head}<title>{for_xml(drawing.title)}</title>{_shapes(drawing, on_page=True)}</svg>"


def as_file(drawing: Drawing) -> str:
    """A file as wide as a column, which needs nothing else; its caption is its description."""
    height = COLUMN_MM * drawing.height / drawing.width
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMN_MM}mm" height="{height:.2f}mm"'
        f' viewBox="{_box(drawing)}" font-family="{for_xml(FONT)}">'
        f"<title>{for_xml(drawing.title)}</title><desc>{for_xml(drawing.caption)}</desc>"
        f"{_shapes(drawing, on_page=False)}</svg>\n"
    )


def _box(drawing: Drawing) -> str:
    return f"0 0 {drawing.width:g} {drawing.height:g}"


def _shapes(drawing: Drawing, *, on_page: bool) -> str:
    return "".join(_element(shape, on_page) for shape in drawing.shapes)


def _element(shape: Shape, on_page: bool) -> str:
    if isinstance(shape, Line):
        dashes = ' stroke-dasharray="3 3"' if shape.dashed else ""
        ends = f'x1="{_n(shape.x1)}" y1="{_n(shape.y1)}" x2="{_n(shape.x2)}" y2="{_n(shape.y2)}"'
        stroke = _colour("stroke", shape.role, on_page)
        return f'<line {ends} {stroke} stroke-width="{_n(shape.width)}"{dashes}/>'
    if isinstance(shape, Box):
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}"'
        size = f'width="{_n(shape.width)}" height="{_n(shape.height)}"'
        fill = _colour("fill", shape.role, on_page)
        return f'<rect {place} {size} {fill} fill-opacity="{_n(shape.opacity)}"/>'
    return _dot(shape, on_page) if isinstance(shape, Dot) else _words(shape, on_page)


def _dot(dot: Dot, on_page: bool) -> str:
    place = f'cx="{_n(dot.x)}" cy="{_n(dot.y)}" r="{_n(dot.radius)}"'
    outline = ""
    if on_page:
        roles = f"fill-{dot.role}" + (f" stroke-{dot.outline}" if dot.outline else "")
        colours = f'class="{roles}"'
    else:
        colours = f'fill="{PAPER[dot.role]}"'
        outline = f' stroke="{PAPER[dot.outline]}"' if dot.outline else ""
    hint = f"<title>{for_xml(dot.hint)}</title>" if dot.hint else ""
    circle = f"<circle {place} {colours}{outline}>{hint}</circle>"
    if not (on_page and dot.address):
        return circle
    address, label = for_xml(dot.address), for_xml(dot.hint)
    return f'<a href="{address}" aria-label="{label}">{circle}</a>'


def _words(words: Words, on_page: bool) -> str:
    bold = ' font-weight="bold"' if words.is_bold else ""
    return (
        f'<text x="{_n(words.x)}" y="{_n(words.y)}" {_colour("fill", words.role, on_page)}'
        f' font-size="{_n(words.size)}" text-anchor="{words.anchor}"{bold}>'
        f"{for_xml(words.text)}</text>"
    )


def _colour(what: str, role: str, on_page: bool) -> str:
    return f'class="{what}-{role}"' if on_page else f'{what}="{PAPER[role]}"'


def _n(value: float) -> str:
    return f"{round(value, 2):g}"
