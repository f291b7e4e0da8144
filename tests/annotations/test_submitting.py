"""What is submitted is stored once, changes are kept, and refusals say why and lose nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.answering.submission import submit
from annotations.models import AnswerChange, Assignment, Campaign, Preference, Rating, Seat
from annotations.planning.assignment import keep_draft, queue_of
from annotations.planning.campaigns import close_campaign, seat_annotators
from evaluations.models import Membership, Project

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def at_work(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> tuple[Campaign, Seat, int, dict[str, str]]:
    """A campaign, the first annotator's seat and first assignment, and fields that rate it."""
    campaign = make_campaign()
    seat = seat_of(campaign, annotators[0])
    return campaign, seat, queue_of(seat)[0], ratings_for(campaign)


def address(campaign: Campaign, *parts: str | int) -> str:
    return f"/p/small/annotate/{campaign.pk}/task/" + "".join(f"{part}/" for part in parts)


AtWork = tuple[Campaign, Seat, int, dict[str, str]]


def test_a_double_submit_is_stored_once(
    at_work: AtWork, annotators: list[User], client_of: Callable[[User], Client]
) -> None:
    campaign, _seat, assignment, fields = at_work
    client = client_of(annotators[0])
    before = Rating.objects.count()

    first = client.post(address(campaign, assignment, "submit"), fields, headers=JSON)
    again = client.post(address(campaign, assignment, "submit"), fields, headers=JSON)

    assert (first.json()["repeated"], again.json()["repeated"]) == (False, True)
    assert Rating.objects.count() == before + 2
    assert not AnswerChange.objects.exists()


def test_another_answer_from_a_stale_window_is_refused_and_kept_as_a_draft(
    at_work: AtWork,
    annotators: list[User],
    client_of: Callable[[User], Client],
    ratings_for: Callable[..., dict],
) -> None:
    campaign, _seat, assignment, fields = at_work
    client = client_of(annotators[0])
    client.post(address(campaign, assignment, "submit"), fields, headers=JSON)

    stale = client.post(
        address(campaign, assignment, "submit"), ratings_for(campaign, "5"), headers=JSON
    )

    kept = Assignment.objects.get(pk=assignment)
    assert stale.status_code == 409
    assert "already submitted" in stale.json()["message"]
    assert kept.answer is not None
    assert set(kept.answer["scores"].values()) == {3}
    assert kept.draft is not None
    assert set(kept.draft.values()) == {"5"}


def test_a_change_keeps_who_when_from_and_to(
    at_work: AtWork, annotators: list[User], ratings_for: Callable[..., dict[str, str]]
) -> None:
    campaign, seat, assignment, fields = at_work
    submit(seat, assignment, fields, user=annotators[0], version=0, seconds=4.0)

    submit(seat, assignment, ratings_for(campaign, "5"), user=annotators[0], version=1, seconds=6.0)

    change = AnswerChange.objects.get()
    assert change.user == annotators[0]
    assert set(change.before["scores"].values()) == {3}
    assert set(change.after["scores"].values()) == {5}
    output = Assignment.objects.get(pk=assignment).shown[0]
    assert set(
        Rating.objects.filter(output=output, annotator=seat.annotator).values_list(
            "score", flat=True
        )
    ) == {5}


def test_a_score_off_the_scale_is_refused_with_what_was_typed_still_there(
    at_work: AtWork,
    annotators: list[User],
    client_of: Callable[[User], Client],
    ratings_for: Callable[..., dict],
) -> None:
    campaign, _seat, assignment, _fields = at_work
    typed = ratings_for(campaign, "9", comment="a long thought")
    client = client_of(annotators[0])

    as_json = client.post(address(campaign, assignment, "submit"), typed, headers=JSON)
    as_page = client.post(address(campaign, assignment, "submit"), typed)

    assert as_json.status_code == as_page.status_code == 422
    assert len(as_json.json()["fields"]) == 2
    assert "not a point of its scale" in as_page.content.decode()
    assert "a long thought" in as_page.content.decode()
    assert (Assignment.objects.get(pk=assignment).draft or {})["comment"] == "a long thought"


def test_somebody_elses_item_is_refused(
    at_work: AtWork, annotators: list[User], client_of: Callable[[User], Client]
) -> None:
    campaign, _seat, assignment, fields = at_work

    answer = client_of(annotators[1]).post(
        address(campaign, assignment, "submit"), fields | {"comment": "mine"}
    )

    assert answer.status_code == 403
    assert "not assigned to you" in answer.content.decode()
    assert "mine" in answer.content.decode()


def close(campaign: Campaign, _users: list[User]) -> None:
    close_campaign(campaign)


def pass_the_deadline(_campaign: Campaign, _users: list[User]) -> None:
    Campaign.objects.update(deadline=timezone.now() - timedelta(minutes=1))


def unseat(campaign: Campaign, users: list[User]) -> None:
    seat_annotators(campaign, users[1:])


def expire(campaign: Campaign, _users: list[User]) -> None:
    """The lease ran out, and others have done the item."""
    Assignment.objects.update(state="expired")
    campaign.items.update(places=0)


@pytest.mark.parametrize(
    ("change", "message", "is_kept"),
    [
        (close, "is closed", True),
        (pass_the_deadline, "deadline", True),
        (expire, "expired", True),
        (unseat, "no longer an annotator", False),
    ],
)
def test_an_answer_that_comes_too_late_is_refused_and_kept_as_a_draft(
    at_work: AtWork,
    annotators: list[User],
    client_of: Callable[[User], Client],
    change: Callable[[Campaign, list[User]], None],
    message: str,
    is_kept: bool,
) -> None:
    campaign, _seat, assignment, fields = at_work
    change(campaign, annotators)

    answer = client_of(annotators[0]).post(
        address(campaign, assignment, "submit"), fields, headers=JSON
    )

    assert answer.status_code == 403
    assert message in answer.json()["message"]
    if is_kept:
        assert Assignment.objects.get(pk=assignment).draft == fields


def test_a_removed_member_sees_the_reason_and_gets_back_what_was_typed(
    at_work: AtWork,
    annotators: list[User],
    client_of: Callable[[User], Client],
    small_project: Project,
) -> None:
    campaign, _seat, assignment, fields = at_work
    Membership.objects.filter(project=small_project, user=annotators[0]).delete()

    answer = client_of(annotators[0]).post(
        address(campaign, assignment, "submit"), fields | {"comment": "my thoughts"}
    )

    assert answer.status_code == 403
    assert "no longer a member" in answer.content.decode()
    assert "my thoughts" in answer.content.decode()


def test_a_lease_that_ran_out_is_taken_back_while_there_is_a_place(
    at_work: AtWork, annotators: list[User]
) -> None:
    _campaign, seat, assignment, fields = at_work
    Assignment.objects.filter(pk=assignment).update(state="expired")

    done = submit(seat, assignment, fields, user=annotators[0], version=0, seconds=1.0)

    assert done.assignment.state == "submitted"
    assert (
        done.assignment.item.places == 1
    )  # as it was read before: one of two places was free, and is taken now
    done.assignment.item.refresh_from_db()
    assert done.assignment.item.places == 0


def test_time_cannot_be_longer_than_the_item_was_held(
    at_work: AtWork, annotators: list[User]
) -> None:
    _campaign, seat, assignment, fields = at_work
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(seconds=60))

    done = submit(seat, assignment, fields, user=annotators[0], version=0, seconds=4000.0)

    assert done.assignment.seconds is not None
    assert 59 < done.assignment.seconds < 120


def test_a_draft_states_no_more_time_than_the_item_was_held(at_work: AtWork) -> None:
    _campaign, seat, assignment, _fields = at_work
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(seconds=60))

    keep_draft(seat, assignment, number=1, draft={}, seconds=999_999.0)

    stated = Assignment.objects.get(pk=assignment).seconds
    assert stated is not None
    assert 59 < stated < 120


def test_a_refused_answer_that_is_too_long_for_a_draft_is_not_stored(
    at_work: AtWork, annotators: list[User], client_of: Callable[[User], Client]
) -> None:
    campaign, _seat, assignment, _fields = at_work
    client = client_of(annotators[0])
    too_long = {"comment": "x" * 70_000, "number": "200"}

    answers = [
        client.post(address(campaign, assignment, kind), too_long, headers=JSON)
        for kind in ("submit", "draft")
    ]

    assert [answer.status_code for answer in answers] == [422, 409]
    assert Assignment.objects.get(pk=assignment).draft is None


@pytest.mark.parametrize("shown", [None, False], ids=["shown", "hidden by an earlier version"])
def test_ratings_made_in_sight_of_scores_are_marked(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
    shown: bool | None,
) -> None:
    campaign = make_campaign(show_scores=True)
    seat = seat_of(campaign, annotators[0])
    first = queue_of(seat)[0]
    Assignment.objects.filter(pk=first).update(scores_shown=shown)

    submit(seat, first, ratings_for(campaign), user=annotators[0], version=0, seconds=1.0)

    assert set(
        Rating.objects.filter(annotator=seat.annotator).values_list("scores_in_sight", flat=True)
    ) == {shown is None}
    assert (
        not Rating.objects.exclude(annotator=seat.annotator).filter(scores_in_sight=True).exists()
    )


def test_system_names_others_ratings_and_scores_are_hidden_before_one_has_submitted(
    judged_project: Project,
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    client_of: Callable[[User], Client],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(show_others=True)
    client = client_of(annotators[0])
    seat = seat_of(campaign, annotators[0])
    assignment = queue_of(seat)[0]

    page = client.get(address(campaign)).content.decode()
    early = client.get(address(campaign, assignment, "compare"))
    submit(seat, assignment, ratings_for(campaign), user=annotators[0], version=0, seconds=1.0)
    after = client.get(address(campaign, assignment, "compare"))

    for hidden in ("Judge Judy", ">good<", ">odd<", "ann</", "bob"):
        assert hidden not in page
    assert early.status_code == 409
    assert after.status_code == 200
    assert Assignment.objects.get(pk=assignment).saw_others_at is not None


def test_a_pair_is_stored_by_ids_with_the_side_it_was_shown_on(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> None:
    campaign = make_campaign(kind="pairwise")
    seat = seat_of(campaign, annotators[0])
    assignment = queue_of(seat)[0]

    submit(seat, assignment, {"choice-0": "1"}, user=annotators[0], version=0, seconds=1.0)

    left, right = Assignment.objects.get(pk=assignment).shown
    stored = Preference.objects.get()
    assert (stored.output_a_id, stored.output_b_id) == (min(left, right), max(left, right))
    assert (stored.value > 0) == (left < right) == stored.a_was_left
    assert stored.criterion is None


@pytest.mark.parametrize("number", ["9" * 5000, "٣", "-1", "x", ""])
def test_addresses_of_tasks_take_any_number(
    number: str,
    at_work: tuple[Campaign, Seat, int, dict[str, str]],
    annotators: list[User],
    client_of: Callable[[User], Client],
) -> None:
    campaign, _seat, _assignment, _fields = at_work
    address = f"/p/small/annotate/{campaign.pk}/task"
    annotator = client_of(annotators[0])

    assert annotator.get(f"{address}/next/", {"have": number}).status_code == 200
    assert annotator.get(f"{address}/back/", {"before": number}).status_code == 302
