"""Hostile texts do nothing in any format: nothing loads, runs, links or hangs."""

import re

import pytest

from geval.texts.formatting.kinds import FieldFormat, TextFormat
from geval.texts.formatting.showing import MOST_LETTERS, shown

ACTING = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)><svg onload=alert(1)>",
    "style": "<style>@import 'https://evil.example/a.css'; * {display: none}</style>",
    "form": "<form action=https://evil.example><input name=password autofocus></form>",
    "frame": "<iframe src=https://evil.example></iframe><object data=x></object><embed src=x>",
    "image": "![pixel](https://evil.example/a.png) <img src=https://evil.example/b.png>",
    "link": "[x](javascript:alert(1)) <a href=javascript:alert(1)>x</a> <https://evil.example>",
    "page": "<base href=https://evil.example><meta http-equiv=refresh content='0;url=//evil'>",
    "closing": "</code></pre></td></table></div></details></main><script>alert(1)</script>",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></math>",
    "own marks": '<div data-formatted class="drawer" id="stage" style="position:fixed">x</div>',
    "template": "{% load x %}{{ settings.SECRET_KEY }} ${alert(1)}",
}
WRAPPED = {
    TextFormat.PLAIN: "{}",
    TextFormat.MARKDOWN: "# {0}\n\n- {0}\n\n| a |\n|---|\n| {0} |\n\n```html\n{0}\n```\n\n{0}",
    TextFormat.CODE: "{}",
    TextFormat.HTML: "<p>{}",
    TextFormat.TABLE: "a\tb\n{0}\t{0}",
    TextFormat.AUTOMATIC: "<div>{}</div>",
}
HARMLESS = {
    "p", "ul", "li", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "span", "h3",
}  # fmt: skip
DEEP = {
    "quotes": "> " * 9_000 + "x",
    "lists": "- " * 9_000 + "x",
    "stairs": "\n".join(" " * depth + "- x" for depth in range(190)),
    "brackets": "[" * 19_000,
    "braces": "{" * 19_000,
    "JSON": '{"a":' * 3_000 + "1" + "}" * 3_000,
    "lists of JSON": "[" * 9_000 + "]" * 9_000,
    "elements": "<div>" * 3_500,
    "ampersands": "&" * 19_000,
    "quotation marks": '"' * 19_000,
    "a wide table": "a," * 9_000 + "a\n" + "b," * 500 + "b",
    "a long table": "a,b\n" * 4_500,
    "formulas": "$" + "{" * 9_000 + "$",
}


def hostile(kind: TextFormat, text: str) -> str:
    if kind == TextFormat.JSON:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'{{"{escaped}": ["{escaped}"]}}'
    return WRAPPED[kind].replace("{0}", text).replace("{}", text)


@pytest.mark.parametrize("kind", TextFormat)
@pytest.mark.parametrize("text", ACTING.values(), ids=ACTING)
def test_what_would_act_is_text(text: str, kind: TextFormat) -> None:
    found = shown(hostile(kind, text), FieldFormat(kind, "javascript"))

    assert not found.why
    assert bool(found.html) == (kind != TextFormat.PLAIN)
    tags = re.findall(r"<[^>]*>", found.html)
    assert {re.sub(r"[^a-z0-9]", "", tag.split()[0]) for tag in tags} <= HARMLESS
    assert {re.sub(r'="code-[a-z0-9]+"', "", " ".join(tag.split()[1:])) for tag in tags} <= {
        "",
        "class>",
    }


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_is_deep_or_enormous_ends_without_an_error(text: str) -> None:
    assert len(text) <= MOST_LETTERS
    for kind in TextFormat:
        found = shown(text, FieldFormat(kind, "python"))
        assert not (found.html and found.why)
        # A page stays readable: what is shown is at most so many times what was written.
        assert len(found.html) < 60 * MOST_LETTERS
