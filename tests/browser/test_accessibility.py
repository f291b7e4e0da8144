"""axe finds no serious violation on any page of annotation, light or dark, wide or narrow."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page

from annotations.answering.submission import submit
from annotations.models import Campaign, CampaignKind, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import Membership, Project, Role

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
SERIOUS = ("serious", "critical")


@pytest.fixture
def pages(owner: User, make_user: Callable[..., User], small_project: Project) -> list[str]:
    """The addresses of every page of annotation, with something on each."""
    other = make_user("ann")
    Membership.objects.create(project=small_project, user=other, role=Role.ANNOTATOR)
    base = "/p/small/annotate/"
    found = [base, base + "new/", base + "guidelines/"]
    small_project.guidelines = "# How\n\nRead [the source](https://example.org) first."
    small_project.save()
    for kind in CampaignKind.values:
        campaign = Campaign.objects.create(
            project=small_project, name=kind, kind=kind, overlap=2, group_size=3,
            adjudicate_beyond=0.5,
            show_others=True, span_categories=["Fabrication"], strength=True,
        )  # fmt: skip
        if campaign.is_rating:
            campaign.criteria.set(small_project.criteria.all())
        seat_annotators(campaign, [owner, other])
        open_campaign(campaign)
        address = f"{base}{campaign.pk}/"
        found += [
            address,
            address + "edit/",
            address + "task/",
            address + "task/mine/",
            address + "adjudicate/",
        ]
        if campaign.is_rating:
            found += _answered(campaign, [owner, other], address)
    return found


def _answered(campaign: Campaign, users: list[User], address: str) -> Iterator[str]:
    for score, user in zip((1, 5), users, strict=True):
        seat = Seat.objects.select_related("campaign").get(campaign=campaign, annotator__user=user)
        fields: dict[str, Any] = {
            f"score-{pk}": str(score) for pk in campaign.criteria.values_list("pk", flat=True)
        }
        done = submit(seat, queue_of(seat)[0], fields, user=user, version=0, seconds=3.0).assignment
        if user == users[0]:
            yield f"{address}task/{done.pk}/"
            yield f"{address}task/{done.pk}/compare/"
            yield f"{address}adjudicate/{done.item_id}/"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_no_serious_violation(
    pages: list[str], sign_in: Callable[[str], Page], width: int, scheme: str
) -> None:
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    errors = []

    for path in pages:
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in SERIOUS:
                errors.append(
                    (path, violation["id"], [node["html"][:160] for node in violation["nodes"][:3]])
                )
        overflow = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert overflow <= 0, path

    assert errors == []
