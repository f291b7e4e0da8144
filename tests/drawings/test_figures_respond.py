"""Marks say their numbers when pointed at or reached by keyboard, without a script."""

from pathlib import Path

import pytest

from geval.reports.drawings.drawn import KINDS
from geval.reports.drawings.rendering import READ_OUT_HELP, as_file, as_page_part
from tests.drawings.made_up import SVG, criterion_numbers, drawn, elements

SITE_CSS = Path(__file__).parents[2] / "static" / "css" / "site.css"


@pytest.mark.parametrize("kind", KINDS)
def test_every_mark_is_reached_by_keyboard_and_shows_what_it_says(kind: str) -> None:
    part = as_page_part(drawn(criterion_numbers(), kind))
    marks = [one for one in elements(part, "g") if one.get("class") == "drawn-mark"]

    assert marks
    assert elements(part, "svg")[0].get("role") == "group"
    for mark in marks:
        assert mark.get("tabindex") == "0"
        assert mark.get("role") == "img"
        (text,) = mark.findall("text")
        assert text.get("class") == "read-out fill-ink"
        said = "".join(text.itertext()).replace(" ", "")
        assert mark.get("aria-label", "").replace(" ", "") == said
    assert any("".join(one.itertext()) == READ_OUT_HELP for one in elements(part, "text"))


def test_numbers_stand_below_the_figure_where_they_hide_nothing() -> None:
    figure = drawn(criterion_numbers(), "matrix")
    part = as_page_part(figure)
    height = float(elements(part, "svg")[0].get("viewBox", "").split()[3])

    places = [
        float(span.get("y", "0")) for mark in elements(part, "g") for span in mark.iter("tspan")
    ]

    assert min(places) > figure.height
    assert max(places) < height


def test_files_have_the_same_texts_as_titles_of_marks() -> None:
    file = as_file(drawn(criterion_numbers(), "forest"))
    titles = [one.findtext(f"{SVG}title") for one in elements(file, "g")]

    assert "judge 1: 0.55 [0.45, 0.65], 1 600 outputs" in titles
    assert "tabindex" not in file


def test_the_style_alone_shows_them() -> None:
    style = SITE_CSS.read_text()

    for selector in (".drawn-mark:hover .read-out", ".drawn-mark:focus .read-out"):
        assert selector in style
