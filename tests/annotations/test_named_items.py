"""Items of a campaign for named annotators: they get these first and whatever their share is, and
nobody else gets them."""

from collections.abc import Callable, Iterable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.answering.progress import task_progress
from annotations.answering.task_page import own_assignment
from annotations.errors import AnnotationError
from annotations.models import Assignment, Campaign, NamedItems, Seat
from annotations.planning.assignment import IdleReason, idle_reason, queue_of
from annotations.planning.campaigns import copy_campaign, open_campaign, seat_annotators
from annotations.planning.named_items import name_items, named_counts
from annotations.planning.waiting import waiting_campaigns
from annotations.results.progress import campaign_progress
from annotations.results.reviewing import exclude, lift
from evaluations.models import Document, Project, sizes

pytestmark = pytest.mark.django_db
SeatOf = Callable[[Campaign, User], Seat]
Named = tuple[User, str, list[str]]


@pytest.fixture
def make(make_campaign: Callable[..., Campaign]) -> Callable[..., Campaign]:
    """A campaign on three documents, d1 to d3, of two outputs each, with items for some; the
    documents d1 and d2 are of the group "a"."""

    def make(*named: Named, is_open: bool = True, **fields: object) -> Campaign:
        sizes.forget()
        Document.objects.filter(doc_id__in=["d1", "d2"]).update(metadata={"group": "a"})
        campaign = make_campaign(is_open=False, **fields)
        name_items(campaign, rows_of(campaign, named))
        if is_open:
            open_campaign(campaign)
            campaign.refresh_from_db()
        return campaign

    return make


def rows_of(campaign: Campaign, named: Iterable[Named]) -> list[NamedItems]:
    return [
        NamedItems(
            campaign=campaign, field=field, wanted=wanted,
            annotator=campaign.seats.get(annotator__user=user).annotator,
        )
        for user, field, wanted in named
    ]  # fmt: skip


def work(seat: Seat, *, most: int = 100) -> list[str]:
    """Submit what a seat gets; return the documents in order."""
    done: list[str] = []
    while len(done) < most and (queue := queue_of(seat)):
        rows = Assignment.objects.filter(pk=queue[0])
        rows.update(state="submitted", submitted_at=timezone.now(), answer={})
        done.append(rows.get().item.document.doc_id)
    return done


@pytest.mark.parametrize("order", ["document", "random"])
@pytest.mark.parametrize(
    ("field", "wanted", "own", "others"),
    [
        ("doc_id", ["d2"], {"d2": 2}, {"d1": 2, "d3": 2}),
        ("doc_id", ["d1", "d3"], {"d1": 2, "d3": 2}, {"d2": 2}),
        ("group", ["a"], {"d1": 2, "d2": 2}, {"d3": 2}),
    ],
)
def test_named_items_come_first_and_nobody_else_gets_them(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf, order: str, field: str,
    wanted: list[str], own: dict[str, int], others: dict[str, int],
) -> None:  # fmt: skip
    campaign = make((annotators[1], field, wanted), order=order, overlap=1, users=annotators[:2])
    first, second = (seat_of(campaign, user) for user in annotators[:2])

    of_first = work(first)
    waits = idle_reason(first)
    of_second = work(second)

    assert {name: of_first.count(name) for name in set(of_first)} == others
    assert waits == IdleReason.FINISHED
    assert {name: of_second.count(name) for name in set(of_second)} == own
    assert idle_reason(second) == IdleReason.FINISHED
    progress = campaign_progress(campaign)
    assert progress.submitted == progress.places == progress.complete == 6


def test_a_group_gets_them_up_to_the_overlap(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make(*((user, "doc_id", ["d1"]) for user in annotators[:2]), overlap=2)

    done = [work(seat_of(campaign, user)) for user in annotators[::-1]]

    assert [names.count("d1") for names in done] == [0, 2, 2]
    assert campaign_progress(campaign).submitted == campaign_progress(campaign).places == 12


@pytest.mark.parametrize(
    ("named", "done"),
    [
        # Of six items for two people: within the share, at it, and beyond it.
        (["d1"], 3),
        (["d1", "d2"], 4),
        (["d1", "d2", "d3"], 6),
    ],
)
def test_named_items_count_toward_the_share_and_exceed_it(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf, named: list[str],
    done: int,
) -> None:  # fmt: skip
    campaign = make((annotators[0], "doc_id", named), overlap=1, users=annotators[:2],
                    has_shares=True, order="random")  # fmt: skip
    first, second = (seat_of(campaign, user) for user in annotators[:2])

    shown = task_progress(first, own_assignment(first, queue_of(first)[0]))  # type: ignore[arg-type]
    shares = [row.share for row in campaign_progress(campaign).annotators]
    of_first, of_second = work(first), work(second)

    assert shares == [done, 3]
    assert shown.total == len(of_first) == done
    assert len(of_second) == 6 - done
    assert campaign_progress(campaign).complete == 6


def test_a_cap_does_not_keep_named_items_from_their_person(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make((annotators[0], "group", ["a"]), overlap=1, most_each=1)

    assert sorted(work(seat_of(campaign, annotators[0]))) == ["d1", "d1", "d2", "d2"]
    assert len(work(seat_of(campaign, annotators[1]))) == 1


def test_only_the_named_have_work_in_named_items(
    make: Callable[..., Campaign], annotators: list[User]
) -> None:
    names = ["d1", "d2", "d3"]
    campaign = make((annotators[0], "doc_id", names), overlap=1, users=annotators[:2])

    waiting = [waiting_campaigns(user.pk, now=timezone.now()) for user in annotators[:2]]

    assert waiting == [[("small", campaign.pk)], []]


def test_items_are_named_while_the_campaign_is_open(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make(overlap=1, users=annotators[:2], order="document")
    first, second = (seat_of(campaign, user) for user in annotators[:2])
    before = work(first, most=1)

    name_items(campaign, rows_of(campaign, [(annotators[1], "doc_id", ["d1", "d2", "d3"])]))
    held = work(first)
    of_second = work(second)

    # Who has a document's items keeps them, and the named person gets them too.
    assert len({*before, *held}) == 1
    assert (len(before + held), len(of_second)) == (2, 6)
    name_items(campaign, [])
    assert not campaign.items.exclude(kept_for=None).exists()
    assert not campaign.items.filter(places__gt=0).exists()


def test_items_of_a_removed_or_excluded_person_are_for_everybody(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make((annotators[0], "doc_id", ["d1"]), overlap=1)
    person = seat_of(campaign, annotators[0]).annotator

    def kept() -> int:
        return campaign.items.exclude(kept_for=None).count()

    counts = [kept()]
    seat_annotators(campaign, annotators[1:])
    counts.append(kept())
    seat_annotators(campaign, annotators)
    counts.append(kept())
    exclude(person, user=None, reason="Careless.")
    counts.append(kept())
    lift(person, user=None)
    counts.append(kept())

    assert counts == [2, 0, 2, 0, 2]


@pytest.mark.parametrize(
    ("field", "wanted", "words"),
    [
        ("doc_id", ["d1", "d11"], "'d11'. Did you mean d1"),
        ("group", ["b"], "No document has the group 'b'"),
        ("grup", ["a"], "Did you mean group"),
        ("doc_id", [], "at least one"),
    ],
)
def test_what_no_document_has_is_refused(
    make: Callable[..., Campaign], annotators: list[User], field: str, wanted: list[str],
    words: str,
) -> None:  # fmt: skip
    campaign = make()

    with pytest.raises(AnnotationError) as refused:
        name_items(campaign, rows_of(campaign, [(annotators[0], field, wanted)]))

    assert words in str(refused.value)
    assert not campaign.named_items.exists()


def test_an_owner_names_items_on_the_page_and_opens_them_again(
    make: Callable[..., Campaign], annotators: list[User], seat_of: SeatOf,
    as_role: Callable[[str], Client],
) -> None:  # fmt: skip
    campaign, client = make(is_open=False), as_role("owner")
    base = f"/p/small/annotate/{campaign.pk}/"
    person = seat_of(campaign, annotators[0]).annotator.pk
    sent = {"annotator": person, "field": "doc_id", "wanted": "d1\r\n d3 \r\n\r\nd1"}

    client.post(f"{base}items-for/", sent)
    wrong = client.post(f"{base}items-for/", sent | {"wanted": "d9"}, follow=True)
    open_campaign(campaign)
    page = client.get(base).content.decode()

    row = campaign.named_items.get()
    assert row.wanted == ["d1", "d3"]
    assert "&#x27;d9&#x27;" in wrong.content.decode()
    assert [(of.done, of.items) for of in named_counts(campaign)] == [(0, 4)]
    assert "d1, d3" in page
    assert "0 of\n        4" in page
    client.post(f"{base}items-for/", {"remove": row.pk})
    assert not campaign.items.exclude(kept_for=None).exists()


def test_the_api_takes_and_returns_named_items(
    make: Callable[..., Campaign], as_role: Callable[[str], Client], small_project: Project
) -> None:
    campaign, client = make(), as_role("owner")
    address = f"/api/v1/projects/small/campaigns/{campaign.pk}"
    named = {"annotator": "ann2", "field": "doc_id", "values": ["d2"]}

    def put(**body: object) -> tuple[int, dict[str, object]]:
        answer = client.put(address, body, content_type="application/json")
        return answer.status_code, answer.json()

    status, stored = put(items_for=[named])
    unknown = put(items_for=[named | {"annotator": "ann9"}])
    nothing = put(items_for=[named | {"values": ["d7"]}])
    kept = put(name="Renamed")

    assert (status, stored["items_for"]) == (200, [named])
    assert campaign.items.exclude(kept_for=None).count() == 2
    assert [unknown[0], nothing[0]] == [422, 422]
    assert "ann2" in str(unknown[1])
    assert kept[1]["items_for"] == [named]
    copy = copy_campaign(campaign)
    assert list(copy.named_items.values_list("wanted", flat=True)) == [["d2"]]
