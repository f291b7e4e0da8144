"""Campaigns are copied, are deleted until somebody answered, and get more annotators per item;
practice has a pass mark; checks count by their first answer, within a tolerance."""

from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.answering.task_page import own_assignment, task_page
from annotations.models import Assignment, Campaign, CampaignItem, ItemKind, Seat
from annotations.planning.assignment import IdleReason, idle_reason, queue_of, skip
from annotations.planning.known_answers import ids_by_name
from annotations.results.progress import campaign_progress
from evaluations.models import CandidateOutput, Project, System
from geval.files.answers.gold import GoldError, read_gold

pytestmark = pytest.mark.django_db
Ratings = Callable[..., dict[str, str]]


def test_a_campaign_is_copied_as_a_draft(
    make_campaign: Callable[..., Campaign], as_role: Callable[[str], Client]
) -> None:
    campaign = make_campaign(span_categories=["Style"], check_tolerance=1, most_each=4)
    client = as_role("owner")

    for _ in range(2):
        client.post(f"/p/small/annotate/{campaign.pk}/copy/")

    first, second = Campaign.objects.exclude(pk=campaign.pk).order_by("pk")
    assert (first.name, second.name) == (f"{campaign} (copy)", f"{campaign} (copy 2)")
    assert (first.state, first.check_tolerance, first.span_categories) == ("draft", 1, ["Style"])
    assert set(first.criteria.all()) == set(campaign.criteria.all())
    assert first.most_each == 4
    assert first.seats.filter(takes_more=False).count() == campaign.seats.count()
    assert not first.items.exists()


def test_a_campaign_is_deleted_until_somebody_answered(
    make_campaign: Callable[..., Campaign], as_role: Callable[[str], Client],
    annotators: list[User], seat_of: Callable[..., Seat],
) -> None:  # fmt: skip
    opened, skipped = make_campaign(), make_campaign()
    queue_of(seat_of(opened, annotators[0]))
    seat = seat_of(skipped, annotators[0])
    skip(seat, queue_of(seat)[0], "broken")
    client = as_role("owner")

    for campaign in (opened, skipped):
        client.post(f"/p/small/annotate/{campaign.pk}/delete/")

    assert list(Campaign.objects.all()) == [skipped]


def test_annotators_per_item_are_raised_while_open(
    make_campaign: Callable[..., Campaign], as_role: Callable[[str], Client],
    annotators: list[User], seat_of: Callable[..., Seat], ratings_for: Ratings,
) -> None:  # fmt: skip
    campaign = make_campaign(overlap=1)
    for pk in (seat := seat_of(campaign, annotators[0])) and queue_of(seat):
        submit(seat, pk, ratings_for(campaign), user=annotators[0], version=0, seconds=1)
    before = dict(campaign.items.values_list("pk", "places"))
    client = as_role("owner")

    for overlap in ("9", "1", "2"):  # too many for three annotators, not more, right
        client.post(f"/p/small/annotate/{campaign.pk}/overlap/", {"overlap": overlap})

    campaign.refresh_from_db()
    assert campaign.overlap == 2
    after = dict(campaign.items.values_list("pk", "places"))
    assert after == {pk: places + 1 for pk, places in before.items()}


@pytest.fixture
def practising(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> Callable[..., tuple[Seat, list[int]]]:
    """A seat in a campaign whose practice items expect a 3 everywhere, and its practice queue."""

    def make(**design: object) -> tuple[Seat, list[int]]:
        campaign = make_campaign(is_open=False, **design)
        keys = [str(pk) for pk in campaign.criteria.values_list("pk", flat=True)]
        outputs = CandidateOutput.objects.of_project(campaign.project).order_by("pk")[:2]
        campaign.gold = [
            {
                "document": output.document_id,
                "outputs": [output.pk],
                "expected": {"scores": dict.fromkeys(keys, 3.0)},
            }
            for output in outputs
        ]
        campaign.practice_items = 2
        campaign.save()
        from annotations.planning.campaigns import open_campaign

        open_campaign(campaign)
        seat = seat_of(campaign, annotators[0])
        return seat, queue_of(seat)

    return make


def test_whoever_misses_the_pass_mark_gets_no_items(
    practising: Callable[..., tuple[Seat, list[int]]], ratings_for: Ratings
) -> None:
    seat, (first, second) = practising(practice_pass=100)
    user = seat.annotator.user
    submit(seat, first, ratings_for(seat.campaign, "3"), user=user, version=0, seconds=1)
    submit(seat, second, ratings_for(seat.campaign, "1"), user=user, version=0, seconds=1)
    # The first answer counts.
    submit(seat, second, ratings_for(seat.campaign, "3"), user=user, version=1, seconds=1)

    assert queue_of(seat) == []
    assert idle_reason(seat) == IdleReason.NOT_PASSED


@pytest.mark.parametrize("kind", ["best_worst", "ranking"])
def test_groups_have_attention_checks_and_known_answers(
    small_project: Project, make_campaign: Callable[..., Campaign], annotators: list[User],
    seat_of: Callable[..., Seat], kind: str,
) -> None:  # fmt: skip
    third = System.objects.create(project=small_project, name="third")
    for document in small_project.documents.all():
        CandidateOutput.objects.create(document=document, system=third, text="Third.")
    campaign = make_campaign(kind=kind, attention_checks=True, check_percent=50)
    check = CampaignItem.objects.filter(campaign=campaign, kind=ItemKind.ATTENTION).first()
    assert check is not None
    seat = seat_of(campaign, annotators[0])
    answer = Assignment.objects.create(
        campaign=campaign, item=check, annotator=seat.annotator, shown=check.outputs,
        lease_until=campaign.created_at,
    )  # fmt: skip
    places = check.expected["places"]
    best, worst = check.outputs[places["best"]], check.outputs[places["worst"]]
    rest = [pk for pk in check.outputs if pk not in (best, worst)]
    fields = {"best-0": str(best), "worst-0": str(worst)} | {
        f"rank-0-{pk}": str(rank) for rank, pk in enumerate([best, *rest, worst], start=1)
    }
    own = own_assignment(seat, answer.pk)
    assert own is not None
    assert "attention check" in task_page(seat, own).outputs[0].text

    submit(seat, answer.pk, fields, user=annotators[0], version=0, seconds=1)

    answer.refresh_from_db()
    assert answer.passed is True
    assert campaign_progress(campaign).annotators[0].checks_right == 1

    column = "place" if kind == "best_worst" else "rank"
    systems = list(small_project.systems.order_by("pk").values_list("name", flat=True))
    document = small_project.documents.order_by("pk")[0].doc_id
    values = ("best", "", "worst") if kind == "best_worst" else ("1", "2", "3")
    lines = [f"{document},{name},{value}" for name, value in zip(systems, values, strict=True)]
    text = "\n".join([f"doc_id,system_id,{column}", *lines])
    outputs = partial(ids_by_name, small_project)
    (gold,) = read_gold(text, kind, [], outputs)
    assert len(gold["outputs"]) == 3
    with pytest.raises(GoldError, match=document):
        read_gold("\n".join(text.splitlines()[:2]), kind, [], outputs)
