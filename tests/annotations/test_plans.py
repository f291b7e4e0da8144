"""A campaign is planned before there is one, from what is rated and scored already."""

import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from html import unescape

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.goals.plans import plan
from annotations.models import CampaignGoal, GoalKind, Rating
from evaluations.models import Criterion, JudgeKind, Membership, Project, Role
from evaluations.reports.data import load_data
from geval.measuring.plans import CampaignEffort, Plan
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.jackknife import t_quantile
from geval.statistics.planning import Needed
from geval.statistics.projection import documents_for
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/annotate/plan/"


@pytest.fixture
def pilot(project: Project, load: Callable[..., object]) -> Project:
    """Sixty documents by four systems, three raters, and two judges of which one is better."""
    draw = random.Random(3)
    outputs, ratings, scores = [], [], []
    for number in range(60):
        for system in range(4):
            name = f"d{number:02},s{system},quality"
            outputs.append(
                json.dumps({"doc_id": f"d{number:02}", "system_id": f"s{system}", "source": "Text.",
                            "output": f"{number} of {system}"})
            )  # fmt: skip
            quality = draw.gauss(3 + 0.2 * system, 0.8)
            for rater in ("ann", "bob", "cyd"):
                score = min(5, max(1, round(quality + draw.gauss(0, 0.8))))
                ratings.append(f"{name},{rater},{score}\n")
            scores.append(f"{name},near,{quality + draw.gauss(0, 0.5):.3f}\n")
            scores.append(f"{name},far,{quality + draw.gauss(0, 1.5):.3f}\n")
    load(project, files_of(outputs, ratings, scores))
    return project


def planned(project: Project, kind: GoalKind, **more: object) -> Plan:
    near, far = project.judges.order_by("-name")
    low, *_, high = project.systems.order_by("name")
    sides = {
        GoalKind.WIDTH: {"judge": near, "width": 0.05},
        GoalKind.JUDGES: {"judge": near, "rival": far},
        GoalKind.SYSTEMS: {"system": high, "other": low},
    }
    aim = CampaignGoal(kind=kind, criterion=project.criteria.get(), **sides[kind])
    data = load_data(project, list(project.judges.all()), list(project.criteria.all()))
    return plan(aim, data, **more)  # type: ignore[arg-type]


def test_more_raters_for_each_output_take_fewer_documents_and_more_ratings(pilot: Project) -> None:
    found = planned(pilot, GoalKind.WIDTH)

    assert [row.raters for row in found.rows] == [1, 2, 3]
    estimates = [row.estimate or 0 for row in found.rows]
    assert estimates[0] < min(estimates[1:])
    likely = [row.once.likely or 0 for row in found.rows]
    assert likely[0] > likely[2] > 60
    for row in found.rows:
        assert row.once.likely is not None
        assert row.once.promised is not None
        assert row.looking.likely is not None
        assert row.once.likely < row.once.promised
        assert row.once.likely < row.looking.likely
        assert row.ratings == row.once.promised * 4 * row.raters
    assert found.cheapest == 1


def test_the_documents_that_are_rated_are_enough_from_the_number_that_is_promised_on() -> None:
    def has_enough(documents: int) -> bool:
        now = CampaignEffort(3, 0.5, Needed(40, 61), Needed(None, None, ""))
        return Plan((), now, documents, documents, 4.0, None).has_enough

    assert [has_enough(documents) for documents in (60, 61, 62)] == [False, True, True]


def test_as_rated_so_far_a_plan_says_what_the_pages_of_runs_say(
    pilot: Project,
) -> None:
    """Where outputs have different numbers of ratings, which no row of the plan has."""
    some = Rating.objects.filter(output__document__doc_id__in=["d01", "d02", "d03"])
    some.filter(annotator=pilot.annotators.order_by("name")[0]).delete()
    plan_now = planned(pilot, GoalKind.WIDTH).now

    data = load_data(pilot, list(pilot.judges.all()), list(pilot.criteria.all()))
    criterion, near = pilot.criteria.get(), pilot.judges.get(name="near")
    human, scores = data.humans[criterion.pk].mean, data.judges[criterion.pk, near.pk]
    values = coefficients_by_document(data.units, human, scores, "spearman")
    half = t_quantile(59) * values.std(ddof=1) / np.sqrt(60)

    assert plan_now is not None
    assert 2 < plan_now.raters < 3
    assert plan_now.estimate == pytest.approx(values.mean())
    assert plan_now.once.likely == documents_for(float(half), documents=60, goal=0.05)


def test_money_is_that_of_the_ratings(pilot: Project) -> None:
    (first, *_) = planned(pilot, GoalKind.WIDTH, price=Decimal("0.25")).rows

    assert first.people_money == Decimal("0.25") * (first.ratings or 0)
    assert first.money == first.people_money
    assert first.hours is None


@pytest.mark.parametrize("kind", [GoalKind.JUDGES, GoalKind.SYSTEMS])
def test_a_smaller_difference_takes_more_documents(pilot: Project, kind: GoalKind) -> None:
    own = planned(pilot, kind)
    small = planned(pilot, kind, difference=(own.difference or 0) / 2)

    assert own.difference is not None
    assert own.difference > 0
    for one, other in zip(own.rows, small.rows, strict=True):
        assert (other.once.likely or 0) > 2 * (one.once.likely or 0)


def test_a_pilot_that_is_too_small_says_so(project: Project, load: Callable[..., object]) -> None:
    load(
        project,
        {
            "o.csv": "doc_id,system_id,source,output\nd,a,t,x\nd,b,t,y\n",
            "r.csv": "doc_id,system_id,criterion,annotator,score\nd,a,quality,ann,1\n"
            "d,b,quality,ann,2\n",
            "s.csv": "doc_id,system_id,criterion,judge,score\nd,a,quality,near,1\n"
            "d,b,quality,near,2\nd,a,quality,far,1\n",
        },
    )

    (row,) = planned(project, GoalKind.WIDTH).rows

    assert row.once.likely is None
    assert "fewer than 10 documents" in row.once.reason


def test_the_page_asks_what_a_question_needs_and_answers(
    pilot: Project, owner: User, client: Client
) -> None:
    client.force_login(owner)
    asked = {"criterion": pilot.criteria.get().pk, "judge": pilot.judges.get(name="near").pk}

    empty = client.get(ADDRESS)
    answered = client.get(ADDRESS, asked | {"kind": "width", "width": "0.05", "price": "1"})
    refused = client.get(ADDRESS, asked | {"kind": "judges", "rival": asked["judge"]})

    assert "plan" not in empty.context
    assert answered.context["plan"].cheapest == 1
    assert "(fewest ratings)" in answered.content.decode()
    assert refused.context["form"].errors.keys() == {"rival"}
    assert "plan" not in refused.context


def test_a_plan_becomes_a_campaign_of_its_size_or_with_its_goal(
    pilot: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    judge = pilot.judges.get(name="near").pk
    criterion = pilot.criteria.get().pk
    page = client.get(
        ADDRESS, {"kind": "width", "criterion": criterion, "judge": judge, "width": "0.1"}
    ).content.decode()
    plain, closing = (unescape(one) for one in re.findall(r'href="([^"]+/new/\?[^"]+)"', page))

    form = client.get(closing).context["form"]
    found = {name: form[name].value() for name in ("goal_kind", "goal_width", "overlap")}
    assert found == {"goal_kind": "width", "goal_width": "0.1", "overlap": "1"}
    assert form["goal_judge"].value() == str(judge)
    assert form["criteria"].value() == [str(criterion)]
    assert not client.get(plain).context["form"]["goal_kind"].value()


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("width", {"width": ""}), ("width", {"width": "9", "price": "-1"}),
        ("width", {"criterion": "999999999"}), ("judges", {"rival": "near"}),
        ("judges", {"rival": "999999999"}), ("judges", {"difference": "0"}),
        ("judges", {"difference": "1e308"}),
        ("systems", {"other": ""}),
    ],
)  # fmt: skip
def test_the_api_refuses_a_plan_that_the_page_refuses_in_the_same_words(
    pilot: Project, as_role: Callable[[str], Client], kind: str, wrong: dict[str, str]
) -> None:
    near, far = pilot.judges.order_by("-name").values_list("pk", flat=True)
    low, *_, high = pilot.systems.order_by("name").values_list("pk", flat=True)
    asked = {
        "kind": kind, "criterion": pilot.criteria.get().pk, "judge": near, "rival": far,
        "system": low, "other": high, "width": 0.05,
    } | {name: near if value == "near" else value for name, value in wrong.items()}  # fmt: skip
    client = as_role("owner")

    on_page = client.get(ADDRESS, asked).context["form"]
    sent = {name: value for name, value in asked.items() if value != ""}
    refused = client.get("/api/v1/projects/small/plan", sent)

    assert refused.status_code == 422
    assert on_page.errors.keys() == wrong.keys()
    assert refused.json()["errors"] == [
        {"at": name, "message": text} for name, texts in on_page.errors.items() for text in texts
    ]


@pytest.fixture
def elsewhere(pilot: Project, owner: User) -> Project:
    """A project of the same owner with a judge and a criterion of the pilot's, and no ratings."""
    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=owner, role=Role.OWNER)
    other.judges.create(name="near", kind=JudgeKind.IMPORTED)
    Criterion.objects.create(project=other, name="quality")
    return other


def test_a_project_in_which_the_user_cannot_plan_is_no_pilot(
    pilot: Project, elsewhere: Project, owner: User, client: Client
) -> None:
    Membership.objects.filter(project=pilot, user=owner).update(role=Role.ANNOTATOR)
    client.force_login(owner)

    page = client.get("/p/other/annotate/plan/", {"pilot": pilot.slug})

    assert page.context["pilot"] == elsewhere
    assert "Plan from another project" not in page.content.decode()
