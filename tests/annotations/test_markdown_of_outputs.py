"""Outputs shown formatted: a campaign's choice, harmless whatever a system wrote, and never what a
judge gets."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Campaign
from evaluations.models import CandidateOutput
from geval.texts.formatting.safe_html import as_html, output_as_html
from geval.texts.formatting.showing import MOST_LETTERS

WRITTEN = "## Findings\n\n- **one**\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |"
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "style": "<style>* { display: none }</style><p style='position:fixed'>x</p>",
    "form": "<form action=https://evil.example><input name=password></form>",
    "frame": "<iframe src=https://evil.example></iframe>",
    "image": "![pixel](https://evil.example/pixel.png)",
    "reference image": "![pixel][1]\n\n[1]: https://evil.example/pixel.png",
    "script link": "[click](javascript:alert(1)) <javascript:alert(1)>",
    "data link": "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "link": "[click](https://evil.example) <https://evil.example/auto>",
    "entity": "&lt;script&gt;alert(1)&lt;/script&gt; [x](&#106;avascript:alert(1))",
    "fence": "```<script>\nalert(1)\n```",
    "html in a table": "| a |\n|---|\n| <svg onload=alert(1)> |",
    "closing": "</div></section></body><script>alert(1)</script>",
    "comment": "<!-- --><base href=https://evil.example>",
    "form field": "- [ ] <button form=answer>Submit</button>",
}


def elements(html: str) -> set[str]:
    return set(re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)", html))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markdown_is_text_or_nothing(text: str) -> None:
    html = output_as_html(text)

    assert elements(html) <= {
        "p", "ul", "li", "pre", "code", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    inside = " ".join(re.findall(r"<[^>]*>", html))
    assert not re.search(r"\b(on\w+|style|src|href|action|class|id)\s*=", inside)


DEEP = {
    "quotes": "> " * 9_000 + "deep",
    "lists": "- " * 5_000 + "x",
    "brackets": "[" * 6_000,
    "stars": "*" * 9_000,
    "images": "![" * 3_000,
    "emphasis": "a**b" * 3_000,
    "stairs": "\n".join(" " * depth + "- x" for depth in range(150)),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_and_long_texts_end_without_an_error(text: str) -> None:
    assert len(text) <= MOST_LETTERS
    assert output_as_html(text).startswith("<")


FORMULAS = {
    "link": r"$\href{javascript:alert(1)}{x}$",
    "style": r"$\style{position:fixed}{x}$ $\class{drawer}{x}$",
    "text": r"$\text{<img src=x onerror=alert(1)>}$",
    "unknown": r"$\left($ $\frac\frac$ $\begin{matrix}$",
    "deep": "$" + "{" * 400 + "$",
    "many": "$a$" * 6_000,
    "code": "```html\n<script>alert(1)</script>\n```",
    "code that is slow to read": "```xml\n" + "&" * 9_000 + "\n```",
    "an unknown language": "```brainfuck\n+++\n```",
}


@pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS)
def test_hostile_formulas_and_code_do_nothing(text: str) -> None:
    html = output_as_html(text)

    assert html
    assert not elements(html) & {"script", "img", "a", "style", "svg", "annotation-xml", "mglyph"}
    inside = " ".join(re.findall(r"<[^>]*>", html))
    assert not re.search(r"\b(on\w+|style|src|href|action|id)\s*=", inside)
    assert all(name.startswith("code-") for name in re.findall(r'class="([^"]+)"', inside))


def test_guidelines_keep_their_links_and_nothing_else_that_acts() -> None:
    html = as_html("[rules](https://example.org) [bad](javascript:alert(1)) <b onclick=x>y</b>")

    assert '<a href="https://example.org" rel="noopener noreferrer nofollow">rules</a>' in html
    assert elements(html) == {"p", "a"}


@pytest.mark.django_db
def test_a_campaign_shows_outputs_formatted_beside_what_judges_get(
    make_campaign: Callable[..., Campaign], annotators: list[User]
) -> None:
    CandidateOutput.objects.update(text=WRITTEN + HOSTILE["script"])
    client = Client()
    client.force_login(annotators[0])
    shown = make_campaign(show_markdown=True)
    plain = make_campaign()

    def page(campaign: Campaign) -> str:
        address = f"/p/small/annotate/{campaign.pk}/task/"
        return client.get(address).content.decode()

    formatted = page(shown)
    assert "<strong>one</strong>" in formatted
    assert "## Findings" in formatted
    assert "which is what judges get" in formatted
    assert "<script>alert" not in formatted
    assert "<strong>one</strong>" not in page(plain)
    assert "data-as-written" not in page(plain)
