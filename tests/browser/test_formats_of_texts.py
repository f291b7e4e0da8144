"""Texts in their formats in a real browser: switched to the raw text, in any script, and harmless
whatever is in them."""

import json
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotations.models import Campaign
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.corpus.store import LoadResult
from evaluations.models import Project, Role

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
Load = Callable[..., LoadResult]
ARABIC = "متى تغادر العبّارة من Sandvik؟"
CHINESE = "渡轮每天早上八点十分从码头出发，" * 30
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 12
MARKDOWN = (
    f"# 结果\n\n{CHINESE}\n\n| a | b |\n|---|---|\n| 1 | {LONG_WORD[:60]} |\n\n"
    f"```python\ndef f():\n    return '{LONG_WORD}'\n```\n\nSo $x^2$. {LONG_WORD}\n\n{ARABIC}"
)
ACTING = (
    "<script>alert(1)</script><img src=https://evil.example/a.png onerror=alert(2)>"
    "<svg onload=alert(3)></svg><style>@import 'https://evil.example/a.css';</style>"
    "<form action=https://evil.example><button autofocus onfocus=alert(4)>x</button></form>"
    "<iframe src=https://evil.example></iframe><base href=https://evil.example>"
    "<details open ontoggle=alert(5)>x</details> ![p](https://evil.example/b.png)"
    " [x](javascript:alert(6)) </div></section></main>"
)
HOSTILE = {
    "plain": ACTING,
    "markdown": f"# {ACTING}\n\n- {ACTING}\n\n```html\n{ACTING}\n```\n\n{'> ' * 2_000}x",
    "code": ACTING,
    "html": f"<!doctype html><body>{ACTING}</body>",
    "json": json.dumps({ACTING: [ACTING, json.loads("[" * 30 + "]" * 30)]}),
    "table": f"a\tb\n{ACTING}\t" + "x" * 4_000 + "\n",
    "automatic": f"<div>{ACTING}</div>",
}


@pytest.fixture
def reader(make_user: Callable[..., User], project: Project) -> User:
    user = make_user("ann")
    project.memberships.create(user=user, role=Role.RESEARCHER)
    project.criteria.create(name="helpfulness")
    return user


def annotate(project: Project, user: User, **about: object) -> str:
    made = Campaign.objects.create(project=project, name="C", overlap=1, **about)
    made.criteria.set(project.criteria.all())
    seat_annotators(made, [user])
    open_campaign(made)
    return f"/p/small/annotate/{made.pk}/task/"


def test_m_switches_to_the_raw_text_where_texts_are_read(
    reader: User, project: Project, load: Load, sign_in: Callable[[str], Page]
) -> None:
    row = {"doc_id": "d", "system_id": "a", "source": "year,sum\n2026,5", "output": MARKDOWN}
    load(project, {"o.jsonl": json.dumps(row)})
    Project.objects.filter(pk=project.pk).update(output_format="markdown", source_format="table")
    page = sign_in("ann")
    document = f"/p/small/data/{project.documents.get().pk}/"

    for address in (document, annotate(project, reader)):
        page.goto(address)
        formula = page.locator("[data-formatted] msup")
        table = page.locator("[data-formatted] th", has_text="year")
        raw = page.get_by_text("| a | b |")
        expect(formula).to_be_visible()
        expect(table).to_be_visible()
        expect(raw).to_be_hidden()
        expect(page.get_by_text("which is what judges get").first).to_be_visible()
        page.keyboard.press("m")
        expect(raw).to_be_visible()
        expect(formula).to_be_hidden()
        expect(table).to_be_hidden()
        page.keyboard.press("m")
        expect(formula).to_be_visible()
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    page.keyboard.press("/")
    page.keyboard.type("2026")
    expect(page.locator("[data-found]")).to_have_text("Matches: 1")


def test_hostile_texts_do_nothing_in_any_format(
    reader: User, project: Project, load: Load, sign_in: Callable[[str], Page]
) -> None:
    page = sign_in("ann")
    left: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: left.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    row = {"doc_id": "d", "system_id": "a", "source": "s", "output": "o"}
    load(project, {"o.jsonl": json.dumps(row)})
    document = project.documents.get()
    task = annotate(project, reader)

    for kind, text in HOSTILE.items():
        project.documents.update(source=text, references=[text])
        document.outputs.update(text=text)
        Project.objects.filter(pk=project.pk).update(
            source_format=kind, output_format=kind, reference_format=kind
        )
        for address in (f"/p/small/data/{document.pk}/", task):
            page.goto(address)
            formatted = page.locator("[data-formatted]")
            assert (formatted.count() > 0) == (kind != "plain"), kind
            page.keyboard.press("m")
            # The page goes on behind the text.
            expect(page.locator("main")).to_have_count(1)
            acting = "script, style, img, svg, form, iframe, base, a, button, [onerror], [style]"
            assert page.locator(".text").locator(acting).count() == 0, kind
    origin = "/".join(page.url.split("/")[:3])
    assert [url for url in left if not url.startswith(origin)] == []
    assert dialogs == []
