"""Campaigns are opened with a plan that holds, or refused; checks and practice come to all and make
no ratings."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import Annotator, Assignment, Campaign, Decision, ItemKind, Rating, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import annotator_of, open_campaign
from annotations.planning.known_answers import ids_by_name
from annotations.results.adjudication import disputed_items
from annotations.results.progress import campaign_progress, own_progress
from evaluations.models import CandidateOutput, Project
from geval.files.answers.gold import GoldError, read_gold

pytestmark = pytest.mark.django_db
GOLD = (
    "doc_id,system_id,criterion,score\nd1,good,coherence,5\nd1,good,fluency,5\n"
    "d2,odd,coherence,1\nd2,odd,fluency,2\n"
)


def answer_all(
    seat: Seat, fields: dict[str, str], *, seconds: float = 10.0, most: int = 100
) -> list[int]:
    done: list[int] = []
    while len(done) < most and (queue := queue_of(seat)):
        submit(seat, queue[0], fields, user=seat.annotator.user, version=0, seconds=seconds)
        done.append(queue[0])
    return done


@pytest.fixture
def with_gold(
    small_project: Project, make_campaign: Callable[..., Campaign]
) -> Callable[..., Campaign]:
    def make(**fields: Any) -> Campaign:
        gold = read_gold(
            GOLD, "rating", list(small_project.criteria.all()), partial(ids_by_name, small_project)
        )
        return make_campaign(gold=gold, **fields)

    return make


def test_a_member_who_is_named_like_a_rater_of_a_file_is_told_apart_by_where_they_rate(
    small_project: Project, make_user: Callable[..., User]
) -> None:
    Annotator.objects.bulk_create(
        Annotator(project=small_project, name=name) for name in ("ada", "ben", "ben (on this site)")
    )

    found = [annotator_of(small_project, make_user(name)) for name in ("ada", "ben", "cleo")]

    names = ["ada (on this site)", "ben (on this site, 2)", "cleo"]
    assert [annotator.name for annotator in found] == names
    assert annotator_of(small_project, found[0].user) == found[0]


def test_a_campaign_without_enough_annotators_is_not_opened(
    make_campaign: Callable[..., Campaign], annotators: list[User]
) -> None:
    campaign = make_campaign(overlap=3, users=annotators[:2], is_open=False)

    with pytest.raises(AnnotationError, match="Edit the campaign to choose annotators"):
        open_campaign(campaign)

    assert not campaign.items.exists()


def test_a_campaign_is_opened_once(make_campaign: Callable[..., Campaign]) -> None:
    with pytest.raises(AnnotationError, match="is open already"):
        open_campaign(make_campaign())


@pytest.mark.parametrize(
    ("fields", "items"),
    [
        ({"selection": "all"}, 6),
        ({"selection": "sample", "sample_size": 4}, 4),
        ({"selection": "stratified", "sample_size": 4}, 4),
        ({"selection": "disagreement", "sample_size": 2}, 2),
        ({"kind": "pairwise"}, 3),
        ({"kind": "pairwise", "selection": "sample", "sample_size": 2}, 2),
        ({"kind": "pairwise", "selection": "disagreement", "sample_size": 2}, 2),
        ({"kind": "pairwise", "selection": "needed", "sample_size": 2}, 2),
        ({"kind": "ranking"}, 3),
        ({"kind": "best_worst"}, 3),
    ],
)
def test_what_is_selected(
    make_campaign: Callable[..., Campaign], fields: dict[str, Any], items: int
) -> None:
    assert make_campaign(**fields).items.count() == items


def test_where_judges_disagree_most_is_taken_first(
    make_campaign: Callable[..., Campaign], small_project: Project, load: Callable[..., object]
) -> None:
    scores = "doc_id,system_id,criterion,judge,score\n" + "".join(
        f"d{d},{system},coherence,{judge},"
        f"{3 if (d, system) != (2, 'odd') else 1 if judge == 'j1' else 5}\n"
        for d in (1, 2, 3)
        for system in ("good", "odd")
        for judge in ("j1", "j2")
    )
    load(small_project, {"scores.csv": scores})

    campaign = make_campaign(selection="disagreement", sample_size=1)

    (chosen,) = campaign.items.get().outputs
    assert CandidateOutput.objects.get(pk=chosen) == CandidateOutput.objects.get(
        document__doc_id="d2", system__name="odd"
    )


def test_known_answers_are_asked_of_everybody_and_counted(
    with_gold: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = with_gold(check_percent=50, overlap=2)
    for user in annotators[:2]:
        answer_all(seat_of(campaign, user), ratings_for(campaign, "5"))

    progress = {row.annotator: row for row in campaign_progress(campaign).annotators}

    assert campaign.items.filter(kind=ItemKind.ORDINARY).count() == 4
    assert (progress["ann1"].checks, progress["ann1"].checks_right) == (2, 1)
    assert (progress["ann2"].checks, progress["ann2"].checks_right) == (2, 1)
    assert progress["ann1"].submitted == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("doc_id,system_id,criterion\nd1,good,coherence", "the column score is missing"),
        (GOLD + "d9,good,coherence,5", "Line 6: there is no output of good for document d9"),
        (GOLD + "d3,good,beauty,5", "Line 6: beauty is not a criterion"),
        (GOLD + "d3,good,coherence,9", "Line 6: score '9' is not on coherence's scale 1-5"),
        (GOLD + "d3,good,coherence,high", "Line 6: score 'high'"),
    ],
)
def test_known_answers_that_do_not_fit_are_refused_by_line(
    small_project: Project, text: str, message: str
) -> None:
    with pytest.raises(GoldError, match="(?s)" + message.replace("(", "\\(")):
        read_gold(
            text, "rating", list(small_project.criteria.all()), partial(ids_by_name, small_project)
        )


def test_known_winners_of_pairs(
    small_project: Project,
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
) -> None:
    gold = read_gold(
        "doc_id,system_a,system_b,winner\nd1,good,odd,a\n",
        "pairwise",
        [],
        partial(ids_by_name, small_project),
    )
    campaign = make_campaign(kind="pairwise", gold=gold, check_percent=50)
    seat = seat_of(campaign, annotators[0])
    good = CandidateOutput.objects.get(document__doc_id="d1", system__name="good").pk
    while queue := queue_of(seat):
        shown = Assignment.objects.get(pk=queue[0]).shown
        side = "1" if shown[0] == good else "-1"
        submit(seat, queue[0], {"choice-0": side}, user=annotators[0], version=0, seconds=1.0)

    row = campaign_progress(campaign).annotators[0]

    assert (row.checks, row.checks_right) == (1, 1)


def test_progress_counts_and_measures(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(overlap=2)
    first, second = (seat_of(campaign, user) for user in annotators[:2])
    Assignment.objects.update(reserved_at="2020-01-01T00:00Z")
    answer_all(first, ratings_for(campaign, "2"), most=6)
    answer_all(second, ratings_for(campaign, "5"), most=2)

    progress = campaign_progress(campaign)
    own = own_progress(campaign, first.annotator_id)

    rows = {row.annotator: row for row in progress.annotators}
    assert (progress.items, progress.places, progress.submitted, progress.complete) == (6, 12, 8, 2)
    assert rows["ann1"].submitted == 6
    assert [of.items for of in rows["ann1"].questions] == [2, 2]
    assert rows["ann3"].submitted == 0
    assert (own.submitted, own.campaign_share) == (6, 8 / 12)


def test_items_in_dispute_are_decided_beside_the_ratings(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
    owner: User,
) -> None:
    campaign = make_campaign(overlap=2, adjudicate_beyond=1.0)
    answer_all(seat_of(campaign, annotators[0]), ratings_for(campaign, "2"))
    answer_all(seat_of(campaign, annotators[1]), ratings_for(campaign, "3"), most=3)
    Assignment.objects.filter(state="reserved").update(lease_until="2020-01-01T00:00Z")
    answer_all(seat_of(campaign, annotators[2]), ratings_for(campaign, "5"))
    before = list(Rating.objects.order_by("pk").values_list("pk", "score"))

    disputed = disputed_items(campaign)
    client = Client()
    client.force_login(owner)
    address = f"/p/small/annotate/{campaign.pk}/adjudicate/{disputed[0].item.pk}/"
    shown = client.get(address).content.decode()
    incomplete = client.post(address, {"note": "unclear"})
    client.post(address, ratings_for(campaign, "4", note="The source says so."))

    assert [row.spread for row in disputed] == [3.0, 3.0, 3.0]
    assert "ann1" in shown
    assert "ann3" in shown
    assert "Rate coherence" in incomplete.content.decode()
    decision = Decision.objects.get()
    assert (decision.user, decision.note) == (owner, "The source says so.")
    assert set(decision.answer["scores"].values()) == {4.0}
    assert list(Rating.objects.order_by("pk").values_list("pk", "score")) == before
    assert disputed_items(campaign)[-1].decided


def test_an_owner_makes_opens_closes_and_opens_again(
    as_role: Callable[[str], Client], small_project: Project, annotators: list[User]
) -> None:
    client = as_role("owner")
    fields = {
        "name": "Mine", "kind": "rating",
        "criteria": [str(c.pk) for c in small_project.criteria.all()],
        "selection": "all", "group_size": "3", "overlap": "2", "order": "document", "seed": "0",
        "lease_minutes": "60",
        "check_percent": "0", "practice_items": "0", "check_tolerance": "0", "practice_pass": "0",
        "annotators": [str(user.pk) for user in annotators],
    }  # fmt: skip

    made = client.post("/p/small/annotate/new/", fields)
    states = []
    for action in ("open", "close", "open"):
        client.post(f"{made['Location']}{action}/")
        states.append(Campaign.objects.get().state)
    changed = client.post(f"{made['Location']}edit/", fields | {"name": "Renamed", "overlap": "3"})

    campaign = Campaign.objects.get()
    assert states == ["open", "closed", "open"]
    assert changed.status_code == 302
    assert (campaign.name, campaign.overlap) == ("Renamed", 2)  # the plan is fixed
    assert campaign.seats.count() == 3


def test_progress_and_adjudication_read_what_was_answered_in_the_campaign(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(overlap=2, adjudicate_beyond=1.0)
    for user, score in zip(annotators[:2], ("2", "5"), strict=False):
        answer_all(seat_of(campaign, user), ratings_for(campaign, score))
    assert {row.spread for row in disputed_items(campaign)} == {3.0}

    # As another campaign replaces what somebody gave: both rounds stay.
    Rating.objects.filter(annotator__user=annotators[1]).update(score=2)

    assert {row.spread for row in disputed_items(campaign)} == {3.0}
    (agreement, *_) = campaign_progress(campaign).agreement
    assert (agreement.alpha.value or 0) < 0
