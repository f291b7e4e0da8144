"""Guidelines and consent hold parts for languages, which begin with a line such as [de]."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Campaign, OpenLink
from evaluations.models import Project
from geval.texts.in_languages import name_in, part_in
from geval.texts.short_questions import ShortQuestionError, read_questions

TEXT = "Rate it.\n[de]\nBewerten Sie.\n\n[zh-hans]  \r\n请评分。\n"


@pytest.mark.parametrize(
    ("language", "part"),
    [("de", "Bewerten Sie."), ("zh-hans", "请评分。"), ("en", "Rate it."), ("fr", "Rate it.")],
)
def test_a_language_has_its_part(language: str, part: str) -> None:
    assert part_in(TEXT, language) == part


def test_without_a_text_for_all_the_first_part_is() -> None:
    assert part_in("[de]\nBewerten Sie.\n[en]\nRate.", "fr") == "Bewerten Sie."


@pytest.mark.parametrize("text", ["See [de] below.", "[1]\nA note.", "[it]\nVoti.", "", "x\n"])
def test_other_brackets_are_text(text: str) -> None:
    assert part_in(text, "de") == text


@pytest.mark.parametrize(
    ("name", "language", "part"),
    [
        ("Rate [de] Bewerten [ja] 評価", "de", "Bewerten"),
        ("Rate [de] Bewerten [ja] 評価", "ja", "評価"),
        ("Rate [de] Bewerten", "fr", "Rate"),
        ("Rate [DE] Bewerten", "de", "Bewerten"),
        ("[de] Bewerten [en] Rate", "fr", "Bewerten"),
        ("Rate texts [de]", "de", "Rate texts [de]"),
        ("Rate[de] texts", "de", "Rate[de] texts"),
        ("Rate [it] Votare", "it", "Rate [it] Votare"),
    ],
)
def test_a_name_has_parts_within_its_line(name: str, language: str, part: str) -> None:
    assert name_in(name, language) == part


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


@pytest.mark.parametrize(
    "lines", ["A? [de] B? | number\nA? [fr] C? | text", "A? | yes [de] ja, yes [fr] oui"]
)
def test_questions_and_choices_differ_in_their_first_words(lines: str) -> None:
    with pytest.raises(ShortQuestionError, match=r"asked already|there twice"):
        read_questions(lines)
