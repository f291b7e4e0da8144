"""Adjudicators' decisions are a human score that a report can take: said on the page and in JSON;
they may cover the disputed criteria alone, and do not see which system wrote a text."""

from collections.abc import Callable

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import Campaign, CampaignItem, Decision, Seat
from annotations.planning.assignment import queue_of
from annotations.results.adjudication import (
    decide,
    disputed_items,
    disputed_questions,
)
from evaluations.models import Project
from evaluations.reports.data import load_data
from geval.reports.options import ReportOptions

pytestmark = pytest.mark.django_db
ADJUDICATED = ReportOptions(human_score="adjudicated")


@pytest.fixture
def disputed(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    small_project: Project,
) -> CampaignItem:  # fmt: skip
    """An item on whose first criterion two annotators differ by 3 and agree on the others."""
    campaign = make_campaign(overlap=2, adjudicate_beyond=1.0)
    first, *others = campaign.criteria.order_by("pk").values_list("pk", flat=True)
    for user, point in zip(annotators[:2], ("1", "4"), strict=True):
        seat = seat_of(campaign, user)
        for pk in queue_of(seat):
            fields = {f"score-{first}": point} | {f"score-{pk}": "3" for pk in others}
            submit(seat, pk, fields, user=user, version=0, seconds=1)
    return disputed_items(campaign)[0].item


@pytest.mark.parametrize(("points", "differ"), [(("2", "3"), True), (("2", "2"), False)])
def test_labels_that_differ_are_disputed_whatever_their_numbers(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    points: tuple[str, str], *, differ: bool,
) -> None:  # fmt: skip
    campaign = make_campaign(overlap=2, adjudicate_beyond=4.0)
    first, *others = campaign.criteria.order_by("pk")
    first.scale_labels = {str(point): f"kind {point}" for point in range(1, 6)}
    first.is_ordered = False
    first.save()
    for user, point in zip(annotators[:2], points, strict=True):
        seat = seat_of(campaign, user)
        fields = {f"score-{first.pk}": point} | {f"score-{each.pk}": "3" for each in others}
        for pk in queue_of(seat):
            submit(seat, pk, fields, user=user, version=0, seconds=1)

    disputed = disputed_items(campaign)

    assert bool(disputed) == differ
    assert all(each.has_no_distance for each in disputed)
    for each in disputed:
        assert disputed_questions(each.item) == frozenset([first.pk])


def means(project: Project, options: ReportOptions) -> dict[int, np.ndarray]:
    data = load_data(project, [], list(project.criteria.all())).selected(options)
    return {pk: human.mean for pk, human in data.humans.items()}


def test_a_decision_replaces_the_mean_where_there_is_one(
    disputed: CampaignItem, small_project: Project
) -> None:
    campaign = disputed.campaign
    first = campaign.criteria.order_by("pk").values_list("pk", flat=True)[0]
    for score in ("2", "5"):
        decide(disputed, {f"score-{first}": score}, user=None, note="")

    data = load_data(small_project, [], list(small_project.criteria.all()))
    at = data.output_ids.tolist().index(disputed.outputs[0])
    usual, adjudicated = means(small_project, ReportOptions()), means(small_project, ADJUDICATED)

    assert adjudicated[first][at] == 5.0  # the newest decision
    assert usual[first][at] != 5.0
    others = np.arange(len(data.output_ids)) != at
    np.testing.assert_array_equal(adjudicated[first][others], usual[first][others])


def test_only_the_disputed_criteria_have_to_be_decided(disputed: CampaignItem) -> None:
    first, *others = disputed.campaign.criteria.order_by("pk").values_list("pk", flat=True)
    assert disputed_questions(disputed) == {first}

    decide(disputed, {f"score-{first}": "2"}, user=None, note="")

    assert Decision.objects.get().answer == {"scores": {str(first): 2.0}}
    with pytest.raises(AnnotationError, match="Rate "):
        decide(disputed, {f"score-{pk}": "2" for pk in others}, user=None, note="")


def test_an_adjudicator_sees_names_of_systems_only_where_annotators_do(
    disputed: CampaignItem, as_role: Callable[[str], Client], small_project: Project
) -> None:
    client, campaign = as_role("owner"), disputed.campaign
    address = f"/p/small/annotate/{campaign.pk}/adjudicate/{disputed.pk}/"
    names = list(small_project.systems.values_list("name", flat=True))

    def shown() -> bool:
        page = client.get(address).content.decode()
        return any(f'<span class="quiet">{name}</span>' in page for name in names)

    assert not shown()
    Campaign.objects.filter(pk=campaign.pk).update(show_systems=True)
    assert shown()
