"""A drawing as PNG or PDF, converted from its SVG by Typst, which is an extra of the package."""

import importlib.util
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from geval.reports.drawings.shapes import Drawing
from geval.reports.drawings.svg import as_file

# Journals ask for 300 in photos and more in drawings with lines and text.
DPI = 600
METRE = 1 / 0.0254  # in inches
# A page with the drawing's size. Texts are passed as values, so that none is interpreted as Typst
# code; without a date the same drawing gives the same bytes.
PAGE = b"""
#set document(title: sys.inputs.title, description: sys.inputs.caption, date: none)
#set page(width: auto, height: auto, margin: 0pt, fill: white)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.caption)
"""
MISSING = (
    "PNG and PDF need Typst, which is not installed on this site. Download the SVG, or ask the"
    " site's administrator to run: pip install 'geval-site[figures]'"
)


class PicturesMissingError(Exception):
    """Typst or its font is not installed."""


def can_draw_pictures() -> bool:
    """Return whether the extra is installed, without loading it."""
    return all(importlib.util.find_spec(name) for name in ("typst", "fontpkg_arimo"))


def as_picture(drawing: Drawing, ending: Literal["png", "pdf"]) -> bytes:
    """Render the drawing at its intended width.

    Args:
        ending: "png" (600 dots per inch) or "pdf" (its caption is the subject).

    Raises:
        PicturesMissingError: the extra is not installed.
    """
    if not can_draw_pictures():
        raise PicturesMissingError(MISSING)
    import typst

    inputs = {"svg": as_file(drawing), "title": drawing.title, "caption": drawing.caption}
    content = typst.compile(PAGE, format=ending, sys_inputs=inputs, font_paths=_fonts(), ppi=DPI)
    return _described(content, drawing) if ending == "png" else content


@cache
def _fonts() -> Any:
    """Return Arimo, and the machine's fonts for the scripts that it lacks."""
    import fontpkg_arimo
    import typst

    return typst.Fonts(font_paths=[Path(fontpkg_arimo.ROOT) / "files"])


def _described(png: bytes, drawing: Drawing) -> bytes:
    """Add resolution, title and caption to a PNG, which Typst omits."""
    dots = round(DPI * METRE).to_bytes(4, "big")
    texts = {"Title": drawing.title, "Description": drawing.caption, "Software": "geval_site"}
    chunks = [
        _chunk(b"pHYs", dots + dots + b"\x01"),
        *(
            _chunk(b"iTXt", name.encode() + b"\0\0\0\0\0" + text.encode())
            for name, text in texts.items()
        ),
    ]
    # A signature of 8 bytes; then the header, which must be the first chunk.
    start = 8 + 4 + 4 + 13 + 4
    return b"".join((png[:start], *chunks, png[start:]))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        len(content).to_bytes(4, "big") + kind + content
        + zlib.crc32(kind + content).to_bytes(4, "big")
    )  # fmt: skip
