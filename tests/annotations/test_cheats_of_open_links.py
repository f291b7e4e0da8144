"""Done means done: skips and answers without reading earn neither the code nor pay, and are marked;
honest people are not."""

import csv
import io
from decimal import Decimal

import pytest

from annotations.models import Assignment, Campaign, OpenLink, Participant
from annotations.open_links.work import Work, is_beyond_skips, work_of
from annotations.planning.campaigns import close_campaign, open_campaign
from annotations.results.payment import Payment, payment_file, payments
from evaluations.models import CandidateOutput, Document, Project, System
from tests.annotations.test_open_links import Person, page
from tests.thresholds.three_points import pins

pytestmark = pytest.mark.django_db
WORDS = 60


@pytest.fixture
def link(project: Project) -> OpenLink:
    """24 outputs of 60 words, each rated by six people; twelve items for each of nine people."""
    system = System.objects.create(project=project, name="s")
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"d{number}", source="s") for number in range(24)
    )
    CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text="word " * WORDS)
        for document in documents
    )
    campaign = Campaign.objects.create(project=project, name="c", overlap=6, order="random")
    campaign.criteria.set([project.criteria.create(name="coherence")])
    made = OpenLink.objects.create(
        campaign=campaign, address="ferries", title="t", consent="c", people=9, items_each=12,
        done_code="DONE1", incomplete_code="PART1", incomplete_url="https://panel.example/part",
        amount=2,
    )  # fmt: skip
    open_campaign(campaign)
    return OpenLink.objects.select_related("campaign__project").get(pk=made.pk)


def work(person: Person, *, answers: int = 12, seconds: float = 20, score: str = "") -> str:
    """Answer some items and finish; the last page."""
    for number in range(answers):
        person.rate(score or str(1 + number % 5), seconds=seconds)
    return page(person.finish())


def payment_of(name: str) -> Payment:
    rows = payments(OpenLink.objects.select_related("campaign__project").get())
    return next(row for row in rows if row.participant.external_id == name)


def test_one_answer_and_skips_end_as_incomplete(link: OpenLink) -> None:
    cheat = Person("cheat").begin()

    cheat.rate()
    skipped = sum(cheat.skip() for _ in range(23))
    end = page(cheat.arrive())

    assert skipped == 4
    assert "PART1" in end
    assert "https://panel.example/part" in end
    assert "DONE1" not in end
    payment = payment_of("cheat")
    assert (payment.participant.state, payment.participant.screened_for) == ("incomplete", "skips")
    assert (payment.amount, payment.marks) == (0, ("skips: 4 of 5 items",))
    assert not Assignment.objects.filter(state="reserved").exists()


def test_skips_count_where_nothing_else_is_left(link: OpenLink) -> None:
    keep = link.campaign.items.order_by("pk").values_list("pk", flat=True)[:6]
    link.campaign.items.exclude(pk__in=list(keep)).delete()
    cheat = Person("cheat").begin()

    for _ in range(3):
        cheat.skip()
    for _ in range(3):
        cheat.rate()

    assert "PART1" in page(cheat.finish())


def test_answers_faster_than_reading_end_as_incomplete(link: OpenLink) -> None:
    cheat = Person("cheat").begin()

    end = work(cheat, seconds=0, score="3")

    assert "PART1" in end
    assert "DONE1" not in end
    payment = payment_of("cheat")
    assert (payment.participant.screened_for, payment.amount) == ("speed", Decimal(0))
    assert [mark[:15] for mark in payment.marks] == ["speed: 12 of 12"]


def test_stated_seconds_count_only_as_far_as_they_passed(link: OpenLink) -> None:
    cheat = Person("cheat").begin()
    work(cheat, seconds=0)
    # As a script states them that submits all items of a pack at its end.
    Assignment.objects.filter(state="submitted").update(seconds=30)

    assert payment_of("cheat").work.fast == 12


def test_answers_without_seconds_share_the_time_that_passed(link: OpenLink) -> None:
    honest = Person("honest").begin()
    work(honest)
    Assignment.objects.update(seconds=None)

    assert payment_of("honest").work == Work(12, 0, 0)


def test_cheats_among_honest_people_are_named_and_unpaid_alone(link: OpenLink) -> None:
    people = {name: Person(name).begin() for name in ("h1", "h2", "h3", "skips", "clicks")}
    ends = {name: work(people[name]) for name in ("h1", "h2", "h3")}
    people["skips"].rate()
    while people["skips"].skip():
        pass
    ends["clicks"] = work(people["clicks"], seconds=0, score="3")

    rows = {row.participant.external_id: row for row in payments(link)}

    assert {name for name, end in ends.items() if "DONE1" in end} == {"h1", "h2", "h3"}
    assert {name for name, row in rows.items() if row.amount} == {"h1", "h2", "h3"}
    assert {name for name, row in rows.items() if row.marks} == {"skips", "clicks"}


def test_a_few_skips_are_replaced_and_paid(link: OpenLink) -> None:
    honest = Person("honest").begin()
    honest.skip()
    honest.skip()

    assert "DONE1" in work(honest)
    assert payment_of("honest").work == Work(12, 2, 0)
    assert (payment_of("honest").amount, payment_of("honest").marks) == (2, ())


def test_a_closed_campaign_leaves_nothing_to_answer(link: OpenLink) -> None:
    honest = Person("honest").begin()
    honest.rate()
    close_campaign(link.campaign)

    assert "DONE1" in page(honest.finish())


def test_pay_by_item_is_for_all_answers_that_were_read(link: OpenLink) -> None:
    OpenLink.objects.update(amount="0.25", pays_by_item=True)
    done, left, cheat = (Person(name).begin() for name in ("done", "left", "cheat"))
    work(done)
    left.rate()
    left.client.post("/c/ferries/leave")
    work(cheat, seconds=0)

    assert [payment_of(name).amount for name in ("done", "left", "cheat")] == [
        Decimal("3.00"), Decimal("0.25"), Decimal(0),
    ]  # fmt: skip


def test_the_payment_file_has_skips_speed_and_marks(link: OpenLink) -> None:
    cheat = Person("cheat").begin()
    cheat.skip()
    work(cheat, seconds=0)

    (row,) = csv.DictReader(io.StringIO("".join(payment_file(link))))

    assert (row["skipped"], row["fast_answers"]) == ("1", "12")
    assert row["marks"].startswith("speed: 12 of 12")


@pytest.mark.parametrize(
    ("skipped", "answered", "percent", "expected"),
    [
        (6, 24, 20, False), (7, 24, 20, True), (1, 1, 20, False), (2, 2, 20, True),
        (1, 24, 0, True), (0, 0, 0, False), (50, 0, 100, False),
    ],
)  # fmt: skip
def test_skips_beyond_the_limit(skipped: int, answered: int, percent: int, expected: bool) -> None:
    assert is_beyond_skips(skipped, answered, percent) is expected


@pins("READING_PACE", {14: 0, 15: 0, 16: 1})
def test_words_a_second_that_nobody_reads(link: OpenLink, value: int, expected: int) -> None:
    person = Person("p").begin()
    person.rate(seconds=WORDS)
    Assignment.objects.filter(state="submitted").update(seconds=WORDS / value)
    annotator = Participant.objects.get().annotator_id

    assert annotator
    assert work_of(link.campaign_id, annotator)[annotator].fast == expected
