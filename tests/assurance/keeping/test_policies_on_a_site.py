"""Policies of a site: the numbers are those of files, looks are counted, and later outputs are kept
or go to people."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import geval
from annotations.models import Campaign, CampaignState, Inclusion, ItemKind
from annotations.planning.campaigns import close_campaign
from assurance.certifying.certificates import certify, what_changed
from assurance.keeping.page import criteria_of, promises_on
from assurance.keeping.proofs import ask_policy, request_policy
from assurance.keeping.using import decide_new_outputs, stop_policy, use_policy
from assurance.keeping.weeks import PEOPLE, TEXTS, Weeks, policy_in_use
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Criterion, Judge, LockEvent, Policy, Project
from evaluations.models.improving import EventKind
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.files.archive.record_file import ArchiveError
from geval.improving.ground import ImproveError
from geval.improving.policy_watch import Holding, check_share
from geval.improving.promises import PromiseKind, parse_promise
from geval.reports.requirements import RequirementError, parse_requirement
from geval.standin.planted import as_csv
from tests.assurance.keeping.conftest import DOCUMENTS, Load, files

pytestmark = pytest.mark.django_db
FEW = parse_promise("few false passes")
RATED_BY_ANN = {("clear", "ann"), ("short", "ann")}


def test_the_numbers_are_those_of_files(judge: Judge, criterion: Criterion, tmp_path: Path) -> None:
    for name, text in files(range(DOCUMENTS)).items():
        (tmp_path / name).write_text(text)

    of_files = geval.policy(
        sorted(tmp_path.iterdir()), promise=str(FEW), judge="judge", by="language"
    )
    asked = ask_policy(judge, criterion, FEW, field="language")
    asked.refresh_from_db()

    assert of_files.kept is not None
    expected = of_files.to_dict()
    for name in (
        "kept",
        "fails",
        "curve",
        "by_value",
        "training",
        "locked",
        "confidence",
        "calibration",
    ):
        assert asked.content[name] == json.loads(json.dumps(expected[name])), name
    assert asked.content["headline"] == of_files.headline


def test_each_new_question_about_locked_documents_is_a_look(
    labelled: Project, judge: Judge, criterion: Criterion
) -> None:
    locked = lock_documents(labelled, looks=2, seed="fixed")
    asked = [ask_policy(judge, criterion, FEW) for _ in range(2)]

    assert asked[0] == asked[1]
    assert locked.looks_used() == 1
    ask_policy(judge, criterion, parse_promise("within 0.4"))
    with pytest.raises(ImproveError, match="looks"):
        ask_policy(judge, criterion, parse_promise("within 0.3"))
    events = LockEvent.objects.filter(draw=locked.draw, kind=EventKind.LOOK)
    assert [event.content["judge"] for event in events] == ["judge", "judge"]
    assert Policy.objects.count() == 2


def test_more_answers_are_checked_where_ratings_of_locked_documents_are_withheld(
    labelled: Project, judge: Judge, criterion: Criterion, load: Load
) -> None:
    load(labelled, files(range(2000, 2600), seed=8))
    locked = lock_documents(labelled, looks=3, seed="other")

    asked = ask_policy(judge, criterion, FEW)

    assert asked.kept is not None
    usual = check_share(round(1800 * asked.kept["coverage"]), 0.05)
    assert asked.check_share == pytest.approx(min(1, usual / (1 - locked.share)), rel=0.1)


def test_too_few_documents_are_no_look(project: Project, load: Load) -> None:
    load(project, files(range(15)))
    locked = lock_documents(project, seed="fixed")

    asked = ask_policy(project.judges.get(), project.criteria.get(), FEW)

    assert asked.content["more_documents"] > 0
    assert locked.looks_used() == 0


def test_opened_documents_and_fitted_judges_prove_nothing(
    labelled: Project, judge: Judge, criterion: Criterion
) -> None:
    Judge.objects.filter(pk=judge.pk).update(kind="ensemble")
    judge.refresh_from_db()
    with pytest.raises(ImproveError, match="fitted"):
        ask_policy(judge, criterion, FEW)


def in_use(judge: Judge, criterion: Criterion, owner: User, *, share: float) -> Policy:
    policy = use_policy(ask_policy(judge, criterion, FEW), by=owner)
    Policy.objects.filter(pk=policy.pk).update(check_share=share)
    policy.refresh_from_db()
    return policy


def weeks_of(policy: Policy) -> Weeks:
    weeks = policy_in_use(policy).weeks
    assert weeks is not None
    return weeks


def test_later_outputs_are_kept_or_go_to_people(
    owner: User, labelled: Project, judge: Judge, criterion: Criterion, load: Load
) -> None:
    policy = in_use(judge, criterion, owner, share=0.25)
    load(labelled, files(range(1000, 1200), seed=2, rated=False))

    decide_new_outputs()
    decide_new_outputs()

    decisions = list(policy.decisions.all())
    least = policy.content["kept"]["coverage_low"] - 0.05
    assert len(decisions) == 400
    assert least < sum(each.is_kept for each in decisions) / 400 < 1
    kept = [each for each in decisions if each.is_kept]
    checked = {each.output_id for each in kept if each.is_checked}
    assert 0.15 < len(checked) / len(kept) < 0.35
    asked = {each.output_id for each in decisions if not each.is_kept}
    campaign = Campaign.objects.get(pk=policy.campaign)
    assert campaign.name == "To people: judge on right"
    items = campaign.items.filter(kind=ItemKind.ORDINARY)
    assert {output for item in items for output in item.outputs} == checked | asked
    chances = dict(Inclusion.objects.filter(campaign=campaign).values_list("output", "probability"))
    assert {chances[pk] for pk in asked} == {1.0}
    assert {chances[each.output_id] for each in kept} == {0.25}


@pytest.fixture
def two_judges(project: Project, load: Load) -> list[Judge]:
    load(project, files(range(DOCUMENTS), second=True))
    return list(project.judges.order_by("name"))


def test_a_second_judge_has_the_numbers_of_files(two_judges: list[Judge], tmp_path: Path) -> None:
    judge, other = two_judges
    for name, text in files(range(DOCUMENTS), second=True).items():
        (tmp_path / name).write_text(text.replace("right,judge,", "right,first,"))

    of_files = geval.policy(
        sorted(tmp_path.iterdir()), promise=str(FEW), judge="first", second="other"
    )
    asked = ask_policy(judge, judge.project.criteria.get(), FEW, second=other)
    asked.refresh_from_db()

    assert of_files.kept is not None
    assert 0 < of_files.kept.by_first < of_files.kept.coverage
    assert asked.content["second"] == "other"
    expected = of_files.to_dict()
    for name in ("kept", "fails", "curve", "per_1000"):
        assert asked.content[name] == json.loads(json.dumps(expected[name])), name
    alone = ask_policy(judge, judge.project.criteria.get(), FEW)
    assert alone.content["kept"]["coverage"] < asked.content["kept"]["coverage"]


def test_only_what_the_first_judge_leaves_waits_for_the_second(
    owner: User, two_judges: list[Judge], load: Load
) -> None:
    judge, other = two_judges
    asked = ask_policy(judge, judge.project.criteria.get(), FEW, second=other)
    policy = use_policy(asked, by=owner)
    Policy.objects.filter(pk=policy.pk).update(check_share=1.0)
    policy.refresh_from_db()
    later = files(range(1000, 1100), seed=2, second=True)
    others = later.pop("others.csv")

    load(judge.project, later)
    decide_new_outputs()
    by_first = policy.decisions.count()
    load(judge.project, {"others.csv": others})
    decide_new_outputs()

    assert 20 < by_first < 180
    assert policy.decisions.count() == 200
    by_second = policy.decisions.filter(is_by_second=True)
    assert 0 < by_second.count() == policy.decisions.filter(is_kept=True).count() - by_first
    use = weeks_of(policy)
    assert use.today.checks > 0
    assert use.today.holding != Holding.BROKEN


def test_outputs_wait_for_scores_and_for_an_open_campaign(
    owner: User, labelled: Project, judge: Judge, criterion: Criterion, load: Load
) -> None:
    policy = in_use(judge, criterion, owner, share=1.0)
    given = files(range(1000, 1010), rated=False)
    load(labelled, {"outputs.csv": given["outputs.csv"]})
    decide_new_outputs()
    assert policy_in_use(policy).waiting == 20

    load(labelled, {"scores.csv": given["scores.csv"]})
    campaign = Campaign.objects.get(pk=policy.campaign)
    close_campaign(campaign)
    decide_new_outputs()
    assert policy.decisions.count() == 0

    Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.OPEN)
    decide_new_outputs()
    assert policy.decisions.count() == 20
    assert campaign.items.count() == 20  # a share of 1: people check every kept answer


@pytest.mark.parametrize(
    ("errs", "holding", "has_moved"),
    [(0.0, Holding.HOLDS, False), (0.3, Holding.BROKEN, True)],
)
def test_checked_answers_show_whether_the_promise_holds(
    owner: User,
    labelled: Project,
    judge: Judge,
    criterion: Criterion,
    load: Load,
    errs: float,
    holding: Holding,
    has_moved: bool,
) -> None:
    policy = in_use(judge, criterion, owner, share=1.0)
    load(labelled, files(range(1000, 1400), errs=errs, seed=3))
    decide_new_outputs()

    use = weeks_of(policy)

    assert use.today.holding == holding
    (week,) = use.weeks
    assert (week.decided, week.rated) == (800, 800)
    assert week.rate is not None
    assert week.rate.estimate == pytest.approx(0.7, abs=0.08)
    assert ("judge (its scores)" in week.moved) is has_moved


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("outputs.csv", "Text ", "Text that has more words than the earlier ones ", TEXTS),
        ("ratings.csv", ",expert,1", ",expert,0", PEOPLE),
    ],
)
def test_it_is_named_what_moved_since_the_proof(
    owner: User,
    labelled: Project,
    judge: Judge,
    criterion: Criterion,
    load: Load,
    file: str,
    old: str,
    new: str,
    expected: str,
) -> None:
    policy = in_use(judge, criterion, owner, share=1.0)
    given = files(range(1000, 1200), seed=3)

    load(labelled, given | {file: given[file].replace(old, new)})
    decide_new_outputs()

    (week,) = weeks_of(policy).weeks
    assert week.moved == (expected,)


def test_one_policy_of_a_judge_is_in_use(owner: User, judge: Judge, criterion: Criterion) -> None:
    first = use_policy(ask_policy(judge, criterion, FEW), by=owner)
    second = ask_policy(judge, criterion, parse_promise("within 0.45"))
    if second.kept is None:
        with pytest.raises(ImproveError, match="nothing"):
            use_policy(second, by=owner)
        stop_policy(first)
    else:
        use_policy(second, by=owner)

    first.refresh_from_db()
    assert not first.is_in_use
    assert Campaign.objects.get(pk=first.campaign).state == CampaignState.CLOSED


def test_the_page_asks_shows_and_uses(
    as_role: Callable[[str], Client], labelled: Project, judge: Judge, criterion: Criterion
) -> None:
    client = as_role("owner")
    address = f"/p/{labelled.slug}/judges/{judge.pk}/policy/"
    assert "Ask for a promise" in client.get(address).content.decode()
    answers: dict[str, Any] = {
        "criterion": criterion.pk, "promise": FEW, "points": "", "field": "language", "second": "",
    }  # fmt: skip

    shown = client.post(f"{address}ask/", answers, follow=True).content.decode()

    policy = Policy.objects.get()
    assert f"Keep {round(100 * policy.content['kept']['coverage'])} %" in shown
    assert "By language" in shown
    used = client.post(f"/p/{labelled.slug}/policies/{policy.pk}/use/", follow=True)
    assert "Stop using it" in used.content.decode()
    (listed,) = client.get(f"/api/v1/projects/{labelled.slug}/policies").json()["items"]
    assert (listed["is_promised"], listed["in_use"]) == (True, True)
    client.post(f"/p/{labelled.slug}/policies/{policy.pk}/stop/")
    policy.refresh_from_db()
    assert not policy.is_in_use
    assert client.get(policy.get_absolute_url() + "&policy=0").status_code == 404


REFUSED: list[tuple[dict[str, str], int]] = [
    ({"promise": "as one person"}, 422),
    ({"promise": "within", "points": ""}, 422),
    ({"promise": "none"}, 422),
    ({"promise": "within", "second": "0"}, 422),
    ({"promise": "within", "criterion": "0"}, 200),
]


def test_what_cannot_be_asked_is_refused(
    as_role: Callable[[str], Client], labelled: Project, judge: Judge, criterion: Criterion
) -> None:
    client, usual = as_role("owner"), {"criterion": criterion.pk, "points": "0.5", "field": ""}
    address = f"/p/{labelled.slug}/judges/{judge.pk}/policy/ask/"

    statuses = [
        client.post(address, usual | answers, follow=True).status_code for answers, _ in REFUSED
    ]

    assert statuses == [status for _, status in REFUSED]
    assert not Policy.objects.exists()


def test_only_what_can_be_promised_is_offered(labelled: Project, load: Load, judge: Judge) -> None:
    rows = [
        (f"d{number}", "a", name, person, 1 + number % 3)
        for number in range(4)
        for name, people in (("clear", ("ann", "bob")), ("short", ("ann",)), ("unscored", ("ann",)))
        for person in people
    ]
    scores = [(*row[:3], "judge", row[4]) for row in rows if row[2:4] in RATED_BY_ANN]
    head = "doc_id,system_id,criterion"
    load(labelled, {"ratings.csv": as_csv(f"{head},annotator,score", rows),
                    "scores.csv": as_csv(f"{head},judge,score", scores)})  # fmt: skip

    by_name = {each.name: each for each in criteria_of(judge)}

    assert {name: set(promises_on(each)) for name, each in by_name.items()} == {
        "right": {PromiseKind.WITHIN, PromiseKind.FALSE_PASSES},
        "clear": {PromiseKind.ONE_PERSON, PromiseKind.WITHIN},
        "short": {PromiseKind.WITHIN},
    }


def test_a_certificate_requires_figures_of_the_policy_in_use(
    owner: User, judge: Judge, criterion: Criterion
) -> None:
    wanted = [
        parse_requirement(text)
        for text in (
            "policy.error.high<=0.05",
            "policy.coverage.low>=0.2",
            "policy.coverage.low>=1",
        )
    ]
    without = certify(judge, criterion, wanted)
    assert {each["outcome"] for each in without.requirements} == {"cannot say"}
    policy = use_policy(ask_policy(judge, criterion, FEW), by=owner)

    made = certify(judge, criterion, wanted)

    assert [each["outcome"] for each in made.requirements] == ["met", "met", "not met"]
    assert made.requirements[0]["value"] == policy.content["kept"]["error_high"]
    assert what_changed(made) == []
    stop_policy(policy)
    assert what_changed(made) == ["The policy in use changed."]


@pytest.mark.parametrize("text", ["policy.error.high>=0.05", "policy.coverage.low<=0.2"])
def test_requirements_of_policies_have_a_side(text: str) -> None:
    with pytest.raises(RequirementError, match="end"):
        parse_requirement(text)


def test_a_week_counts_ratings_of_what_was_drawn(
    owner: User, labelled: Project, judge: Judge, criterion: Criterion, load: Load
) -> None:
    policy = in_use(judge, criterion, owner, share=0.2)
    load(labelled, files(range(1000, 1300), seed=3))
    decide_new_outputs()

    (week,) = weeks_of(policy).weeks

    drawn = policy.decisions.filter(is_kept=False) | policy.decisions.filter(is_checked=True)
    assert week.rated == drawn.count() < week.decided
    assert week.rate is not None
    assert week.rate.low is not None
    assert week.rate.high is not None
    assert week.rate.low < week.rate.estimate < week.rate.high
    # Which outputs are drawn is random: within five standard errors of the true rate.
    assert week.rate.estimate == pytest.approx(0.7, abs=0.12)


def test_a_week_has_no_rate_while_nobody_rated_kept_outputs(
    owner: User, labelled: Project, judge: Judge, criterion: Criterion, load: Load
) -> None:
    policy = in_use(judge, criterion, owner, share=0.2)
    load(labelled, files(range(1000, 1300), seed=3))
    decide_new_outputs()
    policy.decisions.update(is_checked=False)

    (week,) = weeks_of(policy).weeks

    assert week.rated > 50
    assert week.rate is None


def archived(project: Project) -> io.BytesIO:
    content = io.BytesIO()
    write_archive(project, content)
    content.seek(0)
    return content


def records(archive: io.BytesIO) -> dict[str, list[dict[str, Any]]]:
    """The records of policies and their decisions, without numbers of rows."""
    with zipfile.ZipFile(archive) as opened:
        lines = {name: opened.read(f"{name}.jsonl").splitlines() for name in
                 ("policies", "policy_decisions")}  # fmt: skip
    archive.seek(0)
    return {
        name: [{**json.loads(line), "policy": ""} for line in own] for name, own in lines.items()
    }


def test_policies_come_back_from_archives(owner: User, two_judges: list[Judge], load: Load) -> None:
    judge, other = two_judges
    project, criterion = judge.project, judge.project.criteria.get()
    ask_policy(judge, criterion, parse_promise("within 0.3"), field="language")
    request_policy(judge, criterion, FEW)
    policy = use_policy(ask_policy(judge, criterion, FEW, second=other), by=owner)
    load(project, files(range(1000, 1100), seed=2, second=True))
    decide_new_outputs()
    archive = archived(project)
    Project.objects.filter(pk=project.pk).update(slug="the-first")

    copy = read_archive(archive)

    assert records(archived(copy)) == records(archive)
    assert len(records(archive)["policies"]) == 2
    (in_copy,) = copy.policies.filter(used_at__isnull=False)
    assert (in_copy.is_in_use, in_copy.second.label) == (True, "other")
    assert in_copy.project.campaigns.get(pk=in_copy.campaign).name.startswith("To people")
    assert in_copy.decisions.count() == policy.decisions.count() == 200
    assert weeks_of(in_copy) == weeks_of(policy)
    assert policy_in_use(in_copy).waiting == 0


ODD_POLICIES: list[tuple[dict[str, Any], str]] = [
    ({"rule": {"name": "x"}}, "rule: has no reach"),
    ({"content": {}}, "content: has no"),
    ({"promise": "within 1"}, "promise is not that of its content"),
    ({"second_rule": None}, "second_rule"),
    ({"after_doc_id": "nowhere"}, "nowhere"),
]


def test_an_archives_policy_has_what_pages_read(two_judges: list[Judge]) -> None:
    judge, other = two_judges
    ask_policy(judge, judge.project.criteria.get(), FEW, second=other)
    archive = archived(judge.project)
    for change, message in ODD_POLICIES:
        spoilt = io.BytesIO()
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(spoilt, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if name == "policies.jsonl":
                    data = json.dumps(json.loads(data) | change).encode() + b"\n"
                new.writestr(name, data)

        with pytest.raises(ArchiveError, match=message):
            read_archive(spoilt, slug="copy")
