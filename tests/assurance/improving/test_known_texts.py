"""Documents are known across projects by a folded form of their texts; programs get no second draw
of known texts, and certificates name that of people."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from assurance.certifying.certificates import certify, read_requirements
from assurance.improving.certificate import certificate
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.draws import earlier_draws
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import (
    ApiToken,
    Change,
    Criterion,
    Judge,
    LockedDocuments,
    Membership,
    Project,
)
from evaluations.models.tokens import new_token
from geval.standin.planted import as_csv
from geval.texts.spelling import folded

pytestmark = pytest.mark.django_db
HAIRS: dict[str, Callable[[str], str]] = {
    "a blank behind": lambda text: text + " ",
    "a line break before": lambda text: "\n" + text,
    "two blanks": lambda text: text.replace(" ", "  "),
    "no blank": lambda text: text.replace(" ", ""),
    "case": str.upper,
    "no full stop": lambda text: text.rstrip("."),
    "quotation marks": lambda text: f"“{text}”",
    "zero width": "\u200b".join,
    "soft hyphens": lambda text: text.replace("x", "\u00adx"),
    "Cyrillic": lambda text: text.replace("e", "\u0435"),
    "Greek capital": lambda text: text.replace("T", "\u03a4"),
    "full width": lambda text: text.replace("T", "\uff34").replace("1", "\uff11"),
    "mathematical": lambda text: text.replace("x", "\U0001d431"),
    "accents": lambda text: text.replace("e", "e\u0301\u0316"),
    "digits of another script": lambda text: text.replace("1", "\u0661"),
    "letter for a digit": lambda text: text.replace("1", "l"),
    "marks of Markdown": lambda text: f"**{text}**",
    "emoji": lambda text: text + " \N{CAT}",
}


def copied(
    load: Callable[..., Any],
    change: Callable[[str], str] = str,
    *,
    numbers: range = range(60),
    others: int = 0,
    slug: str = "other",
) -> Project:
    """A project with the texts of the rated one, changed a little, and other texts."""
    other, _new = Project.objects.get_or_create(slug=slug, defaults={"name": slug})
    texts = [change(f"Text {number}.") for number in numbers]
    texts += [f"Something else, {number} of it" for number in range(others)]
    rows: list[tuple[object, ...]] = [
        (f"{slug}{numbers}-{n}", "s0", text, "Out") for n, text in enumerate(texts)
    ]
    load(other, {"outputs.csv": as_csv("doc_id,system_id,source,output", rows)})
    return other


@pytest.mark.parametrize("change", HAIRS.values(), ids=HAIRS)
def test_a_hair_makes_no_other_text(change: Callable[[str], str]) -> None:
    text = "Text 1 of the exam."
    assert change(text) != text
    assert folded(change(text)) == folded(text)


@given(st.text())
def test_folding_twice_changes_nothing_and_case_does_not_matter(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(f" {text}!") == folded(text)


def test_folding_each_letter_twice_changes_nothing() -> None:
    """A letter may look like one that is itself of a group: Cyrillic en like H, and h like n."""
    letters = (chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000)

    assert [each for each in letters if folded(folded(each)) != folded(each)] == []
    assert folded("\N{CYRILLIC CAPITAL LETTER EN}ello") == folded("Hello")


def test_other_numbers_and_scripts_are_other_texts() -> None:
    texts = [f"Text {number}." for number in range(2000)]
    texts += ["东京的天气", "北京的天气", "नमस्ते", "Ναι", "Όχι"]
    assert len({folded(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("hair", ["a blank behind", "Cyrillic", "zero width"])
def test_programs_get_no_second_draw_of_known_texts(
    locked: LockedDocuments, load: Callable[..., Any], owner: User, client: Client, hair: str
) -> None:
    other = copied(load, HAIRS[hair], numbers=range(38), others=2)
    Membership.objects.create(project=other, user=owner, role="owner")
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="agent", digest=digest)
    headers = {"Authorization": f"Bearer {token}"}

    refused = client.post(
        "/api/v1/projects/other/locked", {"share": 0.4}, "application/json", headers=headers
    )

    assert refused.status_code == 422
    assert "2nd draw of 38 of these 40 texts" in refused.content.decode()
    assert not LockedDocuments.objects.filter(project=other).exists()


def test_people_draw_again_and_certificates_name_it(
    locked: LockedDocuments, load: Callable[..., Any], owner: User, client: Client
) -> None:
    other = copied(load, HAIRS["a blank behind"], numbers=range(38), others=2)
    Membership.objects.create(project=other, user=owner, role="owner")
    client.force_login(owner)

    client.post("/p/other/improve/lock/", {"percent": 40, "looks": 3})

    assert other.locked.seed != locked.seed
    assert certificate(other.locked)["earlier_draws"] == "2nd draw of 38 of these 40 texts"
    assert certificate(locked)["earlier_draws"] is None


def test_signed_certificates_and_pages_name_a_second_draw(
    judge: Judge, criterion: Criterion, load: Callable[..., Any], owner: User, client: Client
) -> None:
    client.force_login(owner)
    lock_documents(copied(load))
    lock_documents(judge.project)

    made = certify(judge, criterion, read_requirements(["documents>=1"]))

    named = "2nd draw of 60 of these 60 texts"
    assert made.content["what_numbers_speak_of"] == [
        f"The locked documents are the {named} on this site."
    ]
    for page in ("/p/small/improve/", made.get_absolute_url()):
        assert named in client.get(page).content.decode()


def test_nine_known_texts_are_a_coincidence(
    locked: LockedDocuments, load: Callable[..., Any]
) -> None:
    other = copied(load, numbers=range(9), others=40)

    lock_documents(other, may_redraw=False)

    assert certificate(other.locked)["earlier_draws"] is None


def test_known_texts_are_counted_when_they_come_after_the_lock(
    rated_project: Project, load: Callable[..., Any]
) -> None:
    """A lock of other texts in advance gives no fresh looks at known ones."""
    early = copied(load, numbers=range(0), others=40)
    lock_documents(early, may_redraw=False)
    first = lock_documents(rated_project)

    copied(load, HAIRS["case"])

    assert str(earlier_draws(early)) == "2nd draw of 60 of these 100 texts"
    assert not earlier_draws(first.project)


def test_conversations_are_known_without_their_names(load: Callable[..., Any]) -> None:
    def talks(slug: str, mark: str) -> Project:
        project = Project.objects.create(slug=slug, name=slug)
        rows = [
            {"session_id": f"{slug}{n}", "system_id": "s", "rate": "assistant", "turns": [
                {"role": "user", "text": f"What about {n}{mark}"},
                {"role": "assistant", "text": f"It is {n}, as always{mark}"}]}
            for n in range(12)
        ]  # fmt: skip
        load(project, {f"{slug}.jsonl": "\n".join(map(json.dumps, rows))})
        return project

    lock_documents(talks("first", "?"))

    assert str(earlier_draws(talks("second", " !!"))) == "2nd draw of 12 of these 12 texts"


def test_programs_take_no_look_at_texts_that_were_drawn_before(
    judge: Judge,
    criterion: Criterion,
    load: Callable[..., Any],
    owner: User,
    client: Client,
) -> None:
    lock_documents(copied(load))
    lock_documents(judge.project)
    search = request_search(judge, criterion, [Change.PANEL])
    work_on_search(search.pk)
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="agent", digest=digest)

    refused = client.post(
        f"/api/v1/projects/small/candidates/{search.candidates.get().pk}/look",
        headers={"Authorization": f"Bearer {token}"},
    )

    assert refused.status_code == 422
    assert "2nd draw of 60 of these 60 texts" in refused.content.decode()
    assert judge.project.locked.looks_used() == 0
