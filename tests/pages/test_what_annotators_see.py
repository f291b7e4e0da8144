"""Annotators see no LLM score and no other's answer of what they still have to rate, by any page,
API or export."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, Rating, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import ApiToken, Membership, Project, Score
from evaluations.models.tokens import new_token
from tests.pages.test_rights import ROWS, address, place

__all__ = ["place"]  # a fixture
pytestmark = pytest.mark.django_db
OTHER, REMARK, SCORE = "zoe-the-other", "what-zoe-thinks-of-it", 3.7251
SECRETS = (OTHER, REMARK, str(SCORE), "3.73", "Judge Judy")


@pytest.fixture
def people(make_user: Callable[..., User], judged_project: Project) -> tuple[User, User]:
    """An annotator with something to rate, and another one who has rated all of it already, with
    remarks."""
    Score.objects.update(value=SCORE)
    anna, other = make_user("anna"), make_user(OTHER)
    for user in (anna, other):
        Membership.objects.create(project=judged_project, user=user, role="annotator")
    campaign = Campaign.objects.create(
        project=judged_project, name="Rate them", overlap=2, show_others=True
    )
    campaign.criteria.set(judged_project.criteria.all())
    seat_annotators(campaign, [anna, other])
    open_campaign(campaign)
    while _answer(campaign, other, remark=REMARK):
        pass
    return anna, other


def _answer(campaign: Campaign, user: User, *, remark: str = "") -> bool:
    """Answer the next item of somebody, if there is one."""
    seat = Seat.objects.select_related("campaign__project").get(
        campaign=campaign, annotator__user=user
    )
    queue = queue_of(seat)
    if not queue:
        return False
    fields: dict[str, Any] = {
        f"score-{pk}": "2" for pk in campaign.criteria.values_list("pk", flat=True)
    }
    submit(seat, queue[0], fields | {"comment": remark}, user=user, version=0, seconds=3.0)
    return True


def bodies(
    client: Client, place: dict[str, Any], campaign: Campaign, **headers: str
) -> dict[str, str]:
    """Every page and endpoint as somebody sees it, redirects followed."""
    found = {}
    seen = place | {"campaign": campaign.pk, "task": campaign.pk, "adjudication": campaign.pk}
    for method, name, _right in ROWS:
        if method != "GET" or name == "/sign-out/":
            continue
        with transaction.atomic():
            response = client.get(address(name, seen, 0), follow=True, headers=headers)
            content = (
                b"".join(response.streaming_content) if response.streaming else response.content
            )
            found[name] = content.decode("utf-8", "replace")
            transaction.set_rollback(True)
    return found


def test_nothing_leaks_by_any_page_or_endpoint(
    people: tuple[User, User], place: dict[str, Any]
) -> None:
    anna, _other = people
    campaign = Campaign.objects.get(name="Rate them")
    client = Client()
    client.force_login(anna)
    token, digest = new_token()
    ApiToken.objects.create(user=anna, name="t", digest=digest)
    seen = {
        **{f"signed in: {name}": body for name, body in bodies(client, place, campaign).items()},
        **{
            f"with a token: {name}": body
            for name, body in bodies(
                Client(), place, campaign, Authorization=f"Bearer {token}"
            ).items()
            if name.startswith("/")
        },
    }

    shown = "\n".join(seen.values())
    assert "from the old harbour." in shown  # what there is to rate is seen
    leaks = [(name, secret) for name, body in seen.items() for secret in SECRETS if secret in body]
    # A report that somebody shared by a link is open to whoever has the link; that is what the link
    # is for.
    assert [leak for leak in leaks if "shared" not in leak[0]] == []


def test_the_next_item_comes_without_them_again_and_again(people: tuple[User, User]) -> None:
    anna, _other = people
    campaign = Campaign.objects.get(name="Rate them")
    client = Client()
    client.force_login(anna)

    while True:
        page = client.get(f"/p/small/annotate/{campaign.pk}/task/", follow=True).content.decode()
        assert [secret for secret in SECRETS if secret in page] == []
        if not _answer(campaign, anna):
            break
    assert Rating.objects.filter(annotator__user=anna).count() == 12


def test_what_one_has_answered_may_be_compared_where_the_owner_allows_it(
    people: tuple[User, User],
) -> None:
    anna, _other = people
    campaign = Campaign.objects.get(name="Rate them")
    client = Client()
    client.force_login(anna)
    seat = Seat.objects.get(campaign=campaign, annotator__user=anna)
    waiting = queue_of(seat)[0]
    base = f"/p/small/annotate/{campaign.pk}/task"

    before = client.get(f"{base}/{waiting}/compare/", follow=True).content.decode()
    assert [secret for secret in SECRETS if secret in before] == []
    _answer(campaign, anna)
    done = Assignment.objects.get(annotator__user=anna, state="submitted")
    assert REMARK in client.get(f"{base}/{done.pk}/compare/").content.decode()
