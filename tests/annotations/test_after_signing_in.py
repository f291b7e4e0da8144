"""Annotators who sign in land on the work that waits for them; all others on their projects."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.models import Campaign
from annotations.planning.campaigns import close_campaign
from evaluations.models import Membership, Project, Role

pytestmark = pytest.mark.django_db
TASK, LIST, PROJECTS = "/p/small/annotate/{}/task/", "/p/small/annotate/", "/"


def closed(campaign: Campaign) -> None:
    close_campaign(campaign)


def overdue(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(deadline=timezone.now())


def without_items(campaign: Campaign) -> None:
    campaign.items.update(places=0)


@pytest.mark.parametrize(
    ("changes", "role", "place"),
    [
        ([], Role.ANNOTATOR, PROJECTS),
        ([None], Role.ANNOTATOR, TASK),
        ([None], Role.RESEARCHER, PROJECTS),
        ([None, None], Role.ANNOTATOR, LIST),
        ([None, closed], Role.ANNOTATOR, TASK),
        ([None, overdue], Role.ANNOTATOR, TASK),
        ([None, without_items], Role.ANNOTATOR, TASK),
        ([closed], Role.ANNOTATOR, PROJECTS),
    ],
)
def test_people_go_where_work_waits(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    small_project: Project,
    changes: list[Any],
    role: str,
    place: str,
) -> None:
    campaigns = [make_campaign() for _ in changes]
    for campaign, change in zip(campaigns, changes, strict=True):
        if change:
            change(campaign)
    Membership.objects.filter(user=annotators[0]).update(role=role)

    signed_in = Client().post(
        "/sign-in/", {"username": "ann1", "password": "secret-of-ann1"}, follow=True
    )

    address = signed_in.redirect_chain[-1][0]
    assert address == place.format(campaigns[0].pk if campaigns else "")


def test_work_in_two_projects_is_chosen_among_the_projects(
    make_campaign: Callable[..., Campaign], annotators: list[User]
) -> None:
    make_campaign()
    other = Project.objects.create(name="Other", slug="other")
    Membership.objects.create(project=other, user=annotators[0], role=Role.OWNER)
    client = Client()
    client.force_login(annotators[0])

    assert client.get("/work/").headers["Location"] == PROJECTS
