"""What annotation tests share: a project with annotators, and campaigns that are open."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations.models import Campaign, Seat
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import Membership, Project, Role


@pytest.fixture
def annotators(make_user: Callable[..., User], small_project: Project) -> list[User]:
    """Three members who annotate: ann1, ann2, ann3."""
    users = [make_user(f"ann{number}") for number in (1, 2, 3)]
    for user in users:
        Membership.objects.create(project=small_project, user=user, role=Role.ANNOTATOR)
    return users


@pytest.fixture
def make_campaign(small_project: Project, annotators: list[User]) -> Callable[..., Campaign]:
    """An open campaign over the six outputs of the small project, all annotators seated, without
    shares unless they are asked for."""

    def make(
        *, users: list[User] | None = None, is_open: bool = True, has_shares: bool = False,
        **fields: Any,
    ) -> Campaign:  # fmt: skip
        given = {"name": f"Campaign {small_project.campaigns.count()}", "overlap": 2} | fields
        campaign = Campaign.objects.create(project=small_project, **given)
        if campaign.is_rating:
            campaign.criteria.set(small_project.criteria.all())
        seat_annotators(campaign, annotators if users is None else users)
        campaign.seats.update(takes_more=not has_shares)
        if is_open:
            open_campaign(campaign)
            campaign.refresh_from_db()
        return campaign

    return make


@pytest.fixture
def seat_of() -> Callable[[Campaign, User], Seat]:
    def find(campaign: Campaign, user: User) -> Seat:
        return Seat.objects.select_related("campaign__project", "annotator").get(
            campaign=campaign, annotator__user=user
        )

    return find


@pytest.fixture
def ratings_for() -> Callable[..., dict[str, str]]:
    """Form fields that rate every criterion of a campaign the same."""

    def fields(campaign: Campaign, score: str = "3", **more: str) -> dict[str, str]:
        return {
            f"score-{pk}": score for pk in campaign.criteria.values_list("pk", flat=True)
        } | more

    return fields
