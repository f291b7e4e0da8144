"""A campaign that is open to everybody with its link: from the link to the code, without an
account."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotations.models import (
    Annotator,
    Assignment,
    Campaign,
    OpenLink,
    Participant,
    Rating,
    Seat,
)
from annotations.open_links.places import end_all_overdue, end_banned
from annotations.planning.campaigns import open_campaign
from evaluations.models import Project

pytestmark = pytest.mark.django_db
ASSIGNMENT = re.compile(r'data-assignment="(\d+)"')
PROLIFIC = "?PROLIFIC_PID={}&STUDY_ID=study9&SESSION_ID=session7"


@pytest.fixture
def link(small_project: Project) -> OpenLink:
    """An open campaign of six outputs, each rated by two, with two items for each person."""
    campaign = Campaign.objects.create(project=small_project, name="Internal name", overlap=2)
    campaign.criteria.set(small_project.criteria.all())
    made = OpenLink.objects.create(
        campaign=campaign, address="ferries", title="Rate texts", consent="*Please* agree.",
        people=4, items_each=2, minutes=30, done_code="DONE1", screened_code="OUT1",
        returned_code="BACK1", done_url="https://panel.example/done?cc=DONE1&id={id}",
    )  # fmt: skip
    open_campaign(campaign)
    return OpenLink.objects.select_related("campaign__project").get(pk=made.pk)


def page(response: Any) -> str:
    return str(response.content.decode())


class Person:
    """Somebody with a browser who came with an id."""

    def __init__(self, name: str = "p1", query: str = PROLIFIC) -> None:
        self.client = Client()
        self.entry = "/c/ferries" + query.format(name)

    def arrive(self) -> Any:
        return self.client.get(self.entry, follow=True)

    def agree(self) -> Any:
        return self.client.post(self.entry, follow=True)

    def start(self, **answers: str) -> Any:
        return self.client.post("/c/ferries/start", answers, follow=True)

    def begin(self, **answers: str) -> "Person":
        self.agree()
        self.start(**answers)
        return self

    def rate(self, score: str = "3", path: str = "", seconds: float = 20) -> bool:
        """Rate the next item, after so many seconds; whether there was one."""
        shown = ASSIGNMENT.search(page(self.client.get(f"/c/ferries/task/{path}")))
        if shown is None:
            return False
        fields = {
            f"score-{pk}": score
            for pk in Campaign.objects.get().criteria.values_list("pk", flat=True)
        }
        address = f"/c/ferries/task/{shown[1]}/submit/"
        accept = {"Accept": "application/json"}
        mine = Assignment.objects.get(pk=shown[1]).annotator.assignments
        mine.update(reserved_at=F("reserved_at") - timedelta(seconds=seconds))
        answer = self.client.post(
            address, fields | {"version": "0", "seconds": str(seconds)}, headers=accept
        )
        assert answer.status_code == 200, answer.content
        return True

    def skip(self) -> bool:
        """Skip the next item; whether there was one."""
        shown = ASSIGNMENT.search(page(self.client.get("/c/ferries/task/")))
        if shown:
            self.client.post(f"/c/ferries/task/{shown[1]}/skip/", {"reason": "no"})
        return bool(shown)

    def finish(self, **answers: str) -> Any:
        return self.client.post("/c/ferries/finish", answers, follow=True)


def time_is_over(**people: Any) -> None:
    """The time limit of these people passed an hour ago."""
    past = timezone.now() - timedelta(hours=1)
    began = past - timedelta(minutes=30)
    Participant.objects.filter(**people).update(started_at=began, until=past)


def test_a_person_comes_agrees_rates_and_gets_the_code(link: OpenLink) -> None:
    person = Person()

    consent = page(person.arrive())
    assert "<em>Please</em> agree." in consent
    assert "p1" in consent
    instructions = page(person.agree())
    assert "Instructions" in instructions
    person.start()
    done = [person.rate(), person.rate(), person.rate()]
    end = page(person.finish())

    assert done == [True, True, False]
    assert "DONE1" in end
    assert "https://panel.example/done?cc=DONE1&amp;id=p1" in end
    participant = Participant.objects.get()
    assert (participant.source, participant.external_id, participant.state) == (
        "prolific", "p1", "done",
    )  # fmt: skip
    assert (participant.study, participant.session) == ("study9", "session7")
    assert Rating.objects.filter(annotator=participant.annotator).count() == 4
    assert not Annotator.objects.filter(name__contains="p1").exists()


def test_nothing_is_stored_before_somebody_agrees(link: OpenLink) -> None:
    person = Person()

    person.arrive()
    for path in ("start", "task/", "task/next/", "finish", "leave", "end"):
        response = person.client.get(f"/c/ferries/{path}")
        assert response.headers.get("Location") == "/c/ferries" or "has ended" in page(response)
    person.client.post("/c/ferries/task/1/submit/", {"score-1": "3"})

    assert not Participant.objects.exists()
    assert not Assignment.objects.exists()
    assert not Seat.objects.exists()
    assert "participant" not in person.client.cookies


@pytest.mark.parametrize(
    ("query", "source", "person"),
    [
        ("?PROLIFIC_PID=a&STUDY_ID=b&SESSION_ID=c", "prolific", ("a", "b", "c")),
        ("?workerId=a&hitId=b&assignmentId=c", "mturk", ("a", "b", "c")),
        ("?participantId=a&projectId=b&assignmentId=c", "cloudresearch", ("a", "b", "c")),
        ("?survey_code=a", "sona", ("a", "", "")),
        ("?id=a", "id", ("a", "", "")),
    ],
)
def test_ids_of_each_panel_are_read(
    link: OpenLink, query: str, source: str, person: tuple[str, str, str]
) -> None:
    Person(query=query).agree()

    stored = Participant.objects.get()
    assert stored.source == source
    assert (stored.external_id, stored.study, stored.session) == person


def test_the_same_person_returns_to_the_same_seat(link: OpenLink) -> None:
    first = Person().begin()
    first.rate()
    item = ASSIGNMENT.search(page(first.client.get("/c/ferries/task/")))

    other_browser = Person()
    again = ASSIGNMENT.search(page(other_browser.arrive()))

    assert item
    assert again
    assert item[1] == again[1]
    assert "ferries?" not in str(other_browser.arrive().redirect_chain)
    assert Participant.objects.count() == Seat.objects.count() == 1


def test_a_person_is_done_once(link: OpenLink) -> None:
    person = Person().begin()
    while person.rate():
        pass
    person.finish()

    assert "DONE1" in page(person.arrive())
    assert "DONE1" in page(person.agree())
    assert Person().agree().status_code == 403
    assert Participant.objects.count() == 1


def test_nobody_finishes_who_has_items_left(link: OpenLink) -> None:
    person = Person().begin()
    person.rate()

    assert "data-assignment" in page(person.finish())
    assert Participant.objects.get().state == "active"


def test_the_last_place_goes_to_one_and_others_are_screened_out(link: OpenLink) -> None:
    OpenLink.objects.update(people=1)
    first, second = Person("p1"), Person("p2")
    first.agree()
    second.agree()

    first.start()
    end = page(second.start())

    assert "OUT1" in end
    assert dict(Participant.objects.values_list("external_id", "screened_for")) == {
        "p1": "",
        "p2": "full",
    }
    assert "You cannot take part now" in page(Person("p3").arrive())
    assert not Participant.objects.filter(external_id="p3").exists()


def test_groups_have_quotas_of_their_own(link: OpenLink) -> None:
    question = {
        "text": "First language?", "kind": "choice", "options": ["yes", "no", "other"],
        "quotas": {"yes": 1, "no": 0},
    }  # fmt: skip
    OpenLink.objects.update(before=[question])

    for name, answer in (("p1", "yes"), ("p2", "yes"), ("p3", "no"), ("p4", "other")):
        Person(name).begin(q0=answer)

    assert dict(Participant.objects.values_list("external_id", "state")) == {
        "p1": "active", "p2": "screened", "p3": "screened", "p4": "active",
    }  # fmt: skip
    assert Participant.objects.get(external_id="p1").before == {"First language?": "yes"}


def test_questions_have_to_be_answered_and_are_kept(link: OpenLink) -> None:
    number = {"text": "Years?", "kind": "number", "options": [], "quotas": {}}
    free = {"text": "Anything?", "kind": "text", "options": [], "quotas": {}}
    OpenLink.objects.update(before=[number], after=[free])
    person = Person()
    person.agree()

    refused = page(person.start(q0="many"))
    person.start(q0="7")
    while person.rate():
        pass
    assert "Anything?" in page(person.client.get("/c/ferries/finish"))
    person.finish(q0="No.")

    assert "Enter a number" in refused
    stored = Participant.objects.get()
    assert (stored.before, stored.after) == ({"Years?": 7}, {"Anything?": "No."})


def test_whoever_leaves_gives_their_items_back_at_once(link: OpenLink) -> None:
    person = Person().begin()
    person.rate()
    person.client.get("/c/ferries/task/")

    end = page(person.client.post("/c/ferries/leave", follow=True))

    assert "BACK1" in end
    assert sum(link.campaign.items.values_list("places", flat=True)) == 11
    assert "BACK1" in page(person.client.get("/c/ferries/task/", follow=True))
    assert Participant.objects.get().state == "returned"


def test_after_the_time_limit_items_go_back_and_answers_are_refused(link: OpenLink) -> None:
    person = Person().begin()
    person.client.get("/c/ferries/task/")
    held = Assignment.objects.first()
    assert held
    time_is_over()

    end_all_overdue()
    accept = {"Accept": "application/json"}
    answer = person.client.post(f"/c/ferries/task/{held.pk}/submit/", {}, headers=accept)

    assert answer.status_code == 403
    assert "your time is up" in answer.json()["message"]
    assert sum(link.campaign.items.values_list("places", flat=True)) == 12
    assert "Your time is up" in page(person.arrive())
    assert "BACK1" in page(person.arrive())


def test_an_overdue_place_is_free_for_the_next_person(link: OpenLink) -> None:
    OpenLink.objects.update(people=1)
    Person("p1").begin()
    time_is_over()

    Person("p2").begin()

    assert dict(Participant.objects.values_list("external_id", "state")) == {
        "p1": "timed_out",
        "p2": "active",
    }


def test_banned_ids_do_not_get_in_and_those_inside_leave(link: OpenLink) -> None:
    inside = Person("p1").begin()
    inside.rate()
    inside.client.get("/c/ferries/task/")
    OpenLink.objects.update(banned=["p1", "p2"])
    link.refresh_from_db()

    end_banned(link)

    assert "You cannot take part" in page(inside.arrive())
    assert "BACK1" not in page(inside.arrive())
    assert sum(link.campaign.items.values_list("places", flat=True)) == 11
    outside = Person("p2")
    assert outside.arrive().status_code == 200
    assert outside.agree().status_code == 403
    assert not Participant.objects.filter(external_id="p2").exists()


def test_a_closed_link_takes_nobody_new_and_lets_others_go_on(link: OpenLink) -> None:
    person = Person("p1").begin()
    OpenLink.objects.update(is_open=False)

    assert Person("p2").arrive().status_code == 403
    assert person.rate()


def test_whoever_found_no_items_is_screened_out(link: OpenLink) -> None:
    person = Person()
    person.agree()
    link.campaign.items.update(places=0)
    person.start()

    assert not person.rate()
    assert "OUT1" in page(person.finish())
    assert Participant.objects.get().screened_for == "items"


def test_cookies_that_the_site_did_not_sign_open_nothing(link: OpenLink) -> None:
    Person().begin()
    forger = Client()
    forger.cookies["participant"] = str(Participant.objects.get().pk)

    assert forger.get("/c/ferries/task/")["Location"] == "/c/ferries"


def test_participants_see_no_system_nor_the_project(link: OpenLink) -> None:
    Campaign.objects.update(show_systems=True, show_others=True)
    person = Person()

    pages = [page(person.arrive()), page(person.agree()), page(person.start())]
    pages.append(page(person.client.get("/c/ferries/task/")))
    person.rate()
    pages += [page(person.client.get(f"/c/ferries/{path}")) for path in ("task/mine/", "leave")]
    while person.rate():
        pass
    pages += [page(person.client.get("/c/ferries/finish")), page(person.finish())]

    assert len(pages) == 8
    assert "data-assignment" in pages[3]
    for text in pages:
        visible = re.sub(r"<script.*?</script>|/static/\S+", "", text, flags=re.S)
        for hidden in ("Internal name", "Small", "/p/small", "good", "odd", "geval_site<"):
            # Tokens are made of random letters.
            whole = rf"(?<!\w){re.escape(hidden)}(?!\w)"
            assert not re.search(whole, visible.replace("A ferry", "")), hidden


@pytest.mark.parametrize("show_systems", [True, False])
def test_scores_beside_items_name_judges_only_where_systems_are_named(
    link: OpenLink, load: Callable[..., Any], owner: User, show_systems: bool
) -> None:
    Campaign.objects.update(show_systems=show_systems, show_scores=True)
    project = link.campaign.project
    scores = [f"d{d},{system},{criterion},Oracle{n},{n}"
              for d in (1, 2, 3) for system in ("good", "odd")
              for criterion in ("coherence", "fluency") for n in (1, 2)]  # fmt: skip
    load(project, {"scores.csv": "\n".join(["doc_id,system_id,criterion,judge,score", *scores])})
    seat = Seat.objects.create(
        campaign=link.campaign,
        annotator=Annotator.objects.create(project=project, name="olga", user=owner),
    )
    member = Client()
    member.force_login(owner)

    shown = page(Person().begin().client.get("/c/ferries/task/"))
    of_member = page(member.get(f"/p/small/annotate/{seat.campaign_id}/task/"))

    assert "LLM 2: 2" in shown
    assert "Oracle" not in shown
    assert ("Oracle2: 2" in of_member, "LLM 2: 2" in of_member) == (show_systems, not show_systems)


def test_a_participant_reaches_no_page_of_members(link: OpenLink) -> None:
    person = Person().begin()

    for path in ("/p/small/", f"/p/small/annotate/{link.campaign_id}/task/", "/"):
        assert "/sign-in/" in person.client.get(path)["Location"]


def test_a_participant_sees_only_their_own_items(link: OpenLink) -> None:
    first, second = Person("p1").begin(), Person("p2").begin()
    shown = ASSIGNMENT.search(page(first.client.get("/c/ferries/task/")))
    assert shown

    assert second.client.get(f"/c/ferries/task/{shown[1]}/").status_code == 404


def test_a_draft_has_no_link_yet(link: OpenLink) -> None:
    Campaign.objects.update(state="draft")

    assert Client().get("/c/ferries").status_code == 404


def test_an_archived_project_takes_nobody(link: OpenLink, make_user: Callable[..., User]) -> None:
    Project.objects.update(archived_at=timezone.now())

    assert Person().arrive().status_code == 403
