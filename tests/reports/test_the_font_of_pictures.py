"""The font of PNG and PDF comes with the package: regular and bold, with its licence, and as wide
as drawings compute."""

import re
import tomllib
from pathlib import Path

import pytest

from geval.reports.drawings import rendering
from geval.reports.drawings.rendering import as_picture
from geval.reports.drawings.shapes import Drawing, Words, width_of
from tests.conftest import CHECKOUT

FONTS = Path(rendering.__file__).with_name("fonts")
LETTERS = "Ab ÄőŽ Ελλ Кир ρ = 0.52 − ± – … × → † Việt"


def test_the_package_has_the_font_with_its_licence() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["geval"]
    packed = {path for pattern in patterns for path in (CHECKOUT / "geval").glob(pattern)}

    assert {path.name for path in FONTS.iterdir()} == {
        "Arimo-Bold.ttf",
        "Arimo-Regular.ttf",
        "LICENSE",
    }
    assert set(FONTS.iterdir()) <= packed
    assert "SIL OPEN FONT LICENSE" in (FONTS / "LICENSE").read_text()
    assert str((FONTS / "LICENSE").relative_to(CHECKOUT)) in project["project"]["license-files"]


@pytest.mark.parametrize(("is_bold", "name"), [(False, "Regular"), (True, "Bold")])
def test_letters_are_of_the_font_in_its_weight(is_bold: bool, name: str) -> None:
    words = Words(0, 20, LETTERS, "ink", is_bold=is_bold)
    drawing = Drawing("matrix", "T", "", 40, (words,), (), (), width=width_of(LETTERS) + 40)

    pdf = as_picture(drawing, "pdf")

    assert set(re.findall(rb"/BaseFont ?/[A-Z]{6}\+([\w-]+)", pdf)) == {f"Arimo-{name}".encode()}
