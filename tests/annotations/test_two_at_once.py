"""An annotator's request and an owner's, or a worker's, at the same moment: one waits for the
other, neither ends in a deadlock, and free places are those that nobody holds."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.utils import timezone

from annotations.answering import submission
from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import Annotator, Assignment, Campaign, CampaignItem, Seat
from annotations.models.campaigns import SeatQuerySet
from annotations.planning import assignment
from annotations.planning.assignment import end_leases, queue_of, release_expired, skip
from annotations.planning.campaigns import delete_campaign, raise_overlap, seat_annotators
from annotations.planning.places import count_places
from annotations.results import reviewing
from annotations.results.reviewing import exclude, hand_out_skipped, reject

pytestmark = pytest.mark.django_db(transaction=True)
# Longer than PostgreSQL takes to find a deadlock, which is a second.
PAUSE = 1.5


def interrupt(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, first: Any, second: Any
) -> list[Any]:
    """The results of two acts, or their errors: the second begins when the first has reached this
    function, which then takes long."""
    reached, real = threading.Event(), getattr(module, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        value = real(*args, **kwargs)
        reached.set()
        finished.wait(PAUSE)
        return value

    def run(act: Callable[[], Any], *, waits: bool) -> Any:
        try:
            assert not waits or reached.wait(20)
            return act()
        except AnnotationError as error:
            return error
        finally:
            if waits:
                finished.set()
            connections.close_all()

    finished = threading.Event()
    monkeypatch.setattr(module, name, slow)
    with ThreadPoolExecutor(2) as threads:
        acts = [
            threads.submit(run, first, waits=False),
            threads.submit(run, second, waits=True),
        ]
        return [act.result(60) for act in acts]


def places_are_right(campaign: Campaign) -> bool:
    overlap = Campaign.objects.get(pk=campaign.pk).overlap
    held = Assignment.objects.filter(state__in=("reserved", "submitted"))
    return all(
        item.places == max(0, overlap - held.filter(item=item).count())
        for item in CampaignItem.objects.filter(campaign=campaign)
    )


@pytest.fixture
def campaign(make_campaign: Callable[..., Campaign]) -> Campaign:
    return make_campaign(overlap=1)


@pytest.fixture
def seat(campaign: Campaign, seat_of: Callable[..., Seat], annotators: list[User]) -> Seat:
    return seat_of(campaign, annotators[0])


def test_more_annotators_an_item_wait_for_a_reservation(
    campaign: Campaign, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, raised = interrupt(
        monkeypatch,
        assignment,
        "_pick_ordinary",
        lambda: queue_of(seat),
        lambda: raise_overlap(campaign, 2),
    )

    assert (bool(queue), raised) == (True, None)
    assert places_are_right(campaign)


def test_a_campaign_is_deleted_once_a_reservation_has_ended(
    campaign: Campaign, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    _queue, deleted = interrupt(
        monkeypatch,
        assignment,
        "_pick_ordinary",
        lambda: queue_of(seat),
        lambda: delete_campaign(campaign),
    )

    assert deleted is None
    assert not Campaign.objects.filter(pk=campaign.pk).exists()


def test_a_campaign_that_somebody_joins_while_it_is_deleted_stays(
    campaign: Campaign, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = SeatQuerySet.lock

    def lock_and_let_join(seats: SeatQuerySet) -> list[Seat]:
        locked = lock(seats)
        annotator = Annotator.objects.create(project=campaign.project, name="late")
        Seat.objects.create(campaign=campaign, annotator=annotator)
        return locked

    monkeypatch.setattr(SeatQuerySet, "lock", lock_and_let_join)
    with pytest.raises(AnnotationError, match="just joined"):
        delete_campaign(campaign)

    assert Campaign.objects.filter(pk=campaign.pk).exists()


def test_leases_are_renewed_once_those_who_end_them_are_done(
    campaign: Campaign, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They end in another order than that of renewal: the last one is skipped first."""
    *others, last = queue_of(seat)
    Assignment.objects.update(lease_until=timezone.now())

    @transaction.atomic
    def leave() -> None:
        skip(seat, last, "unclear")
        count_places(end_leases([seat]))

    _left, queue = interrupt(monkeypatch, assignment, "count_places", leave, lambda: queue_of(seat))

    assert others
    assert not {*others, last} & set(queue)
    assert [row.state for row in Assignment.objects.filter(pk__in=others)] == ["expired"] * len(
        others
    )
    assert places_are_right(campaign)


def test_a_person_who_skips_while_being_excluded_is_told_so(
    campaign: Campaign, seat: Seat, annotators: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = queue_of(seat)[0]

    _excluded, skipped = interrupt(
        monkeypatch,
        reviewing,
        "end_leases",
        lambda: exclude(seat.annotator, user=annotators[1], reason="Guesses."),
        lambda: skip(seat, first, "unclear"),
    )

    assert isinstance(skipped, AnnotationError)
    assert Assignment.objects.get(pk=first).state == "expired"
    assert places_are_right(campaign)


def test_an_answer_that_is_being_stored_keeps_its_place_when_its_time_is_over(
    campaign: Campaign, seat: Seat, annotators: list[User],
    ratings_for: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = queue_of(seat)[0]
    fields, past = ratings_for(campaign), timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=first).update(lease_until=past)

    _submitted, _released = interrupt(
        monkeypatch,
        submission,
        "read_answer",
        lambda: submit(seat, first, fields, user=annotators[0], version=0, seconds=1),
        lambda: release_expired(campaign.pk),
    )

    assert Assignment.objects.get(pk=first).state == "submitted"
    assert places_are_right(campaign)


def test_an_item_skipped_and_answered_while_skipped_ones_are_handed_out_keeps_its_answer(
    campaign: Campaign, seat_of: Callable[..., Seat], annotators: list[User],
    ratings_for: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    seats = [seat_of(campaign, user) for user in annotators[:2]]
    skipped, first = (queue_of(seat)[0] for seat in seats)
    skip(seats[0], skipped, "unclear")
    fields = ratings_for(campaign)
    real = SeatQuerySet.lock

    def lock(of_these: SeatQuerySet) -> list[Seat]:
        locked = real(of_these)
        with ThreadPoolExecutor(1) as thread:
            thread.submit(skip_apart, seats[1], first).result(20)
        return locked

    def skip_apart(seat: Seat, item: int) -> None:
        skip(seat, item, "unclear")
        connections.close_all()

    monkeypatch.setattr(SeatQuerySet, "lock", lock)
    interrupt(
        monkeypatch,
        reviewing,
        "_note",
        lambda: hand_out_skipped(campaign, user=annotators[2]),
        lambda: submit(seats[1], first, fields, user=annotators[1], version=0, seconds=1),
    )

    assert Assignment.objects.get(pk=first).state == "submitted"
    assert Assignment.objects.get(pk=skipped).state == "expired"
    assert places_are_right(campaign)


def test_seats_that_change_while_skipped_items_are_handed_out_cause_no_deadlock(
    make_campaign: Callable[..., Campaign], seat_of: Callable[..., Seat], annotators: list[User],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    campaign = make_campaign(overlap=3)
    for user in annotators:
        seat = seat_of(campaign, user)
        skip(seat, queue_of(seat)[0], "unclear")

    seated, handed = interrupt(
        monkeypatch,
        type(Seat.objects),
        "update_or_create",
        lambda: seat_annotators(campaign, annotators[::-1]),
        lambda: hand_out_skipped(campaign, user=annotators[0]),
    )

    assert (seated, handed) == (None, 3)


def test_an_answer_that_is_rejected_while_it_is_changed_stays_rejected(
    campaign: Campaign, seat: Seat, annotators: list[User],
    ratings_for: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = queue_of(seat)[0]
    submit(seat, first, ratings_for(campaign), user=annotators[0], version=0, seconds=1)
    fields = ratings_for(campaign, "4")

    interrupt(
        monkeypatch,
        submission,
        "read_answer",
        lambda: submit(seat, first, fields, user=annotators[0], version=1, seconds=1),
        lambda: reject(first, user=annotators[1], reason="Guessed."),
    )

    assert Assignment.objects.get(pk=first).state == "rejected"
    assert places_are_right(campaign)
