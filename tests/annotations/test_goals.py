"""A campaign with a goal closes itself when it is reached, and says before how far it is."""

import json
from collections.abc import Callable
from html import unescape

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.goals.goals import close_reached_campaigns, standing
from annotations.models import Annotator, Campaign, CampaignGoal, CampaignState, GoalKind
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import (
    AuditEntry,
    Judge,
    Membership,
    Project,
    Role,
    Score,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from evaluations.models.row_by_row import RowsFailedError
from evaluations.reports.data import load_data
from geval.measuring.standing import GoalStanding
from tests.annotations.answered import answer, many_documents

pytestmark = pytest.mark.django_db
Open = Callable[..., Campaign]


@pytest.fixture
def opened(project: Project, make_user: Callable[..., User]) -> Open:
    """A campaign on 30 documents of two systems, open for one annotator."""
    many_documents(project, 30)
    user = make_user("ann")
    Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)

    def make(goal: dict[str, object], **fields: object) -> Campaign:
        campaign = Campaign.objects.create(
            project=project, **{"name": "Enough", "overlap": 1} | fields
        )
        criterion = project.criteria.get()
        campaign.criteria.set([criterion])
        CampaignGoal.objects.create(campaign=campaign, criterion=criterion, **goal)
        seat_annotators(campaign, [user])
        open_campaign(campaign)
        campaign.refresh_from_db()
        return campaign

    return make


@pytest.fixture
def of_systems(opened: Open, project: Project) -> Campaign:
    better, worse = project.systems.order_by("name")
    return opened({"kind": GoalKind.SYSTEMS, "system": better, "other": worse})


def by_system(name: str) -> float:
    return 5.0 if name == "better" else 1.0


def where(campaign: Campaign) -> GoalStanding:
    goal = CampaignGoal.objects.get(campaign=campaign)
    judges = [judge for judge in (goal.judge, goal.rival) if judge]
    return standing(goal, load_data(campaign.project, judges, [goal.criterion]))


def test_a_campaign_closes_when_it_is_known_which_system_is_better(of_systems: Campaign) -> None:
    annotator = Annotator.objects.get()
    webhook = Webhook.objects.create(
        project=of_systems.project,
        url="https://hooks.example.org",
        events=[WebhookEvent.CAMPAIGN_FINISHED.value],
    )
    answer(of_systems, annotator, by_system, most=10)
    close_reached_campaigns()
    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.OPEN
    assert where(of_systems).documents == 5

    answer(of_systems, annotator, by_system, most=30)
    close_reached_campaigns()

    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.CLOSED
    goal = CampaignGoal.objects.get()
    assert goal.reached_at is not None
    assert goal.low is not None
    assert goal.low > 0
    assert goal.documents == 20
    entry = AuditEntry.objects.get(action="campaign_goal")
    assert entry.detail == "Enough"
    told = json.loads(WebhookDelivery.objects.get(webhook=webhook).body)
    assert told["data"]["reason"] == "goal reached"


def test_systems_that_are_alike_leave_it_open(of_systems: Campaign) -> None:
    chance = np.random.default_rng(0)
    answer(of_systems, Annotator.objects.get(), lambda _name: float(chance.integers(1, 6)))
    close_reached_campaigns()
    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.OPEN
    found = where(of_systems)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


def test_documents_of_groups_do_not_end_a_campaign(
    of_systems: Campaign, as_role: Callable[[str], Client]
) -> None:
    """Values that are alike in each group would end it long before its time."""
    documents = of_systems.project.documents.order_by("pk")
    for number, document in enumerate(documents):
        document.metadata = {"group": f"t{number % 9}"}
        document.save()
    answer(of_systems, Annotator.objects.get(), by_system)
    close_reached_campaigns()
    state = where(of_systems)

    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.OPEN
    assert (state.low, state.is_reached, state.estimate) == (None, False, 4.0)
    page = unescape(as_role("owner").get(of_systems.get_absolute_url()).content.decode())
    assert "come in groups" in page


def test_what_a_comparison_still_takes_is_more_than_it_has(of_systems: Campaign) -> None:
    """The upper end is cut off at the largest difference, so half of the interval's width says too
    little of how far the lower one is from the estimate."""
    annotator = Annotator.objects.get()
    for answers in (4, 8, 12, 16):
        answer(of_systems, annotator, by_system, most=answers)
        found = where(of_systems)
        if not found.is_reached:
            assert found.needed is not None
            assert found.needed > found.documents


def test_a_document_counts_when_all_its_items_are_answered(of_systems: Campaign) -> None:
    answer(of_systems, Annotator.objects.get(), by_system, most=7)
    found = where(of_systems)
    assert (found.documents, found.planned) == (3, 30)


def with_scores(project: Project, name: str, score: Callable[[str], float]) -> Judge:
    from evaluations.models import CandidateOutput, EvaluationRun, JudgeKind

    judge = Judge.objects.create(project=project, name=name, kind=JudgeKind.IMPORTED)
    run = EvaluationRun.objects.create(project=project, judge=judge, state="done")
    Score.objects.bulk_create(
        Score(run=run, output=output, value=score(output.system.name))
        for output in CandidateOutput.objects.select_related("system")
    )
    return judge


def test_one_of_two_judges_is_found_to_be_better(opened: Open, project: Project) -> None:
    right = with_scores(project, "right", by_system)
    wrong = with_scores(project, "wrong", lambda name: -by_system(name))
    campaign = opened({"kind": GoalKind.JUDGES, "judge": right, "rival": wrong})
    answer(campaign, Annotator.objects.get(), by_system)

    close_reached_campaigns()

    goal = CampaignGoal.objects.get()
    assert goal.low is not None
    assert goal.low > 0


def test_a_width_is_reached_or_says_how_many_documents_it_takes(
    opened: Open, project: Project
) -> None:
    judge = with_scores(project, "right", by_system)
    campaign = opened({"kind": GoalKind.WIDTH, "judge": judge, "width": 0.2})
    annotator = Annotator.objects.get()
    answer(campaign, annotator, by_system, most=20)
    early = where(campaign)
    assert not early.is_reached
    assert early.needed is not None
    assert early.needed > early.documents

    answer(campaign, annotator, by_system)
    close_reached_campaigns()

    campaign.refresh_from_db()
    found = where(campaign)
    assert found.half_width is not None
    assert (campaign.state == CampaignState.CLOSED) == (found.half_width <= 0.2)


FORM = {
    "name": "Enough", "kind": "rating", "selection": "all", "group_size": "3", "overlap": "1",
    "order": "document", "seed": "0", "lease_minutes": "60", "check_percent": "0",
    "practice_items": "0",
    "check_tolerance": "0",
    "practice_pass": "0",
}  # fmt: skip


def test_the_form_stores_a_goal_and_removes_it(
    small_project: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    criteria = list(small_project.criteria.values_list("pk", flat=True))
    good, odd = small_project.systems.order_by("name").values_list("pk", flat=True)
    sent = FORM | {"criteria": criteria}
    goal = {"goal_kind": "systems", "goal_criterion": criteria[0],
            "goal_system": good, "goal_other": odd, "goal_width": "0.1"}  # fmt: skip

    client.post("/p/small/annotate/new/", sent | goal)
    stored = CampaignGoal.objects.get()
    assert (stored.kind, stored.system_id, stored.other_id) == (GoalKind.SYSTEMS, good, odd)
    assert stored.width is None
    edit = f"/p/small/annotate/{stored.campaign_id}/edit/"
    assert GoalKind.SYSTEMS.label in client.get(edit).content.decode()
    client.post(edit, sent)
    assert not CampaignGoal.objects.exists()


def test_a_goal_that_cannot_be_looked_at_keeps_no_other_campaign_open(
    of_systems: Campaign, project: Project
) -> None:
    answer(of_systems, Annotator.objects.get(), by_system)
    # As only the database's own tools could leave it; it is looked at first.
    broken = Campaign.objects.create(project=project, name="Broken", state=CampaignState.OPEN)
    CampaignGoal.objects.create(
        campaign=broken, criterion=project.criteria.get(), kind=GoalKind.WIDTH, width=0.1
    )
    goal = of_systems.goal  # type: ignore[attr-defined]
    goal.delete()
    goal.pk = None
    goal.save()

    with pytest.raises(RowsFailedError, match="1 of 2"):
        close_reached_campaigns()

    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.CLOSED


def test_a_goal_whose_campaign_could_not_be_closed_is_looked_at_again(
    of_systems: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(of_systems, Annotator.objects.get(), by_system)

    def lost(*_args: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("annotations.goals.goals._close", lost)
        with pytest.raises(RowsFailedError):
            close_reached_campaigns()
    close_reached_campaigns()

    of_systems.refresh_from_db()
    assert of_systems.state == CampaignState.CLOSED
