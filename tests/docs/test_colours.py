"""Text can be read on its background, light and dark: a contrast of 4.5 at least, as WCAG asks
for."""

import re

import pytest

from tests.conftest import CHECKOUT

TOKENS = (CHECKOUT / "static/css/tokens.css").read_text()
LEAST = 4.5
# Numbers in heat maps are ink, and every cell lies between one of the ends and paper.
PAIRS = [
    ("ink", "heat-low"), ("ink", "heat-high"), ("ink", "paper"), ("quiet", "paper"),
    ("quiet", "surface"),
    ("human", "paper"), ("llm", "paper"), ("bad", "paper"), ("bad", "bad-wash"),
    ("accent-ink", "accent"),
    ("ink", "accent-wash"),
]  # fmt: skip


def themes() -> list[dict[str, str]]:
    """The colours of each block of tokens, by name."""
    return [
        dict(re.findall(r"--([\w-]+): (#\w{6});", block))
        for block in re.findall(r"\{[^{}]+\}", TOKENS)
    ]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_white_on_black_is_twenty_one() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)


def test_the_two_dark_themes_are_one() -> None:
    _light, switched, preferred = themes()

    assert switched == preferred


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_can_be_read(text: str, ground: str) -> None:
    poor = [theme[ground] for theme in themes() if contrast(theme[text], theme[ground]) < LEAST]

    assert poor == []


def test_a_judge_has_not_the_colour_of_a_link() -> None:
    assert [theme for theme in themes() if theme["llm"] in (theme["accent"], theme["ink"])] == []
