"""Guidelines and consent hold parts for languages, which begin with a line such as [de]."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotations.models import Campaign, OpenLink
from evaluations.models import Project
from geval.texts.in_languages import part_in

LANGUAGES = ("en", "de", "zh-hans")
TEXT = "Rate it.\n[de]\nBewerten Sie.\n\n[zh-hans]  \r\n请评分。\n"


@pytest.mark.parametrize(
    ("language", "part"),
    [("de", "Bewerten Sie."), ("zh-hans", "请评分。"), ("en", "Rate it."), ("fr", "Rate it.")],
)
def test_a_language_has_its_part(language: str, part: str) -> None:
    assert part_in(TEXT, language, LANGUAGES) == part


def test_without_a_text_for_all_the_first_part_is() -> None:
    assert part_in("[de]\nBewerten Sie.\n[en]\nRate.", "fr", LANGUAGES) == "Bewerten Sie."


@pytest.mark.parametrize("text", ["See [de] below.", "[1]\nA note.", "[it]\nVoti.", "", "x\n"])
def test_other_brackets_are_text(text: str) -> None:
    assert part_in(text, "de", LANGUAGES) == text


@given(st.text(alphabet="ab[]de\n "), st.sampled_from(LANGUAGES))
def test_a_part_is_of_the_text(text: str, language: str) -> None:
    assert part_in(text, language, LANGUAGES) in text


@pytest.mark.django_db
def test_annotators_read_guidelines_and_consent_in_their_language(
    make_campaign: Callable[..., Campaign], annotators: list[User], small_project: Project
) -> None:
    campaign = make_campaign(overlap=3)
    Project.objects.filter(pk=campaign.project_id).update(guidelines=TEXT)
    OpenLink.objects.create(campaign=campaign, address="ferries", title="Rate", consent=TEXT)
    client, visitor = Client(), Client()
    client.force_login(annotators[0])

    for person, address in (
        (client, f"/p/small/annotate/{campaign.pk}/task/"),
        (visitor, "/c/ferries"),
    ):
        german = person.get(address, headers={"Accept-Language": "de"}).content.decode()
        other = person.get(address, headers={"Accept-Language": "fr"}).content.decode()
        assert "Bewerten Sie." in german
        assert "Rate it." not in german
        assert "Rate it." in other
        assert "[de]" not in german + other
