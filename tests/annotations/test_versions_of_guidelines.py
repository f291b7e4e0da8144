"""Guidelines have versions: annotators see a change once before their next answer, and each answer
has the version that its annotator had been shown."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.answering.counting import count_again
from annotations.answering.guidelines import (
    campaign_versions,
    guidelines_change,
    unread_change,
    version_read,
)
from annotations.answering.submission import submit
from annotations.models import (
    Assignment,
    Campaign,
    GuidelinesVersion,
    OpenLink,
    Preference,
    Rating,
    Seat,
)
from annotations.planning.assignment import queue_of
from annotations.results.payment import payment_file
from annotations.results.progress import people_file
from evaluations.models import Criterion, Project
from evaluations.reports.ratings.exports import records

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}
NOTICE = "guidelines-changed"
Give = Callable[..., int]


def address(campaign: Campaign, *parts: str | int) -> str:
    return f"/p/small/annotate/{campaign.pk}/task/" + "".join(f"{part}/" for part in parts)


def numbers(project: Project) -> list[int]:
    return list(project.guidelines_versions.values_list("number", flat=True))


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def save(small_project: Project, owner: User) -> Callable[[str], None]:
    """Save the project's guidelines on their page, as the owner does."""

    def send(text: str) -> None:
        client = Client()
        client.force_login(owner)
        assert client.post("/p/small/annotate/guidelines/", {"guidelines": text}).status_code == 302
        small_project.refresh_from_db()

    return send


@pytest.fixture
def give(ratings_for: Callable[..., dict[str, str]]) -> Give:
    """Answer an annotator's next item, or another one."""

    def answer(seat: Seat, score: str = "3", *, pk: int | None = None, version: int = 0) -> int:
        seat = Seat.objects.select_related("campaign__project", "annotator").get(pk=seat.pk)
        pk = pk or queue_of(seat)[0]
        submit(seat, pk, ratings_for(seat.campaign, score), user=None, version=version,
               seconds=1)  # fmt: skip
        return pk

    return answer


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        ({"": "a\nb"}, {"": "a\nc"}, (("", (("removed", "b"), ("added", "c"))),)),
        ({}, {"": "a"}, (("", (("added", "a"),)),)),
        ({"fluency": "a"}, {}, (("fluency", (("removed", "a"),)),)),
        ({"": "a"}, {"": "a\n\n"}, ()),
        ({"other": "a"}, {"other": "b"}, ()),
    ],
    ids=["another line", "first", "removed", "blank lines", "of another campaign"],
)
def test_a_change_has_the_lines_that_only_one_version_has(
    before: dict[str, str], now: dict[str, str], change: tuple[Any, ...]
) -> None:
    assert guidelines_change(before, now, ["", "fluency"]) == change


@pytest.mark.parametrize(("number", "read"), [(None, None), (1, 1), (2, 1), (3, 3), (4, 3)])
def test_an_answer_belongs_to_the_last_version_that_changed_its_campaign(
    number: int | None, read: int | None
) -> None:
    assert version_read(number, [1, 3]) == read


def test_a_save_that_changes_the_text_is_a_version(
    small_project: Project, save: Callable[[str], None]
) -> None:
    for text in ("Be kind.", "Be kind.", "Be strict."):
        save(text)

    first, second = small_project.guidelines_versions.all()
    assert (first.texts[""], second.texts[""]) == ("Be kind.", "Be strict.")
    assert (second.number, second.by_name) == (2, "olga")


def test_guidelines_of_a_criterion_are_saved_by_page_and_api(
    small_project: Project, owner: User, client_of: Callable[[User], Client]
) -> None:
    client, criterion = client_of(owner), small_project.criteria.get(name="fluency")
    path = f"/api/v1/projects/small/criteria/{criterion.pk}"

    for text in ("One.", "Two."):
        sent = json.dumps({"guidelines": text})
        assert client.put(path, sent, content_type="application/json").status_code == 200
    client.put(
        "/api/v1/projects/small",
        json.dumps({"guidelines": "All."}),
        content_type="application/json",
    )

    listed = client.get("/api/v1/projects/small/guidelines").json()
    assert [row["texts"].get("fluency") for row in listed] == ["One.", "Two.", "Two."]
    assert [row["texts"].get("") for row in listed] == [None, None, "All."]
    assert {row["by_name"] for row in listed} == {"olga"}


def test_annotators_see_a_change_once(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    client_of: Callable[[User], Client],
    save: Callable[[str], None],
    give: Give,
    seat_of: Callable[..., Seat],
) -> None:
    save("Rate harshly.\nRead twice.")
    campaign, client = make_campaign(), client_of(annotators[0])
    seat = seat_of(campaign, annotators[0])
    assert NOTICE not in client.get(address(campaign)).content.decode()

    save("Rate kindly.\nRead twice.")
    for path in (address(campaign), address(campaign, "next")):
        page = client.get(path).content.decode()
        assert NOTICE in page
        assert "data-answer" not in page
        listed = re.findall(r'class="(added|removed)".*?<span dir="auto">(.*?)</span>', page, re.S)
        assert listed == [("removed", "Rate harshly."), ("added", "Rate kindly.")]
    client.post(address(campaign, "guidelines"), {"number": "2"})

    assert NOTICE not in client.get(address(campaign)).content.decode()
    assert NOTICE not in client.get(address(campaign, "next")).content.decode()
    give(seat)
    assert NOTICE not in client.get(address(campaign)).content.decode()


def test_a_change_in_another_language_or_criterion_is_not_shown(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    small_project: Project,
    save: Callable[[str], None],
    seat_of: Callable[..., Seat],
) -> None:
    save("Read.\n[de]\nLesen.")
    seat = seat_of(make_campaign(), annotators[0])
    assert unread_change(seat) is None

    save("Read.\n[de]\nGenau lesen.")
    Criterion.objects.create(project=small_project, name="new", guidelines="New.")
    GuidelinesVersion.objects.current(small_project)

    assert unread_change(seat) is None
    assert (seat.guidelines_seen, numbers(small_project)) == (3, [1, 2, 3])


def test_an_answer_has_the_version_that_its_annotator_was_shown(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    client_of: Callable[[User], Client],
    ratings_for: Callable[..., dict[str, str]],
    save: Callable[[str], None],
    seat_of: Callable[..., Seat],
    give: Give,
) -> None:
    save("One.")
    campaign, client = make_campaign(), client_of(annotators[0])
    seat, other = (seat_of(campaign, user) for user in annotators[:2])
    client.get(address(campaign))
    first = queue_of(seat)[0]
    save("Two.")

    sent = client.post(
        address(campaign, first, "submit"), ratings_for(campaign, "2"), headers=JSON
    ).json()

    assert sent["guidelines_changed"]
    assert Assignment.objects.get(pk=first).guidelines_version == 1
    of_others = give(other)
    assert Assignment.objects.get(pk=of_others).guidelines_version == 2
    client.post(address(campaign, "guidelines"), {"number": "2"})
    give(seat, "4", pk=first, version=1)
    assert Assignment.objects.get(pk=first).guidelines_version == 2
    rated = Rating.objects.filter(annotator__in=[seat.annotator, other.annotator])
    assert set(rated.values_list("guidelines_version", flat=True)) == {2}


def test_ratings_and_preferences_have_the_version_of_the_answer_that_counts(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    save: Callable[[str], None],
    seat_of: Callable[..., Seat],
    give: Give,
    small_project: Project,
) -> None:
    save("One.")
    seat = seat_of(make_campaign(), annotators[0])
    item = give(seat)
    pairs = make_campaign(kind="pairwise", strength=False)
    pair_seat = seat_of(pairs, annotators[0])
    pair = Assignment.objects.get(pk=queue_of(pair_seat)[0])
    submit(pair_seat, pair.pk, {"choice-0": "1"}, user=None, version=0, seconds=1)

    for pk in (item, pair.pk):
        Assignment.objects.filter(pk=pk).update(guidelines_version=7)
        shown = Assignment.objects.get(pk=pk).shown
        count_again(seat.annotator_id, shown, project=small_project.pk)

    for kind, rows in (("ratings", Rating), ("preferences", Preference)):
        own = rows.objects.filter(annotator=seat.annotator)  # type: ignore[attr-defined]
        assert set(own.values_list("guidelines_version", flat=True)) == {7}
        exported = [row for row in records(small_project, kind) if row["annotator"] == "ann1"]
        assert {row["guidelines_version"] for row in exported} == {7}
    answers = {row["task"]: row["guidelines_version"] for row in records(small_project, "answers")}
    assert answers == {"rating": 7, "pairwise": 7}


@pytest.fixture
def two_versions(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    save: Callable[[str], None],
    seat_of: Callable[..., Seat],
) -> Campaign:
    """Two people agree on three items under version 1, and differ on two of the others under 2."""
    save("One.")
    campaign = make_campaign(users=annotators[:2])
    save("Two.")
    items = campaign.items.order_by("position")
    scores = {1: [(1, 1), (3, 3), (5, 5)], 2: [(1, 2), (5, 4)]}
    rows = [(version, pair) for version, pairs in scores.items() for pair in pairs]
    for item, (version, pair) in zip(items, rows, strict=False):
        for user, score in zip(annotators, pair, strict=False):
            Assignment.objects.create(
                campaign=campaign, item=item, annotator=seat_of(campaign, user).annotator,
                state="submitted", shown=item.outputs, lease_until=timezone.now(),
                submitted_at=timezone.now(), guidelines_version=version,
                answer={"scores": {str(of.pk): score for of in campaign.criteria.all()}},
            )  # fmt: skip
    return campaign


def test_agreement_is_by_version(
    two_versions: Campaign, owner: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(owner)
    content = client.get(f"/api/v1/projects/small/campaigns/{two_versions.pk}/people").json()
    first, second = content["agreement"]["by_guidelines_version"]

    assert (first["version"], first["answers"]) == (1, 6)
    assert (second["version"], second["answers"]) == (2, 4)
    (of_first, _), (of_second, _) = first["questions"].values(), second["questions"].values()
    assert (of_first["items"], of_first["value"]) == (3, 1)
    # Observed: both differ by 1. Expected: of the pairs of 1, 2, 4, 5 a mean square of 40 / 6.
    assert of_second["items"] == 2
    assert of_second["value"] == pytest.approx(1 - 1 / (40 / 6))
    page = client.get(f"/p/small/annotate/{two_versions.pk}/").content.decode()
    assert "Agreement by version" in page
    assert [row.version.number for row in campaign_versions(two_versions)] == [1, 2]


def test_files_about_people_have_the_versions(two_versions: Campaign) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(people_file(two_versions)))))

    assert {row["guidelines_versions"] for row in rows} == {"1; 2"}
    link = OpenLink.objects.create(campaign=two_versions, title="T", consent="C", address="t")
    of_first = Seat.objects.filter(campaign=two_versions).first()
    assert of_first is not None
    link.participants.create(annotator=of_first.annotator, external_id="a", state="done")
    (paid,) = csv.DictReader(io.StringIO("".join(payment_file(link))))
    assert paid["guidelines_versions"] == "1; 2"
