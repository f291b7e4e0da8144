"""Names that people gave are names in charts and LaTeX: no link, no tag, no colour, no argument of
a command."""

from typing import Any

import pytest

from geval.reports.downloads.latex import first_cell
from geval.reports.figures import Figure, as_label


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ('<a href="https://x.example">y</a>', '&lt;a href="https://x.example"&gt;y&lt;/a&gt;'),
        ("<b>R&D</b>", "&lt;b&gt;R&amp;D&lt;/b&gt;"),
        ("--human", "&#45;-human"),
        ("series:1", "&#115;eries:1"),
        ("GPT-4 (2)", "GPT-4 (2)"),
    ],
)
def test_plotly_shows_a_name_letter_by_letter(name: str, drawn: str) -> None:
    traces: list[dict[str, Any]] = [
        {
            "name": name,
            "x": [name, 1],
            "text": [[name]],
            "marker": {"color": "--llm"},
            "hovertemplate": "a<br>b",
        }
    ]

    (trace,) = Figure("title", "caption", traces, (), ()).as_json()["traces"]

    assert (trace["name"], trace["x"], trace["text"]) == (drawn, [drawn, 1], [[drawn]])
    assert (trace["marker"], trace["hovertemplate"]) == ({"color": "--llm"}, "a<br>b")
    assert as_label(None) is None


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("[2] judge", "{}[2] judge"),
        ("* best", "{}* best"),
        (" [x]", "{} [x]"),
        ("a [b] *", "a [b] *"),
        ("a\nb", "a b"),
    ],
)
def test_a_row_of_latex_begins_with_no_argument(name: str, written: str) -> None:
    assert first_cell(name) == written
