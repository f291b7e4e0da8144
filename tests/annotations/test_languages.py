"""Annotators' pages speak the person's language, else the campaign's, else the browser's; the
catalogues have all that these pages say, in each language."""

import ast
import gettext
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import translation

from annotations.models import Campaign, CampaignKind, OpenLink
from evaluations.models import PersonalSettings, Project
from evaluations.people.languages import counted, with_point

HERE = Path(__file__).resolve().parents[2]
CATALOGUES = runpy.run_path(str(HERE / ".ci" / "catalogues.py"), run_name="catalogues")
OTHERS = [code for code, _ in settings.LANGUAGES if code != "en"]


ROOMS = (
    "annotations/answering",
    "annotations/planning/assignment.py",
    "annotations/views/tasks.py",
)


def test_errors_that_annotators_see_are_marked() -> None:
    plain = []
    paths = [
        p for room in ROOMS for p in [HERE / room, *(HERE / room).rglob("*.py")] if p.is_file()
    ]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            is_error = (
                isinstance(node, ast.Call) and getattr(node.func, "id", "") == "AnnotationError"
            )
            if is_error and isinstance(node.args[0], ast.Constant):  # type: ignore[attr-defined]
                plain.append(f"{path.name}:{node.lineno}")  # type: ignore[attr-defined]

    assert plain == []


@pytest.fixture(scope="module")
def marked() -> set[str]:
    return {*CATALOGUES["texts_of_code"](), *CATALOGUES["texts_of_templates"]()}


@pytest.mark.parametrize("code", OTHERS)
def test_catalogues_have_every_text_and_no_other(code: str, marked: set[str]) -> None:
    entries = CATALOGUES["read_po"](po_of(code).read_text())

    assert set(entries) == marked, "python .ci/catalogues.py writes what has changed"
    assert [text for text, translated in entries.items() if not translated] == []


@pytest.mark.parametrize("code", OTHERS)
def test_translations_have_the_same_names_to_fill_in(code: str) -> None:
    entries = CATALOGUES["read_po"](po_of(code).read_text())
    names = re.compile(r"%\(\w+\)s|%%|\{\w+\}")

    assert [
        text
        for text, words in entries.items()
        if sorted(names.findall(text)) != sorted(names.findall(words))
    ] == []


@pytest.mark.parametrize("code", OTHERS)
def test_compiled_catalogues_are_those_of_the_texts(code: str) -> None:
    entries = CATALOGUES["read_po"](po_of(code).read_text())
    with po_of(code).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    assert {text: compiled.gettext(text) for text in entries} == entries


def po_of(code: str) -> Path:
    return HERE / "geval_site/locale" / translation.to_locale(code) / "LC_MESSAGES/django.po"


@pytest.fixture
def annotator(
    make_campaign: Callable[..., Campaign], annotators: list[User], client: Client
) -> Client:
    make_campaign()
    client.force_login(annotators[0])
    return client


def task_of(client: Client, campaign: Campaign, browser: str = "") -> Any:
    address = f"/p/small/annotate/{campaign.pk}/task/"
    return client.get(address, headers={"Accept-Language": browser} if browser else {})


@pytest.mark.django_db
def test_the_person_goes_before_the_campaign_and_that_before_the_browser(
    annotator: Client, annotators: list[User]
) -> None:
    campaign = Campaign.objects.get()
    assert b'<html lang="en">' in task_of(annotator, campaign).content
    assert b'<html lang="fr">' in task_of(annotator, campaign, "fr-CA,de;q=0.5").content
    assert b'<html lang="zh-hans">' in task_of(annotator, campaign, "zh-CN").content
    assert b'<html lang="en">' in task_of(annotator, campaign, "xx,*").content

    Campaign.objects.update(language="de")
    assert b'<html lang="de">' in task_of(annotator, campaign, "fr").content

    answer = annotator.post("/language/", {"language": "es", "next": "/p/small/"})
    assert (answer.status_code, answer["Location"]) == (302, "/p/small/")
    assert PersonalSettings.objects.get().user == annotators[0]
    page = task_of(annotator, campaign, "fr")
    assert b'<html lang="es">' in page.content
    assert "Enviar respuesta" in page.content.decode()


@pytest.mark.django_db
def test_responses_say_what_they_depend_on(annotator: Client) -> None:
    page = task_of(annotator, Campaign.objects.get(), "pt-BR")

    assert page["Content-Language"] == "pt"
    assert {"Accept-Language", "Cookie"} <= {word.strip() for word in page["Vary"].split(",")}


@pytest.mark.django_db
def test_refusals_are_in_the_language_too(annotator: Client) -> None:
    campaign = Campaign.objects.get()
    Campaign.objects.update(language="de")
    task_of(annotator, campaign)
    own = campaign.assignments.first()
    assert own is not None

    page = annotator.post(f"/p/small/annotate/{campaign.pk}/task/{own.pk}/submit/", {})

    assert page.status_code == 422
    assert "Bewerten Sie coherence." in page.content.decode()


@pytest.mark.django_db
def test_other_pages_are_in_english_whatever_the_browser_asks_for(
    as_role: Callable[[str], Client], small_project: Project
) -> None:
    owner = as_role("owner")
    for address in ("/", "/p/small/", "/p/small/annotate/", "/p/small/members/"):
        page = owner.get(address, headers={"Accept-Language": "de"})
        assert '<html lang="en">' in page.content.decode(), address
        assert "language-menu" not in page.content.decode()


@pytest.mark.django_db
def test_visitors_of_an_open_link_choose_by_a_cookie(
    make_campaign: Callable[..., Campaign], client: Client
) -> None:
    campaign = make_campaign(users=[], is_open=False, language="ja")
    OpenLink.objects.create(campaign=campaign, address="study", title="T", consent="C")
    campaign.state = "open"
    campaign.save()
    assert "同意して参加する" in client.get("/c/study?id=p1").content.decode()

    client.post("/language/", {"language": "pt", "next": "https://elsewhere.example/"})

    assert "Aceito e participo" in client.get("/c/study?id=p1").content.decode()


@pytest.mark.django_db
def test_the_menu_leads_back_to_this_site_only(client: Client) -> None:
    answer = client.post("/language/", {"language": "de", "next": "https://elsewhere.example/"})
    assert answer["Location"] == "/"
    answer = client.post("/language/", {"language": "xx", "next": "/x/"})
    assert "django_language" not in answer.cookies


def test_numbers_follow_the_language() -> None:
    assert (counted(12345), with_point(2.5)) == ("12\u202f345", "2.5")
    with translation.override("de"):
        assert (counted(12345), with_point(2.5), with_point(3.0)) == ("12.345", "2,5", "3")


@pytest.mark.django_db
def test_a_campaign_has_one_of_the_languages(small_project: Project) -> None:
    campaign = Campaign(project=small_project, name="C", kind=CampaignKind.RATING, language="xx")

    with pytest.raises(ValidationError) as refused:
        campaign.full_clean()

    assert set(refused.value.message_dict) == {"language"}
