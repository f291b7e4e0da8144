"""Figures are 85 and 174 mm wide, hold all their ink, and use one ink and one colour."""

import colorsys
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from geval.reports.drawings.drawn import KINDS, drawings
from geval.reports.drawings.rendering import PAPER, as_file, as_page_part
from geval.reports.drawings.shapes import WIDTHS_MM, Words, fitting, width_of, wrapped
from tests.drawings.made_up import (
    WIDTHS,
    criterion_numbers,
    drawn,
    elements,
    inked_outside,
    with_long_names,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("mm", "width"), list(zip(WIDTHS_MM, WIDTHS, strict=True)))
def test_no_ink_lies_outside_with_names_of_any_length(kind: str, mm: int, width: float) -> None:
    for numbers in (
        criterion_numbers(1, 1),
        with_long_names(criterion_numbers(1, 1)),
        with_long_names(criterion_numbers(9, 8)),
    ):
        figure = drawn(numbers, kind, width)

        assert inked_outside(figure) == 0
        assert ET.fromstring(as_file(figure)).get("width") == f"{mm}mm"


def test_ink_that_lies_outside_is_seen() -> None:
    figure = drawn(criterion_numbers(), "forest")
    beyond = Words(figure.width - 4, 30, "Measured")

    assert inked_outside(replace(figure, shapes=(*figure.shapes, beyond))) > 0


@pytest.mark.parametrize("width", WIDTHS)
def test_letters_are_as_large_at_both_widths(width: float) -> None:
    for figure in drawings(criterion_numbers(), criterion_numbers().judge(1), width=width):
        sizes = {one.size for one in figure.shapes if isinstance(one, Words)}
        assert max(sizes) == 11.0


def test_a_figure_has_one_ink_and_one_colour() -> None:
    for figure in drawings(criterion_numbers(), criterion_numbers().judge(1)):
        used = set(re.findall(r"#[0-9a-f]{6}", as_file(figure)))

        assert used <= set(PAPER.values())
    hues = {round(12 * hue) for colour in PAPER.values() if (hue := _hue(colour)) is not None}
    assert len(hues) == 1


def test_a_page_without_these_fonts_presses_texts_into_their_room() -> None:
    figure = drawn(criterion_numbers(), "forest")
    texts = {one.text: one.get("textLength") for one in elements(as_page_part(figure), "text")}

    assert texts["one rater"] == f"{width_of('one rater'):.2f}".rstrip("0")
    assert "textLength" not in as_file(figure)


def _hue(colour: str) -> float | None:
    """Of 1; None for greys and ink."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, _light, _saturation = colorsys.rgb_to_hls(red, green, blue)
    return hue if max(red, green, blue) - min(red, green, blue) > 0.15 else None


def test_texts_are_measured_as_arial_prints_them() -> None:
    assert width_of("gpt-4o", 1000) == 556 + 556 + 278 + 333 + 556 + 556
    assert width_of("gpt-4o", 1000, is_bold=True) == 611 + 611 + 333 + 333 + 556 + 611
    assert width_of("e\u0301", 1000) == width_of("e", 1000)
    assert width_of("中", 1000) == 1000
    # In a line with another script, Latin letters may come from its wider font.
    assert width_of("a中", 1000) == 1.2 * width_of("a", 1000) + 1000


def test_long_names_are_shortened_in_the_middle() -> None:
    shortened = fitting("a-very-long-name-of-a-system-v2", 60)

    assert fitting("short", 100) == "short"
    assert shortened.startswith("a-ve")
    assert shortened.endswith("v2")
    assert "…" in shortened
    assert width_of(shortened) <= 60


@pytest.mark.parametrize("text", ["", "one two three", "unbreakable" * 9, "中文" * 30])
def test_wrapped_texts_fit_and_lose_no_letter(text: str) -> None:
    lines = wrapped(text, 60)

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width_of(line) <= 60 for line in lines)
