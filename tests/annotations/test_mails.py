"""Mails to annotators: that there is work, that a campaign ends soon, the week; each once, in their
language, until they switch it off; none without the setting."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotations.answering.submission import submit
from annotations.models import Campaign, Seat
from annotations.planning.assignment import queue_of
from annotations.results.mails import note_due_mails, send_work_mail
from annotations.results.reviewing import give_back
from evaluations.models import Mail, Membership, PersonalSettings
from evaluations.people.mails import unsent

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sends(settings: Any) -> None:
    settings.SENDS_MAIL = True
    settings.PRODUCTION = True
    settings.ALLOWED_HOSTS = ["rate.example.org", "testserver"]


@pytest.fixture
def ann(make_campaign: Callable[..., Campaign], annotators: list[User]) -> User:
    """An annotator with an address in an open campaign; the others have none."""
    make_campaign(name="Ferries")
    ann = annotators[0]
    ann.email = "ann@example.org"
    ann.save()
    return ann


def send_due() -> list[str]:
    """The subjects of what is sent now, as workers do."""
    before = len(mail.outbox)
    note_due_mails()
    for pk in unsent():
        send_work_mail(pk)
    return sorted(message.subject for message in mail.outbox[before:])


def test_work_and_the_week_are_mailed_once(ann: User) -> None:
    assert send_due() == ["There is work for you: “Ferries”", "Your week of annotating"]
    assert send_due() == []

    campaign = Campaign.objects.get()
    work = next(message for message in mail.outbox if "work" in message.subject)
    assert work.to == ["ann@example.org"]
    assert f"https://rate.example.org/p/small/annotate/{campaign.pk}/task/" in work.body
    assert "https://rate.example.org/mails/" in work.body


def test_the_last_two_days_are_announced(ann: User) -> None:
    PersonalSettings.objects.create(user=ann, mails_work=False, mails_digest=False)
    Campaign.objects.update(deadline=timezone.now() + timedelta(days=2, hours=1))
    assert send_due() == []

    Campaign.objects.update(deadline=timezone.now() + timedelta(days=1))
    [subject] = send_due()
    assert subject.startswith("Ends on ")
    assert send_due() == []


@pytest.mark.parametrize("kind", ["work", "deadline", "digest"])
def test_each_kind_can_be_switched_off(ann: User, kind: str) -> None:
    Campaign.objects.update(deadline=timezone.now() + timedelta(days=1))
    PersonalSettings.objects.create(user=ann, **{f"mails_{kind}": False})

    assert len(send_due()) == 2
    assert not Mail.objects.filter(kind=kind).exists()


def test_what_was_switched_off_meanwhile_is_not_sent(ann: User) -> None:
    note_due_mails()
    PersonalSettings.objects.create(user=ann, mails_work=False, mails_digest=False)

    for pk in unsent():
        send_work_mail(pk)

    assert mail.outbox == []


def test_nobody_without_work_an_address_or_membership_gets_one(ann: User) -> None:
    for change in (
        lambda: Campaign.objects.update(state="closed"),
        lambda: Seat.objects.update(removed_at=timezone.now()),
        lambda: Membership.objects.filter(user=ann).delete(),
        lambda: User.objects.update(email=""),
    ):
        change()
        assert send_due() == []
        Campaign.objects.update(state="open")
        Seat.objects.update(removed_at=None)


def test_nothing_is_noted_or_sent_without_the_setting(ann: User, settings: Any) -> None:
    note_due_mails()
    settings.SENDS_MAIL = False
    assert send_due() == []
    Mail.objects.all().delete()
    assert send_due() == []
    assert not Mail.objects.exists()


def test_two_workers_send_a_mail_once_and_a_failed_one_again(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    PersonalSettings.objects.create(user=ann, mails_digest=False)
    note_due_mails()
    pk = Mail.objects.get().pk

    def fail(*_args: Any) -> None:
        send_work_mail(pk)  # another worker, meanwhile
        raise OSError("the mail server is away")

    with monkeypatch.context() as broken:
        broken.setattr("annotations.results.mails.send", fail)
        with pytest.raises(OSError, match="away"):
            send_work_mail(pk)
    assert (mail.outbox, unsent()) == ([], [])

    Mail.objects.update(tried_at=timezone.now() - timedelta(minutes=11))
    send_work_mail(pk)
    send_work_mail(pk)
    assert len(mail.outbox) == 1


def test_a_person_chooses_address_and_mails(ann: User, client: Client) -> None:
    client.force_login(ann)
    page = client.get("/mails/", headers={"Accept-Language": "de"}).content.decode()
    assert "Ein Überblick jede Woche" in page

    client.post("/mails/", {"email": "new@example.org", "mails_deadline": "on"})

    ann.refresh_from_db()
    chosen = PersonalSettings.objects.get()
    assert ann.email == "new@example.org"
    assert (chosen.mails_work, chosen.mails_deadline, chosen.mails_digest) == (False, True, False)


def test_returned_answers_are_mailed_once_a_day(
    ann: User, ratings_for: Callable[..., dict[str, str]], make_user: Callable[..., User]
) -> None:
    seat = Seat.objects.select_related("campaign__project").get(annotator__user=ann)
    first, second = queue_of(seat)[:2]
    for pk in (first, second):
        submit(seat, pk, ratings_for(seat.campaign), user=ann, version=0, seconds=4)
    send_due()
    olga = make_user("olga")

    give_back(first, user=olga, message="Read it again.")
    assert send_due() == ["Answers were returned to you"]
    assert "“Ferries” https://rate.example.org/p/small/annotate/" in mail.outbox[-1].body
    give_back(second, user=olga, message="This too.")
    assert send_due() == []

    yesterday = timezone.now() - timedelta(days=1)
    noted = Mail.objects.filter(about__startswith="returned")
    noted.update(about=f"returned {yesterday:%Y-%m-%d}")
    assert send_due() == ["Answers were returned to you"]
    noted.filter(about__endswith=f"{timezone.now():%d}").update(about="returned before")
    assert send_due() == []
