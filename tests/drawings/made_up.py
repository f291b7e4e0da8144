"""Numbers of a criterion to draw, without a database, and what tests ask of drawings."""

import struct
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from geval.reports.drawings import rendering
from geval.reports.drawings.drawn import drawings
from geval.reports.drawings.numbers import (
    Bubble,
    Calibrated,
    CriterionNumbers,
    ForestLine,
    JudgeNumbers,
    SystemMeans,
    Tally,
)
from geval.reports.drawings.shapes import UNITS_PER_MM, WIDTHS_MM, Drawing, Words

WIDTHS = tuple(float(wide * UNITS_PER_MM) for wide in WIDTHS_MM)
LONG = "a-very-long-organisation/judge-{}-instruct-turbo-2026-11-26 (temperature 0.7) 測定"
SVG = "{http://www.w3.org/2000/svg}"


def judge_numbers(pk: int, name: str = "", *, on_scale: bool = True) -> JudgeNumbers:
    tallies = tuple(Tally(float(value), 10 * value) for value in range(1, 6))
    return JudgeNumbers(
        pk=pk,
        name=name or f"judge {pk}",
        on_scale=on_scale,
        correlation="rho 0.52 [0.44, 0.60]",
        outputs=1600,
        gap=-0.3,
        seen="",
        bubbles=tuple(
            Bubble(1 + across / 3, float(up), 1 + across * up, (1,))
            for across in range(13)
            for up in range(1, 6)
        ),
        calibration=tuple(
            Calibrated(float(value), value - 0.2, value - 0.4, value + 0.1, 10 * value)
            for value in range(1, 6)
        )
        if on_scale
        else (),
        systems=tuple(SystemMeans(f"system {at}", 3 + at / 9, 4 - at / 9) for at in range(8)),
        documents=100,
        half_width=0.02 + 0.01 * pk,
        tile=None,
        human_tallies=tallies,
        tallies=tallies,
    )


def criterion_numbers(judges: int = 3, people: int = 3) -> CriterionNumbers:
    """With so many judges, the last on another scale where there are several."""
    drawn = tuple(judge_numbers(pk, on_scale=pk in (1, 2, 4, 5)) for pk in range(1, judges + 1))
    names = (*(one.name for one in drawn), *(f"rater {at}" for at in range(people)))
    sides = len(names)
    pairs = tuple(
        tuple(None if a == b else round(0.9 - 0.11 * abs(a - b), 2) for b in range(sides))
        for a in range(sides)
    )
    lines = [ForestLine("one rater", 0, "rater", 0.68, 0.65, 0.71, "", 0)]
    lines += [
        ForestLine(
            one.name, one.pk, "judge" if one.on_scale else "baseline",
            0.6 - 0.05 * one.pk, 0.5 - 0.05 * one.pk, 0.7 - 0.05 * one.pk, "", 1600,
        )
        for one in drawn
    ]  # fmt: skip
    lines.append(ForestLine("length alone", 0, "null", 0.01, -0.06, 0.07, "", 0))
    return CriterionNumbers(
        pk=1,
        name="coherence",
        lowest=1.0,
        highest=5.0,
        documents=100,
        judges=drawn,
        best=1,
        sides=names,
        people=(*[False] * judges, *[True] * people),
        human_label="mean human rating",
        pairs=pairs,
        measure="Summary-level rho with the mean human rating",
        forest=tuple(lines),
        bar=0.58,
    )


def with_long_names(numbers: CriterionNumbers) -> CriterionNumbers:
    return replace(
        numbers,
        name=LONG.format("of a criterion"),
        judges=tuple(
            replace(
                one,
                name=LONG.format(one.pk),
                systems=tuple(
                    replace(system, system=LONG.format(system.system)) for system in one.systems
                ),
            )
            for one in numbers.judges
        ),
        sides=tuple(map(LONG.format, numbers.sides)),
        forest=tuple(replace(line, name=LONG.format(line.name)) for line in numbers.forest),
    )


def drawn(
    numbers: CriterionNumbers, kind: str, width: float = WIDTHS[0], judge: int = 1
) -> Drawing:
    found = {one.kind: one for one in drawings(numbers, numbers.judge(judge), width=width)}
    return found[kind]


def words(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Words)]


def elements(svg: str, tag: str) -> list[ET.Element]:
    root = ET.fromstring(svg)
    return [one for one in root.iter() if one.tag.removeprefix(SVG) == tag]


def inked_outside(drawing: Drawing) -> int:
    """How many pixels a drawing has beyond its own edges, as it would be printed."""
    margin = 60.0
    wider = replace(
        drawing,
        width=drawing.width + 2 * margin,
        height=drawing.height + 2 * margin,
        shapes=tuple(_moved(shape, margin) for shape in drawing.shapes),
    )
    with patch.object(rendering, "DPI", 100):
        content = rendering.as_picture(wider, "png")
    pixels = darkness(content) > 5
    per_unit = pixels.shape[1] / wider.width
    # Half a pixel of an edge lies outside.
    begin, off = int(margin * per_unit) - 2, int(drawing.width * per_unit) + 4
    tall = int(drawing.height * per_unit) + 4
    pixels[begin : begin + tall, begin : begin + off] = False
    return int(pixels.sum())


def darkness(png: bytes) -> np.ndarray:
    """How dark each pixel of a PNG of 8 bits per channel is on white paper, 0 to 255; shape
    (height, width)."""
    at, parts, head = 8, [], b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + size]
        head = body if kind == b"IHDR" else head
        parts += [body] if kind == b"IDAT" else []
        at += size + 12
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(b"".join(parts)), np.uint8).reshape(height, -1)
    plain = np.zeros((height + 1, (width + 1) * channels), dtype=np.int64)
    for number, row in enumerate(rows, start=1):
        _unfilter(int(row[0]), row[1:].astype(np.int64), plain, number, channels)
    pixels = plain[1:, channels:].reshape(height, width, channels)
    has_alpha = channels in (2, 4)
    colours = pixels[..., : channels - has_alpha].min(axis=-1)
    alpha = pixels[..., -1] if has_alpha else np.full_like(colours, 255)
    return (255 - colours) * alpha // 255


def _unfilter(kind: int, row: np.ndarray, plain: np.ndarray, number: int, step: int) -> None:
    """Undo a filter of PNG (RFC 2083, section 6) in place; `plain` has a row and a pixel of 0
    before the first."""
    above, own = plain[number - 1], plain[number]
    if kind in (0, 2):
        own[step:] = (row + (above[step:] if kind == 2 else 0)) % 256
        return
    if kind == 1:
        own[step:] = (row.reshape(-1, step).cumsum(axis=0) % 256).ravel()
        return
    for at in range(step, len(own)):
        left, up, corner = int(own[at - step]), int(above[at]), int(above[at - step])
        if kind == 3:
            guess = (left + up) // 2
        else:
            guess = min((left, up, corner), key=lambda each: abs(left + up - corner - each))
        own[at] = (int(row[at - step]) + guess) % 256


def _moved(shape: object, by: float) -> object:
    fields = ("x", "y", "x1", "y1", "x2", "y2")
    moved = {name: getattr(shape, name) + by for name in fields if hasattr(shape, name)}
    return replace(shape, **moved)  # type: ignore[type-var]
