"""Owners read one annotator's answers, and flagged, skipped and commented items, reject them, hand
items out again and exclude people; the API does the same."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, Rating, Review, Seat
from annotations.planning.assignment import queue_of, skip
from annotations.results.adjudication import decide
from evaluations.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> Campaign:  # fmt: skip
    """Two annotators answer two items each and skip one; the first flags and comments."""
    campaign = make_campaign(overlap=3, adjudicate_beyond=1.0, order="random")
    for number, user in enumerate(annotators[:2]):
        seat = seat_of(campaign, user)
        first, second, third = queue_of(seat)[:3]
        noted = {"comment": "Odd <word>.", "flagged": "1"} if number == 0 else {}
        submit(seat, first, ratings_for(campaign, "2") | noted, user=user, version=0, seconds=3)
        submit(seat, second, ratings_for(campaign, "4"), user=user, version=0, seconds=3)
        skip(seat, third, f"Broken for {user}")
    return campaign


def page_of(client: Client, campaign: Campaign, query: str = "") -> str:
    return client.get(f"/p/small/annotate/{campaign.pk}/answers/{query}").content.decode()


def test_the_pages_show_who_answered_flagged_skipped_and_commented(
    campaign: Campaign, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    first = campaign.seats.get(annotator__user__username="ann1").annotator

    assert page_of(client, campaign).count("answers/") > 6
    of_first = page_of(client, campaign, f"?annotator={first.pk}")
    assert "Answers of ann1" in of_first
    assert "Broken for ann1" in of_first
    assert "Broken for ann2" not in of_first
    assert "Odd &lt;word&gt;." in page_of(client, campaign, "?show=flagged")
    assert "Broken for ann2" in page_of(client, campaign, "?show=skipped")
    assert page_of(client, campaign, "?show=commented").count('name="reason"') == 1
    assert "There are no such answers" in page_of(client, campaign, "?show=rejected")


def test_an_owner_rejects_restores_and_hands_out_on_the_page(
    campaign: Campaign, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    answer = Assignment.objects.filter(campaign=campaign, flagged=True).get()
    address = f"/p/small/annotate/{campaign.pk}/answers/{answer.pk}/review/"

    def state_after(**sent: str) -> str:
        client.post(f"{address}?show=flagged", sent)
        answer.refresh_from_db()
        return str(answer.state)

    assert state_after(action="rejected") == "submitted"  # without a reason
    assert state_after(action="rejected", reason="Guessed.") == "rejected"
    assert "Guessed." in page_of(client, campaign, "?show=rejected")
    assert state_after(action="counted") == "submitted"
    assert state_after(action="handed out") == "submitted"  # it has to be rejected first
    skipped = Assignment.objects.filter(campaign=campaign, state="skipped").first()
    assert skipped is not None
    client.post(f"/p/small/annotate/{campaign.pk}/answers/hand-out/")
    skipped.refresh_from_db()
    assert skipped.state == "expired"


def test_an_owner_excludes_a_person_and_lifts_it(
    campaign: Campaign, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    person = campaign.seats.get(annotator__user__username="ann1").annotator
    address = f"/p/small/annotate/{campaign.pk}/annotators/{person.pk}/exclude/"
    own = Rating.objects.filter(annotator=person)

    client.post(address, {"action": "exclude", "reason": "Random answers."})
    assert not own.exists()
    assert "Random answers." in page_of(client, campaign, f"?annotator={person.pk}")
    progress = client.get(f"/p/small/annotate/{campaign.pk}/").content.decode()
    assert "(excluded)" in progress

    client.post(address, {"action": "lift"})
    assert own.exists()


def test_the_api_lists_answers_and_decisions_whole_and_reviews_them(
    campaign: Campaign, as_role: Callable[[str], Client], ratings_for: Callable[..., dict[str, str]]
) -> None:
    client = as_role("owner")
    base = f"/api/v1/projects/small/campaigns/{campaign.pk}"
    item = campaign.items.filter(kind="ordinary").first()
    assert item is not None
    decide(item, ratings_for(campaign, "3"), user=User.objects.get(username="owner"), note="Read.")

    first = client.get(f"{base}/answers?limit=4").json()
    rest = client.get(f"{base}/answers?limit=4&cursor={first['next']}").json()
    answers = first["items"] + rest["items"]
    assert len(answers) == 6
    flagged = next(row for row in answers if row["flagged"])
    assert flagged["comment"] == "Odd <word>."
    assert flagged["seconds"] is not None
    assert set(flagged["answer"]["scores"].values()) == {2.0}
    assert {row["skip_reason"] for row in answers} == {"", "Broken for ann1", "Broken for ann2"}

    refused = client.post(
        f"{base}/answers/{flagged['id']}/review",
        json.dumps({"action": "rejected"}),
        content_type="application/json",
    )
    reviewed = client.post(
        f"{base}/answers/{flagged['id']}/review",
        json.dumps({"action": "rejected", "reason": "Guessed."}),
        content_type="application/json",
    )
    assert refused.status_code == 422
    assert reviewed.json()["state"] == "rejected"
    assert reviewed.json()["reviews"][0]["reason"] == "Guessed."
    decided = client.get(f"{base}/decisions").json()
    assert [(row["note"], row["decided_by"]) for row in decided] == [("Read.", "owner")]


def test_another_projects_answers_cannot_be_reviewed(
    campaign: Campaign, as_role: Callable[[str], Client]
) -> None:
    answer = Assignment.objects.filter(campaign=campaign, state="submitted").first()
    assert answer is not None
    other = Campaign.objects.create(project=campaign.project, name="Other")

    address = f"/p/small/annotate/{other.pk}/answers/{answer.pk}/review/"
    status = as_role("owner").post(address, {"action": "rejected", "reason": "x"}).status_code

    assert status == 404


def test_an_owner_returns_and_fixes_on_pages_and_the_annotator_asks_back(
    campaign: Campaign, as_role: Callable[[str], Client], ratings_for: Callable[..., dict[str, str]]
) -> None:
    owner, annotator = as_role("owner"), Client()
    annotator.force_login(User.objects.get(username="ann1"))
    answer = Assignment.objects.filter(campaign=campaign, flagged=True).get()
    base = f"/p/small/annotate/{campaign.pk}/"
    assert page_of(owner, campaign, "?show=review").count('name="reason"') == 1

    owner.post(f"{base}answers/{answer.pk}/review/", {"action": "returned", "reason": "Read on."})

    assert "1 answer returned" in " ".join(owner.get(base).content.decode().split())
    assert "Read on." in annotator.get(f"{base}task/").content.decode()
    assert "Read on." in annotator.get(f"{base}task/mine/").content.decode()
    item = f"{base}task/{answer.pk}/"
    assert f'action="{item}ask/"' in annotator.get(item).content.decode()
    annotator.post(f"{item}ask/", {"reason": "Where?"})
    assert "Where?" in page_of(owner, campaign, "?show=review")
    assert "Where?" in annotator.get(item).content.decode()

    fix = f"{base}answers/{answer.pk}/fix/"
    form = owner.get(fix).content.decode()
    assert form.count("checked") == campaign.criteria.count()
    assert "Rate" in owner.post(fix, {"reason": "On."}).content.decode()
    fields = ratings_for(campaign, "5") | {"reason": "On page 2."}
    assert owner.post(fix, fields).status_code == 302
    answer.refresh_from_db()
    assert set(answer.answer["scores"].values()) == {5}
    assert "On page 2." in annotator.get(item).content.decode()


@pytest.mark.parametrize(
    ("show", "count"), [("", 2), ("flagged", 1), ("commented", 1), ("skipped", 0), ("rejected", 0)]
)
def test_an_owner_returns_all_answers_of_a_filter(
    campaign: Campaign, as_role: Callable[[str], Client], show: str, count: int
) -> None:
    client = as_role("owner")
    first = campaign.seats.get(annotator__user__username="ann1").annotator
    query = f"?annotator={first.pk}&show={show}"
    address = f"/p/small/annotate/{campaign.pk}/answers/return/{first.pk}/{query}"

    page = page_of(client, campaign, query)
    response = client.post(address, {"reason": "Read the new guidelines."}, follow=True)

    assert (f"Return the {count} submitted" in page) == bool(count)
    assert (f"returned to ann1: {count}." in response.content.decode()) == bool(count)
    steps = Review.objects.values_list("assignment__annotator", "action", "reason")
    assert list(steps) == [(first.pk, "returned", "Read the new guidelines.")] * count
    details = AuditEntry.objects.values_list("action", "detail")
    assert bool(count) == (("annotations:answer_return_all", f"answers: {count}") in details)


def test_no_answer_is_returned_where_it_cannot_be_corrected(
    campaign: Campaign, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    first = campaign.seats.get(annotator__user__username="ann1").annotator
    address = f"/p/small/annotate/{campaign.pk}/answers/return/{first.pk}/"

    client.post(address, {"reason": " "})
    unknown = client.post(f"{address}?show=flaged", {"reason": "Again."})
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    client.post(address, {"reason": "Again."})

    assert unknown.status_code == 404
    assert not Review.objects.exists()
