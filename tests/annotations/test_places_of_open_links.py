"""Everybody comes at once: places and items of an open link are never given too often, nobody's
items are lost, and nobody ends early because others were reserving."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import F

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import (
    Assignment,
    Campaign,
    OpenLink,
    Participant,
    ParticipantState,
    Seat,
)
from annotations.open_links.arrival import Arrival
from annotations.open_links.places import agree, end, finish, seat_of, take_place
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import open_campaign
from evaluations.models import CandidateOutput, Document, Project, System

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = timedelta(minutes=1)
GROUP = {
    "text": "Group?", "kind": "choice", "options": ["a", "b"], "quotas": {"a": 3},
}  # fmt: skip


def at_once(act: Callable[[int], Any], count: int) -> list[Any]:
    """What several threads give, each with a connection of its own; they begin together."""
    start, results = threading.Barrier(count), [None] * count

    def run(number: int) -> None:
        try:
            start.wait()
            results[number] = act(number)
        except Exception as error:
            results[number] = error  # type: ignore[call-overload]
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


@pytest.fixture
def link(project: Project) -> OpenLink:
    """Twelve outputs, each rated by two people; three items for each of eight people."""
    system = System.objects.create(project=project, name="s")
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"d{number}", source="s") for number in range(12)
    )
    CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text="t") for document in documents
    )
    criterion = project.criteria.create(name="coherence")
    campaign = Campaign.objects.create(project=project, name="c", overlap=2, order="random")
    campaign.criteria.set([criterion])
    made = OpenLink.objects.create(
        campaign=campaign, address="a", title="t", consent="c", people=8, items_each=3
    )
    open_campaign(campaign)
    return OpenLink.objects.select_related("campaign__project").get(pk=made.pk)


def came(link: OpenLink, number: int) -> Participant:
    return agree(link, Arrival("id", f"p{number}"))


def worked(participant: Participant) -> int:
    """Rate until nothing is left, and finish; how many."""
    seat, done = seat_of(participant), 0
    criterion = seat.campaign.criteria.get().pk
    while queue := queue_of(seat):
        fields = {f"score-{criterion}": "3"}
        Assignment.objects.filter(pk=queue[0]).update(reserved_at=F("reserved_at") - MINUTE)
        submit(seat, queue[0], fields, user=None, version=0, seconds=1.0)
        done += 1
    finish(participant, {})
    return done


def test_no_more_people_than_places_however_many_come_at_once(link: OpenLink) -> None:
    states = at_once(lambda number: take_place(came(link, number), {}).state, 14)

    assert Counter(map(str, states)) == {"active": 8, "screened": 6}


def test_no_more_people_of_a_group_than_its_quota(link: OpenLink) -> None:
    OpenLink.objects.update(before=[GROUP])

    states = at_once(lambda number: take_place(came(link, number), {"Group?": "a"}).state, 8)

    assert Counter(map(str, states)) == {"active": 3, "screened": 5}


def test_a_person_with_two_windows_is_one_person_with_one_seat(link: OpenLink) -> None:
    def come(_number: int) -> int:
        return seat_of(take_place(came(link, 0), {})).pk

    seats = at_once(come, 6)

    assert len(set(seats)) == 1
    assert Participant.objects.count() == Seat.objects.count() == 1


def test_all_work_at_once_and_every_item_gets_exactly_its_overlap(link: OpenLink) -> None:
    done = at_once(lambda number: worked(take_place(came(link, number), {})), 8)

    given = Counter(Assignment.objects.filter(state="submitted").values_list("item", flat=True))
    places = dict(link.campaign.items.values_list("pk", "places"))
    assert all(isinstance(count, int) and count <= 3 for count in done), done
    assert {given[item] + free for item, free in places.items()} == {2}
    assert set(Participant.objects.values_list("state", flat=True)) == {"done"}


def test_who_waits_for_an_item_that_others_hold_for_a_moment_gets_it(link: OpenLink) -> None:
    """Somebody else's transaction holds every item while this person asks for some."""
    seat = seat_of(take_place(came(link, 0), {}))
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            connection.set_autocommit(False)
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM annotations_campaignitem FOR UPDATE")
                held.set()
                let_go.wait(30)
            connection.rollback()
            connection.set_autocommit(True)
        finally:
            connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    threading.Timer(0.5, let_go.set).start()

    queue = queue_of(seat)
    holder.join(30)

    assert len(queue) == 3


def test_leaving_gives_items_back_while_others_reserve_them(link: OpenLink) -> None:
    people = [take_place(came(link, number), {}) for number in range(8)]
    for person in people[:4]:
        queue_of(seat_of(person))

    def act(number: int) -> Any:
        if number < 4:
            return end(people[number], ParticipantState.RETURNED)
        return len(queue_of(seat_of(people[number])))

    results = at_once(act, 8)

    assert results[:4] == [True] * 4, results
    assert not [result for result in results if isinstance(result, Exception)]
    held = Assignment.objects.filter(state="reserved").count()
    assert sum(link.campaign.items.values_list("places", flat=True)) + held == 24
    assert not Assignment.objects.filter(
        state="reserved", annotator__in=[person.annotator_id for person in people[:4]]
    ).exists()


def test_a_part_ends_once(link: OpenLink) -> None:
    person = take_place(came(link, 0), {})
    queue_of(seat_of(person))

    ended = at_once(
        lambda number: end(
            Participant.objects.select_related("link").get(pk=person.pk),
            [ParticipantState.RETURNED, ParticipantState.TIMED_OUT][number % 2],
        ),
        6,
    )

    assert sorted(ended) == [False] * 5 + [True]
    assert sum(link.campaign.items.values_list("places", flat=True)) == 24


def test_a_request_that_comes_after_the_end_gets_no_items(link: OpenLink) -> None:
    """It had begun before, and so has the seat."""
    person = take_place(came(link, 0), {})
    seat = seat_of(person)

    end(person, ParticipantState.RETURNED)

    with pytest.raises(AnnotationError, match="no longer an annotator"):
        queue_of(seat)
    assert not Assignment.objects.exists()
