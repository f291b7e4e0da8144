"""Annotators who answer at random, always the same, or as somebody else does, are named while a
campaign runs; honest ones are not."""

from collections.abc import Callable

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.models import Annotator, Assignment, AssignmentState, Campaign, Seat
from annotations.results.progress import campaign_progress, find_suspicions
from evaluations.models import Project
from geval.files.answers.pairs import answer_values
from geval.statistics.chance_raters import against_chance, copies
from tests.annotations.answered import many_documents

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
    honest, chance, constant, copied = [], [], [], []
    for seed in range(20):
        answers, odd = people(12, items=120, seed=seed), 12 - seed % 4
        answers[~theirs] = np.nan
        clicks = np.random.default_rng(seed).integers(1, 6, size=answers[odd:].shape)
        clicking = answers.copy()
        clicking[odd:] = np.where(theirs[odd:, :, None], clicks, np.nan)
        called = named(clicking)
        honest += [at in called for at in range(odd)]
        chance += [at in called for at in range(odd, 12)]
        answers[-1] = np.where(theirs[-1, :, None], 3, np.nan)
        constant.append(11 in named(answers))
        answers[-1] = answers[0]
        copied.append([(copy.first, copy.second) for copy in copies(answers)] == [(0, 11)])

    assert np.mean(honest) <= 0.05
    assert min(np.mean(chance), np.mean(constant), np.mean(copied)) >= 0.95


def test_ten_random_clickers_among_twenty_are_found() -> None:
    clicks = np.random.default_rng(3).integers(1, 6, size=(10, 60, 2)).astype(float)

    assert named(np.concatenate([people(10), clicks])) == list(range(10, 20))


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


def test_the_campaigns_page_names_who_clicks_at_random(
    small_project: Project, annotators: list[User], make_campaign: Callable[..., Campaign]
) -> None:
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

    found = find_suspicions(campaign, [])
    progress = campaign_progress(campaign)

    assert [found[person.pk].chance.is_chance for person in people_here] == [False, False, True]
    warned = [any("chance" in text for text in row.warnings) for row in progress.annotators]
    assert warned == [False, False, True]
    assert all(row.alpha is not None and 0 < row.alpha < 1 for row in progress.agreement)
    severities = [row.severity for row in progress.annotators]
    assert sum(value or 0 for value in severities) == pytest.approx(0)


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
