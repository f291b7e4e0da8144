"""Annotators who answer at random, or as somebody else does, are named while a campaign runs;
honest ones are not."""

import csv
from collections.abc import Callable
from html import unescape

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Annotator, Assignment, AssignmentState, Campaign, Seat
from annotations.results.progress import campaign_progress, read_anew
from evaluations.models import Project
from geval.files.answers.pairs import answer_values
from geval.reports.people_table import people_table
from geval.statistics.chance_raters import FEW_AGREE, FEW_ITEMS, against_chance, copies
from tests.annotations.answered import many_documents
from tests.conftest import CHECKOUT

CASE = CHECKOUT.parent / "shared" / "cases" / "people" / "honest_pass_fail.csv"
pytestmark = pytest.mark.django_db


def people(honest: int, *, items: int = 60, seed: int = 5) -> np.ndarray:
    """Honest answers; shape (honest, items, 2)."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=(items, 2)) + rng.normal(scale=0.8, size=(honest, items, 2))
    return np.clip(np.round(3 + seen), 1, 5)


def named(answers: np.ndarray) -> list[int]:
    tests = against_chance(answers, np.random.default_rng(1))
    return [at for at, test in enumerate(tests) if test.is_chance]


def test_honest_annotators_are_not_named_and_random_ones_are() -> None:
    """Of twelve people, three to each of 120 items, up to three click at random."""
    theirs = np.random.default_rng(11).random((12, 120)).argsort(axis=0) < 3
    honest, chance, copied = [], [], []
    for seed in range(6):
        answers, odd = people(12, items=120, seed=seed), 12 - seed % 4
        answers[~theirs] = np.nan
        clicks = np.random.default_rng(seed).integers(1, 6, size=answers[odd:].shape)
        clicking = answers.copy()
        clicking[odd:] = np.where(theirs[odd:, :, None], clicks, np.nan)
        called = named(clicking)
        honest += [at in called for at in range(odd)]
        chance += [at in called for at in range(odd, 12)]
        answers[-1] = answers[0]
        copied.append([(copy.first, copy.second) for copy in copies(answers)] == [(0, 11)])

    assert np.mean(honest) <= 0.05
    assert np.mean(chance) >= 0.9
    assert np.mean(copied) >= 0.95


def test_who_gives_one_answer_is_not_compared_with_chance() -> None:
    """Honest people may pass everything; `careless_signs` weighs it against the others' shares."""
    answers = people(6)
    answers[-1] = 3

    test = against_chance(answers, np.random.default_rng(1))[-1]

    assert (test.p, test.is_chance, test.reason) == (1.0, False, FEW_ITEMS)


def pass_fail(passing: float, *, honest: int = 12, items: int = 60, seed: int = 1) -> np.ndarray:
    """Pass or fail by people with the same noise; shape (honest, items, 1)."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=items) + rng.normal(scale=0.8, size=(honest, items))
    return (seen > np.quantile(seen, 1 - passing))[:, :, None].astype(float)


@pytest.mark.parametrize("passing", [0.5, 0.9])
def test_at_most_one_in_twenty_honest_people_is_named_on_pass_and_fail(passing: float) -> None:
    called = []
    for seed in range(6):
        answers = pass_fail(passing, seed=seed)
        answers[np.random.default_rng(seed).random((12, 60)).argsort(axis=0) >= 5] = np.nan
        called.append(len(named(answers)))

    assert np.mean(called) <= 0.05 * 12


@pytest.mark.skipif(not CASE.is_file(), reason="the folder ../shared/cases is not here")
def test_honest_people_of_a_campaign_with_85_percent_pass_are_not_named() -> None:
    with CASE.open() as file:
        rows = list(csv.DictReader(file))
    names, items = (
        sorted({tuple(row[name] for name in of) for row in rows})
        for of in (("annotator",), ("doc_id", "system_id"))
    )
    answers = np.full((len(names), len(items), 1), np.nan)
    for row in rows:
        item = items.index((row["doc_id"], row["system_id"]))
        answers[names.index((row["annotator"],)), item] = float(row["score"])

    tests = against_chance(answers, np.random.default_rng(1))

    assert not [test for test in tests if test.is_chance]
    assert [test.reason for test in tests].count(FEW_ITEMS) >= 6


def test_a_crowd_half_random_is_not_turned_round() -> None:
    """Of twenty people with 15 items each, every second one clicks."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        answers = people(20, items=100, seed=seed)[:, :, :1]
        answers[::2] = rng.integers(1, 6, size=answers[::2].shape)
        answers[rng.random((20, 100)).argsort(axis=0) >= 3] = np.nan

        assert not [at for at in named(answers) if at % 2]


def test_where_too_few_agree_the_reason_says_so() -> None:
    clicks = np.random.default_rng(3).integers(1, 6, size=(16, 60, 1)).astype(float)
    tests = against_chance(np.concatenate([people(3)[:, :, :1], clicks]), np.random.default_rng(1))

    assert not any(test.is_chance for test in tests)
    assert FEW_AGREE in {test.reason for test in tests}


def test_nobody_is_named_on_few_items_or_without_others() -> None:
    few = people(4)
    few[3] = np.nan
    few[3, :6] = 3

    assert named(few) == []
    assert named(people(1)) == []


def test_where_nobody_agrees_nobody_is_named() -> None:
    clicks = np.random.default_rng(3).integers(1, 6, size=(3, 40, 1)).astype(float)

    assert named(clicks) == []


def test_people_who_agree_because_items_are_easy_are_no_copies() -> None:
    easy = np.tile(np.arange(40)[None, :, None] % 5, (5, 1, 1)).astype(float)

    assert copies(easy) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"scores": {"4": 2.5}}, {"4": 2.5}),
        ({"choices": {"0": 2}}, {"0 0 1": -2.0}),
        ({"ranks": {"0": {"9": 1, "7": 2}}}, {"0 0 1": -1.0}),
        ({"best": {"0": 9}, "worst": {"0": 7}}, {"0 0 1": -1.0}),
    ],
)
def test_answers_of_all_kinds_are_compared(
    answer: dict[str, object], expected: dict[str, float]
) -> None:
    assert answer_values(answer, [9, 7]) == expected


@pytest.fixture
def clicked(
    small_project: Project, annotators: list[User], make_campaign: Callable[..., Campaign]
) -> Campaign:
    """A campaign with two honest people and one, the last, who clicks at random."""
    many_documents(small_project, 40)
    campaign = make_campaign(overlap=3)
    criteria = [str(pk) for pk in campaign.criteria.values_list("pk", flat=True)]
    table = people(3, items=campaign.items.count())
    table[2] = np.random.default_rng(2).integers(1, 6, size=table[2].shape)
    people_here = list(Annotator.objects.filter(seats__campaign=campaign).order_by("pk"))
    at = campaign.created_at
    Assignment.objects.bulk_create(
        Assignment(
            campaign=campaign, item=item, annotator=person, state=AssignmentState.SUBMITTED,
            shown=item.outputs, lease_until=at, submitted_at=at, seconds=5,
            answer={"scores": dict.fromkeys(criteria, table[who, place, 0])},
        )
        for who, person in enumerate(people_here)
        for place, item in enumerate(campaign.items.order_by("position"))
    )  # fmt: skip
    return campaign


def test_who_clicks_at_random_is_named(clicked: Campaign) -> None:
    suspicions = read_anew(clicked, []).suspicions
    progress = campaign_progress(clicked)

    assert [suspicions[pk].chance.is_chance for pk in sorted(suspicions)] == [False, False, True]
    warned = [any("chance" in text for text in row.warnings) for row in progress.annotators]
    assert warned == [False, False, True]
    assert all(0 < (row.alpha.value or 0) < 1 for row in progress.agreement)
    severities = [row.questions[0].severity.points.value or 0 for row in progress.annotators]
    assert sum(severities) == pytest.approx(0)
    assert people_table(progress).rows[0].person == progress.annotators[2]


def test_page_api_and_csv_say_the_same_of_people(clicked: Campaign, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    row = campaign_progress(clicked).annotators[2]
    of, address = row.questions[0], f"/p/small/annotate/{clicked.pk}/"

    page = unescape(client.get(f"{address}?open={row.pk}").content.decode())
    api = client.get(f"/api/v1/projects/small/campaigns/{clicked.pk}/people").json()
    file = b"".join(client.get(address + "people.csv"))  # type: ignore[arg-type]

    assert f'aria-label="{of} on {of.items} items"' in page
    assert f'<small class="nowrap">{of.severity}</small>' in page
    assert "alpha, interval)" in page
    assert str(campaign_progress(clicked).agreement[0]) in page
    assert "people.csv" in page
    record = next(person for person in api["people"] if person["annotator"] == row.annotator)
    assert (record["question"], record["shared_items"]) == (of.question, of.items)
    assert [record["severity_low"], record["severity_high"]] == list(of.severity.interval.ends)
    assert (record["rho"], record["shared_documents"]) == (of.rho.value, of.documents)
    assert [record["rho_low"], record["rho_high"]] == list(of.rho_interval.ends)
    assert record["severity_over_time"] == [part.points.value for part in of.over_time] != []
    assert record["warnings"] == list(row.warnings) != []
    agreement = api["agreement"]
    assert (agreement["coefficient"], agreement["measurement"]) == ("alpha", "interval")
    assert all(len(alpha["ci"]) == 2 for alpha in agreement["questions"].values())
    written = list(csv.DictReader(file.decode().splitlines()))
    assert [row["severity"] for row in written] == [str(row["severity"]) for row in api["people"]]
    assert row.warnings[0] in written[-1]["warnings"]
    assert written[-1].keys() == record.keys()


def test_a_campaign_that_everybody_skipped_says_so(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
) -> None:  # fmt: skip
    from annotations.planning.assignment import IdleReason, idle_reason, queue_of, skip

    campaign = make_campaign(overlap=3)
    for user in annotators:
        seat = seat_of(campaign, user)
        while waiting := queue_of(seat):
            for pk in waiting:
                skip(seat, pk, "broken")

    assert campaign_progress(campaign).is_skipped_by_all
    assert idle_reason(seat_of(campaign, annotators[0])) == IdleReason.SKIPPED
