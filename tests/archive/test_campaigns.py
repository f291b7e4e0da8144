"""Designs and goals of campaigns travel in a project's archive, with items and without members."""

import io
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.models import Annotator, Campaign, CampaignGoal, CampaignState, GoalKind
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import (
    EvaluationRun,
    Judge,
    JudgeKind,
    Membership,
    Project,
    Role,
    RunState,
)
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.files.archive.record_file import ArchiveError
from tests.annotations.answered import answer, many_documents
from tests.archive.test_hostile_archives import edited, setting

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaigns(project: Project, make_user: Callable[..., User]) -> Project:
    """One open with a sample of whole documents, and one that closed at its goal."""
    many_documents(project, 12)
    criterion = project.criteria.get()
    user = make_user("ann")
    Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    drawn = Campaign.objects.create(
        project=project, name="Drawn", selection="sample", sample_size=8, whole_documents=True,
        overlap=1, seed=7, span_categories=["Fluency"], most_each=50,
    )  # fmt: skip
    drawn.criteria.set([criterion])
    seat_annotators(drawn, [user])
    drawn.seats.update(takes_more=True)
    open_campaign(drawn)
    answer(drawn, Annotator.objects.get(), lambda name: 4.0 if name == "better" else 2.0)
    ended = Campaign.objects.create(project=project, name="Ended", state=CampaignState.CLOSED)
    judge = Judge.objects.create(project=project, name="j", kind=JudgeKind.IMPORTED)
    CampaignGoal.objects.create(
        campaign=ended, criterion=criterion, kind=GoalKind.WIDTH, width=0.1, judge=judge,
        reached_at=timezone.now(), documents=40, low=0.3, high=0.5,
    )  # fmt: skip
    return project


def copied(project: Project) -> Project:
    content = io.BytesIO()
    write_archive(project, content)
    content.seek(0)
    return read_archive(content, slug="copy", name="Copy")


def test_designs_and_goals_are_those_of_the_original(campaigns: Project) -> None:
    copy = copied(campaigns)

    drawn, ended = copy.campaigns.get(name="Drawn"), copy.campaigns.get(name="Ended")
    assert (drawn.selection, drawn.sample_size, drawn.whole_documents, drawn.seed) == (
        "sample", 8, True, 7,
    )  # fmt: skip
    assert drawn.state == CampaignState.CLOSED
    assert drawn.span_categories == ["Fluency"]
    assert [one.name for one in drawn.criteria.all()] == ["coherence"]
    original = campaigns.campaigns.get(name="Drawn")
    assert drawn.items.count() == original.items.count()
    assert drawn.most_each == 50
    assert list(drawn.seats.values_list("annotator__user", "takes_more")) == [(None, True)]
    goal = ended.goal  # type: ignore[attr-defined]
    assert (goal.kind, goal.width, goal.documents) == ("width", 0.1, 40)
    assert goal.judge == copy.judges.get(name="j")
    assert goal.reached_at is not None


def test_goals_of_runs_are_those_of_the_original(campaigns: Project) -> None:
    mine = Judge.objects.create(project=campaigns, name="mine", kind="chrf")
    rival = campaigns.judges.get(name="j")
    EvaluationRun.objects.create(
        project=campaigns, judge=mine, state=RunState.DONE, goal_rival=rival
    )
    EvaluationRun.objects.create(project=campaigns, judge=mine, state=RunState.DONE, goal_width=0.1)

    copy = copied(campaigns)

    goals = copy.runs.order_by("pk").values_list("goal_rival", "goal_width")
    assert list(goals) == [(copy.judges.get(name="j").pk, None), (None, 0.1)]


def test_a_campaign_without_items_is_not_reopened(
    campaigns: Project, owner: User, client: Client
) -> None:
    copy = copied(campaigns)
    Membership.objects.create(project=copy, user=owner, role=Role.OWNER)
    client.force_login(owner)
    campaign = copy.campaigns.get(name="Drawn")
    # As an archive of an earlier version has none.
    campaign.items.all().delete()

    answered = client.post(f"/p/copy/annotate/{campaign.pk}/open/", follow=True)

    assert "came with a project&#x27;s archive" in answered.content.decode()
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.CLOSED


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("campaigns", {"state": "open"}, "campaigns of an archive are drafts or closed"),
        (
            "campaigns",
            {"span_categories": [5]},
            "span_categories: 0: input",
        ),
        (
            "campaigns",
            {"span_severities": ["a\0b"]},
            "has a character NUL",
        ),
        ("campaign_goals", {"judge": None, "version": None}, "version is empty"),
        ("campaign_goals", {"kind": "judges"}, "rival_version is empty"),
        ("campaign_goals", {"kind": "systems"}, "system_id is empty"),
        ("campaign_goals", {"width": None}, "width is empty"),
        ("campaign_goals", {"width": -1}, "width is not from"),
        ("campaign_goals", {"low": None}, "low is empty"),
        ("campaign_goals", {"documents": None}, "documents is empty"),
    ],
)
def test_campaigns_and_goals_that_no_form_makes_are_refused(
    campaigns: Project, name: str, values: dict[str, object], said: str
) -> None:
    with pytest.raises(ArchiveError) as refused:
        read_archive(edited(campaigns, name, setting(**values)), slug="copy")

    assert f"{name}.jsonl, line 1: " in str(refused.value)
    assert said in str(refused.value)
