"""Figures are 85 and 174 mm wide, hold all their ink, and use one ink and one colour."""

import pytest

from geval.reports.drawings.shapes import fitting, width_of, wrapped


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
