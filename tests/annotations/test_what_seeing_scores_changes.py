"""Where annotators see LLM scores, a random share of items is without them, and the campaign's page
says what seeing them changed."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.answering.task_page import own_assignment, task_page
from annotations.forms.campaigns import CampaignForm
from annotations.models import Assignment, Campaign, Rating, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import open_campaign, seat_annotators
from annotations.results.seen_scores import seen_scores
from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from geval.statistics.item_plan import shows_scores
from geval.statistics.mean_gaps import difference_of_arms
from tests.annotations.answered import many_documents

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Twelve documents with two outputs each; the judge gives every output 5."""
    many_documents(project, 12)
    rows = [
        f"n{number},{system},coherence,file,5"
        for number in range(12)
        for system in ("better", "worse")
    ]
    load(project, {"scores.csv": "\n".join(["doc_id,system_id,criterion,judge,score", *rows])})
    return project


@pytest.fixture
def campaign(judged: Project, make_user: Callable[..., User]) -> Campaign:
    campaign = Campaign.objects.create(
        project=judged, name="c", overlap=1, show_scores=True, unseen_percent=50, seed=3
    )
    campaign.criteria.set(judged.criteria.all())
    user = make_user("ann")
    judged.memberships.create(user=user, role="annotator")
    seat_annotators(campaign, [user])
    open_campaign(campaign)
    campaign.refresh_from_db()
    return campaign


def rate_all(campaign: Campaign, score: Callable[[Assignment], str]) -> dict[int, bool]:
    """Rate everything; whether each page showed scores, by assignment."""
    seat = Seat.objects.select_related("campaign__project", "annotator").get(campaign=campaign)
    criterion, shown = campaign.criteria.get().pk, {}
    while queue := queue_of(seat):
        assignment = own_assignment(seat, queue[0])
        assert assignment
        shown[assignment.pk] = any(row.hints for row in task_page(seat, assignment).rows)
        fields = {f"score-{criterion}": score(assignment)}
        submit(seat, assignment.pk, fields, user=None, version=0, seconds=1.0)
    return shown


def test_the_page_shows_scores_where_the_draw_says_so(campaign: Campaign) -> None:
    shown = rate_all(campaign, lambda _: "3")

    stored = dict(Assignment.objects.values_list("pk", "scores_shown"))
    assert stored == shown
    assert set(shown.values()) == {True, False}
    in_sight = Counter(Rating.objects.values_list("scores_in_sight", flat=True))
    assert in_sight == Counter(shown.values())


@pytest.mark.parametrize("percent", [0, 30, 90])
def test_the_share_is_the_stated_probability(percent: int) -> None:
    unseen = sum(not shows_scores(percent, seed=1, item=item, annotator=7) for item in range(4000))

    assert abs(unseen / 4000 - percent / 100) < 0.03


def test_what_an_annotator_sees_does_not_change_when_an_item_comes_back(
    campaign: Campaign,
) -> None:
    seat = Seat.objects.select_related("campaign__project").get(campaign=campaign)
    rate_all(campaign, lambda _: "3")
    before = dict(Assignment.objects.values_list("item", "scores_shown"))
    Assignment.objects.update(state="expired")
    campaign.items.update(places=1)

    while queue := queue_of(seat):
        Assignment.objects.filter(pk__in=queue).update(state="skipped")

    assert dict(Assignment.objects.values_list("item", "scores_shown")) == before
    assert len(before) == 24


def test_the_difference_is_what_seeing_scores_did(campaign: Campaign) -> None:
    rate_all(campaign, lambda assignment: "5" if assignment.scores_shown else "3")

    seen = seen_scores(campaign)

    assert seen
    assert seen.distance.value == -2.0
    assert seen.height.value == 2.0
    assert seen.distance.treated + seen.distance.others == 24
    assert seen.distance.interval.leaves_out_zero


def test_the_page_and_the_api_say_it(campaign: Campaign, client: Client, owner: User) -> None:
    rate_all(campaign, lambda assignment: "5" if assignment.scores_shown else "3")
    client.force_login(owner)

    page = client.get(f"/p/small/annotate/{campaign.pk}/").content.decode()
    found = client.get(f"/api/v1/projects/small/campaigns/{campaign.pk}").json()

    assert "What did seeing LLM scores change?" in page
    assert "-2.00" in page
    assert "probability of 50 %" in " ".join(page.split())
    assert found["unseen_percent"] == 50
    assert found["seen_scores"]["distance"]["difference"] == -2.0


def test_nothing_is_said_where_everybody_sees_scores(campaign: Campaign) -> None:
    campaign.unseen_percent = 0

    assert seen_scores(campaign) is None


def test_locked_documents_do_not_count(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    rate_all(campaign, lambda _: "3")
    hidden = list(campaign.project.documents.values_list("pk", flat=True)[:4])
    monkeypatch.setattr("annotations.results.seen_scores.withheld_documents", lambda _: hidden)

    seen = seen_scores(campaign)

    assert seen
    assert seen.distance.treated + seen.distance.others == 16


@pytest.mark.parametrize(
    "fields", [{"show_scores": ""}, {"kind": "pairwise"}, {"unseen_percent": "91"}]
)
def test_scores_are_left_out_only_of_ratings_that_show_them(
    judged: Project, fields: dict[str, Any]
) -> None:
    given = {
        "name": "new", "kind": "rating", "criteria": [judged.criteria.get().pk], "overlap": "1",
        "selection": "all", "group_size": "3", "order": "document", "seed": "0",
        "lease_minutes": "60", "check_percent": "0", "practice_items": "0", "practice_pass": "0",
            "check_tolerance": "0", "show_scores": "on",
        "unseen_percent": "20",
    }  # fmt: skip
    assert CampaignForm(given, instance=Campaign(project=judged), project=judged).is_valid()

    form = CampaignForm(given | fields, instance=Campaign(project=judged), project=judged)

    assert "unseen_percent" in form.errors


def test_few_documents_give_a_difference_without_an_interval() -> None:
    values, treated = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, False])

    few = difference_of_arms(values, treated, np.array([0, 1, 2, 3]))
    none = difference_of_arms(values, np.ones(4, dtype=bool), np.array([0, 1, 2, 3]))

    assert few.value == -1.0
    assert few.interval.reason == "fewer than 10 documents"
    assert (none.value, none.interval.ends) == (None, None)


def test_single_values_give_the_interval_of_two_means() -> None:
    """With every value a cluster of its own, the variance is that of two independent means, with
    sums of squares divided by the sizes, times n / (n - 1)."""
    rng = np.random.default_rng(0)
    values, treated = rng.normal(0, 1, 40), np.arange(40) % 3 == 0
    a, b = values[treated], values[~treated]
    variance = (a.var() / len(a) + b.var() / len(b)) * 40 / 39

    found = difference_of_arms(values, treated, np.arange(40))

    assert found.interval.width == pytest.approx(2 * 2.0226909 * np.sqrt(variance))


def test_the_interval_holds_where_ratings_of_a_document_are_alike() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(600):
        cluster = np.repeat(np.arange(25), 4)
        treated = rng.random(100) < 0.7
        values = rng.normal(0, 1, 25)[cluster] + 0.5 * treated + rng.normal(0, 0.5, 100)
        ends = difference_of_arms(values, treated, cluster).interval.ends
        assert ends
        held += ends[0] <= 0.5 <= ends[1]

    assert held / 600 >= 0.925
