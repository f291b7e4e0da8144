"""Templates hold neither scripts nor styles of their own, and no tag that Django shows as text."""

import re
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

TEMPLATES = sorted(
    path for path in (CHECKOUT / "templates").rglob("*") if path.suffix in (".html", ".txt")
)
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style\b|\s(?:style|on[a-z]+)=\"", re.I)
# The theme must be known before anything is painted, and Plotly's bundle is no module; htmx has a
# tag of its own.
CLASSIC = {"js/theme.js", "plotly/plotly.min.js"}


def name_of(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_no_tag_is_cut_by_a_line_break(path: Path) -> None:
    """Django shows a tag with a line break in it as text."""
    text = path.read_text()
    cut = re.finditer(r"\{%[^%]*\n[^%]*%\}|\{\{[^}]*\n[^}]*\}\}|\{#[^#]*\n", text)

    assert [f"{name_of(path)}:{text.count(chr(10), 0, found.start()) + 1}" for found in cut] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_nothing_is_inline_and_scripts_are_modules(path: Path) -> None:
    text = path.read_text()
    scripts = re.findall(r"<script([^>]*)src=\"\{% static '([^']+)' %\}\"", text)

    assert INLINE.findall(text) == []
    assert [
        name
        for attributes, name in scripts
        if 'type="module"' not in attributes and name not in CLASSIC
    ] == []


@pytest.mark.parametrize("path", sorted((CHECKOUT / "static/js").rglob("*.js")), ids=name_of)
def test_scripts_share_nothing_through_the_window(path: Path) -> None:
    assert re.findall(r"\b(?:window|globalThis)\.\w+ *=[^=]", path.read_text()) == []
