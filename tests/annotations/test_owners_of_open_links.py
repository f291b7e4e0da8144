"""What owners do with an open link: set it up, close it, see who took part, pay, remove personal
data; on the page and by the API."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.forms.open_links import OpenLinkForm
from annotations.models import Assignment, Campaign, OpenLink, Participant, Rating
from annotations.open_links.links import why_not_a_way_back
from annotations.planning.campaigns import open_campaign
from evaluations.models import AuditEntry, Project
from evaluations.reports.ratings.downloads import participants_as_csv, participants_as_jsonl
from tests.annotations.test_open_links import Person, page

pytestmark = pytest.mark.django_db
FIELDS = {
    "address": "ferries", "title": "Rate texts", "consent": "Agree?", "people": "4",
    "items_each": "2", "minutes": "30", "is_open": "on", "amount": "2.50",
    "amount_screened": "0.10", "bonus": "1", "bonus_percent": "50",
    "skip_percent": "20", "per_address": "3",
    "before_lines": "First language? | yes = 2, no = 0\nYears? | number",
    "after_lines": "Anything? | text",
}  # fmt: skip


@pytest.fixture
def campaign(small_project: Project) -> Campaign:
    campaign = Campaign.objects.create(project=small_project, name="Internal", overlap=2)
    campaign.criteria.set(small_project.criteria.all())
    return campaign


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def at(campaign: Campaign, path: str) -> str:
    return f"/p/small/annotate/{campaign.pk}/{path}"


@pytest.fixture
def link(browser: Client, campaign: Campaign) -> OpenLink:
    """Saved on the page, and opened."""
    browser.post(at(campaign, "link/"), FIELDS)
    browser.post(at(campaign, "open/"))
    return OpenLink.objects.get()


def took_part() -> None:
    """One is done, one was screened out, one works, whose id looks like a formula."""
    done = Person("p1").begin(q0="yes", q1="3")
    while done.rate():
        pass
    done.finish(q0="Nothing")
    Person("p2").begin(q0="no", q1="1")
    Person("=cmd()").begin(q0="yes", q1="2")


def test_an_owner_opens_a_campaign_to_everybody(
    browser: Client, campaign: Campaign, link: OpenLink
) -> None:
    shown = page(browser.get(at(campaign, "participants/")))

    campaign.refresh_from_db()
    assert campaign.state == "open"
    assert (link.people, link.items_each, link.before[0]["quotas"]) == (4, 2, {"yes": 2, "no": 0})
    assert "http://testserver/c/ferries" in shown
    assert Person().arrive().status_code == 200
    form = page(browser.get(at(campaign, "link/")))
    assert "First language? | yes = 2, no = 0" in form


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("before_lines", "What?", "Line 1: write the question"),
        ("before_lines", "What? | one", "2 to 50 choices"),
        ("before_lines", "What? | a, a", "empty or there twice"),
        ("before_lines", "What? | a = x, b", "how many people are wanted"),
        ("before_lines", "What? | text\nWhat? | number", "Line 2: this question is asked already"),
        ("after_lines", "What? | a = 3, b", "Only questions before"),
        ("done_url", "http://panel.example/", "begins with https"),
        ("done_url", "javascript:alert(1)", "valid URL"),
        ("done_url", "https://user:pw@panel.example/", "no password"),
        ("done_url", "https://panel.example/{id}?x=1", "behind the ? only"),
        ("people", "0", "greater than or equal to 1"),
        ("skip_percent", "101", "less than or equal to 100"),
        ("incomplete_url", "http://panel.example/", "begins with https"),
        ("address", "not an address", "valid"),
        ("consent", "", "required"),
    ],
)
def test_what_a_link_cannot_be_is_refused(
    campaign: Campaign, field: str, value: str, message: str
) -> None:
    form = OpenLinkForm(FIELDS | {field: value}, campaign=campaign)

    assert not form.is_valid()
    assert message in " ".join(form.errors[field])


@pytest.mark.parametrize(
    "url",
    ["https://{id}.example/?a=1", "https:///x", "//panel.example/", "https://panel.example/#{id}"],
)
def test_only_the_owners_text_decides_where_people_are_sent(url: str) -> None:
    assert bool(why_not_a_way_back(url)) == (url != "https://panel.example/#{id}")


def test_two_campaigns_do_not_share_an_address(
    browser: Client, small_project: Project, link: OpenLink
) -> None:
    other = Campaign.objects.create(project=small_project, name="Other")

    refused = browser.post(at(other, "link/"), FIELDS)

    assert "already exists" in page(refused)
    assert OpenLink.objects.count() == 1


def test_a_link_is_closed_and_opened_again(
    browser: Client, campaign: Campaign, link: OpenLink
) -> None:
    browser.post(at(campaign, "link/switch/"))
    closed = Person().arrive().status_code
    browser.post(at(campaign, "link/switch/"), {"open": "1"})

    assert (closed, Person().arrive().status_code) == (403, 200)


def payment_rows(browser: Client, campaign: Campaign) -> list[dict[str, str]]:
    response = browser.get(at(campaign, "participants/payments.csv"))
    content = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(content)))


def test_the_payment_file_says_what_everybody_did_and_gets(
    browser: Client, campaign: Campaign, link: OpenLink
) -> None:
    took_part()
    Assignment.objects.filter(annotator__participant__external_id="p1").update(seconds=45)

    rows = payment_rows(browser, campaign)

    assert [row["id"] for row in rows] == ["p1", "p2", "'=cmd()"]
    assert [row["state"] for row in rows] == ["done", "screened", "active"]
    assert [(row["items"], row["active_minutes"]) for row in rows] == [
        ("2", "1.5"), ("0", "0.0"), ("0", "0.0"),
    ]  # fmt: skip
    assert [(row["amount"], row["bonus"]) for row in rows] == [
        ("2.50", "0.00"), ("0.10", "0.00"), ("0.00", "0.00"),
    ]  # fmt: skip
    assert rows[1]["reason"].startswith("their group is full")
    assert (rows[0]["study"], rows[0]["session"], rows[0]["panel"]) == (
        "study9", "session7", "prolific",
    )  # fmt: skip


@pytest.mark.parametrize(("percent", "bonus"), [("50", "1.00"), ("51", "0.00")])
def test_a_bonus_is_for_enough_passed_checks(
    browser: Client, campaign: Campaign, percent: str, bonus: str
) -> None:
    document = campaign.project.documents.get(doc_id="d1")
    outputs = list(document.outputs.order_by("pk"))
    campaign.gold = [
        {
            "document": document.pk,
            "outputs": [output.pk],
            "expected": {"scores": {str(one.pk): right for one in campaign.criteria.all()}},
        }
        for output, right in zip(outputs, (3, 5), strict=True)
    ]
    campaign.check_percent = 50
    campaign.save()
    browser.post(at(campaign, "link/"), FIELDS | {"bonus_percent": percent})
    open_campaign(campaign)
    person = Person("p1").begin(q0="yes", q1="3")
    while person.rate("3"):
        pass
    person.finish(q0="")

    (row,) = payment_rows(browser, campaign)

    assert (row["checks_passed"], row["checks"], row["bonus"]) == ("1", "2", bonus)


def test_an_owner_returns_somebody(browser: Client, campaign: Campaign, link: OpenLink) -> None:
    took_part()
    working = Participant.objects.get(state="active")

    browser.post(at(campaign, f"participants/{working.pk}/return/"))

    working.refresh_from_db()
    assert working.state == "returned"
    assert sum(campaign.items.values_list("places", flat=True)) == 10


def test_banning_an_id_ends_their_part(browser: Client, campaign: Campaign, link: OpenLink) -> None:
    took_part()

    browser.post(at(campaign, "link/"), FIELDS | {"banned_ids": "=cmd()\nother"})

    assert Participant.objects.get(external_id="=cmd()").state == "banned"
    assert sum(campaign.items.values_list("places", flat=True)) == 10


@pytest.mark.parametrize("everybody", [False, True])
def test_personal_data_are_removed_and_ratings_stay(
    browser: Client, campaign: Campaign, link: OpenLink, everybody: bool
) -> None:
    took_part()
    ratings = Rating.objects.count()
    person = Participant.objects.get(external_id="p1")

    browser.post(at(campaign, f"participants/{0 if everybody else person.pk}/forget/"))

    left = set(Participant.objects.values_list("external_id", flat=True))
    assert left == ({None} if everybody else {None, "p2", "=cmd()"})
    person.refresh_from_db()
    assert (person.before, person.after, person.study, person.session) == ({}, {}, "", "")
    assert person.state == "done"
    assert Rating.objects.count() == ratings
    if everybody:
        assert not Participant.objects.filter(state="active").exists()
    assert AuditEntry.objects.filter(action="annotations:participant_forget").exists()


def test_participants_of_other_campaigns_are_out_of_reach(
    browser: Client, small_project: Project, link: OpenLink
) -> None:
    took_part()
    other = Campaign.objects.create(project=small_project, name="Other")
    person = Participant.objects.get(external_id="p1")

    assert browser.post(at(other, f"participants/{person.pk}/forget/")).status_code == 404
    assert Participant.objects.filter(external_id="p1").exists()


def test_exports_have_the_answers_and_no_ids(project: Project, link: OpenLink) -> None:
    took_part()
    person = Participant.objects.get(external_id="p1")

    lines = [json.loads(line) for line in participants_as_jsonl(project)]
    rows = list(csv.DictReader(io.StringIO("".join(participants_as_csv(project)))))

    assert lines[0]["annotator"] == person.name
    assert lines[0]["before"] == {"First language?": "yes", "Years?": 3}
    assert lines[0]["after"] == {"Anything?": "Nothing"}
    assert [(row["asked"], row["question"], row["answer"]) for row in rows[:3]] == [
        ("before", "First language?", "yes"),
        ("before", "Years?", "3"),
        ("after", "Anything?", "Nothing"),
    ]
    assert not any(secret in str((lines, rows)) for secret in ("p1", "p2", "cmd", "study9"))


def test_the_exports_are_downloads(browser: Client, link: OpenLink) -> None:
    took_part()

    response = browser.get("/p/small/annotate/export/participants.csv")

    assert b"First language?" in b"".join(response.streaming_content)  # type: ignore[attr-defined]


def api(browser: Client, method: str, path: str, body: Any = None) -> Any:
    return browser.generic(
        method,
        f"/api/v1/projects/small/campaigns/{path}",
        json.dumps(body) if body is not None else "",
        content_type="application/json",
    )


def test_the_api_does_the_same(browser: Client, campaign: Campaign) -> None:
    body = {
        "address": "ferries", "title": "Rate texts", "consent": "Agree?", "people": 4,
        "items_each": 2, "before": ["First language? | yes = 2, no = 0", "Years? | number"],
        "after": ["Anything? | text"], "banned": ["p9"], "amount": "2.5",
    }  # fmt: skip

    made = api(browser, "PUT", f"{campaign.pk}/open-link", body).json()
    open_campaign(campaign)
    took_part()
    listed = api(browser, "GET", f"{campaign.pk}/participants").json()
    payments = b"".join(api(browser, "GET", f"{campaign.pk}/payments").streaming_content)
    first = listed["items"][0]
    removed = api(browser, "DELETE", f"{campaign.pk}/participants/{first['id']}").json()
    closed = api(browser, "PUT", f"{campaign.pk}/open-link", body | {"is_open": False})

    assert made == api(browser, "GET", f"{campaign.pk}/open-link").json() | {
        "is_open": True,
        "revision": made["revision"],
    }
    assert (made["path"], made["before"][0]) == ("/c/ferries", "First language? | yes = 2, no = 0")
    assert (first["external_id"], first["state"], first["amount"]) == ("p1", "done", "2.50")
    assert b"p1,prolific" in payments
    assert removed == {"removed": 1}
    assert closed.status_code == 200
    assert Person("p7").arrive().status_code == 403
    assert Participant.objects.filter(external_id=None).count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("before", "What?"), ("banned", "x" * 500_001), ("done_url", "javascript:alert(1)"),
        ("people", 0), ("bonus", "0.005"), ("address", "taken"),
    ],
)  # fmt: skip
def test_the_api_refuses_what_the_page_refuses_in_the_same_words(
    browser: Client, campaign: Campaign, field: str, value: Any
) -> None:
    other = Campaign.objects.create(project=campaign.project, name="Other")
    OpenLink.objects.create(campaign=other, address="taken", title="t", consent="c")
    written = {"before": "before_lines", "after": "after_lines", "banned": "banned_ids"}
    body = {"address": "ferries", "title": "t", "consent": "c"}
    sent = value.splitlines() if field in written else value

    on_page = browser.post(
        at(campaign, "link/"), FIELDS | {written.get(field, field): str(value)}
    ).context["form"]
    refused = api(browser, "PUT", f"{campaign.pk}/open-link", body | {field: sent})

    assert refused.status_code == 422
    texts = on_page.errors.pop(written.get(field, field))
    assert not on_page.errors
    assert refused.json()["errors"] == [{"at": field, "message": text} for text in texts]
    assert not OpenLink.objects.filter(campaign=campaign).exists()


@pytest.mark.parametrize("role", ["viewer", "annotator", "stranger", "visitor"])
def test_only_owners_and_researchers_see_participants(
    link: OpenLink, campaign: Campaign, as_role: Callable[[str], Client], role: str
) -> None:
    took_part()
    other = as_role(role)

    for path in ("participants/", "participants/payments.csv", "link/"):
        response = other.get(at(campaign, path))
        assert response.status_code in (302, 403, 404)
        # Whole words: the form's random token may have a "p1" within it.
        assert "p1" not in re.split(r"\W+", page(response))
