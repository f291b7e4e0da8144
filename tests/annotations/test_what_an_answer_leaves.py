"""What a submitted answer leaves: ratings, preferences and spans, the time it took, its versions,
the history of what it replaced, and a mark for reports."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations.answering.submission import draft_fields, submit
from annotations.models import (
    AnswerChange,
    Assignment,
    AssignmentState,
    Campaign,
    ItemKind,
    Preference,
    Rating,
    Seat,
    Span,
)
from annotations.planning.assignment import keep_draft, queue_of
from evaluations.models import CandidateOutput
from evaluations.models.changes import ScoreChange

pytestmark = pytest.mark.django_db
Work = Callable[..., tuple[Campaign, Seat, Assignment]]


@pytest.fixture
def work(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> Work:
    """A campaign, the first annotator's seat, and their first assignment."""

    def make(**fields: object) -> tuple[Campaign, Seat, Assignment]:
        campaign = make_campaign(**fields)
        seat = seat_of(campaign, annotators[0])
        first = Assignment.objects.get(pk=queue_of(seat)[0])
        ScoreChange.objects.all().delete()
        return campaign, seat, first

    return make


def send(
    seat: Seat, assignment: Assignment, fields: dict[str, str], *, version: int = 0,
    seconds: float | None = None, draft_number: int = 0,
) -> Assignment:  # fmt: skip
    submit(
        seat, assignment.pk, fields, user=seat.annotator.user, version=version, seconds=seconds,
        draft_number=draft_number,
    )  # fmt: skip
    return Assignment.objects.get(pk=assignment.pk)


@pytest.mark.parametrize(
    ("seconds", "stored"), [(0.0, 0.0), (3.5, 3.5), (-1.0, None), (None, None)]
)
def test_the_time_that_the_page_measured_is_stored(
    work: Work, ratings_for: Callable[..., dict], seconds: float | None, stored: float | None
) -> None:
    campaign, seat, first = work()
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(minutes=1))

    assert send(seat, first, ratings_for(campaign), seconds=seconds).seconds == stored


def test_an_answer_keeps_when_it_was_first_given_and_counts_its_versions(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work()
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(minutes=1))
    keep_draft(seat, first.pk, number=7, draft={"comment": "half"}, seconds=2.0)

    given = send(seat, first, ratings_for(campaign, flagged="1"), draft_number=5)
    changed = send(seat, first, ratings_for(campaign, "4"), version=1, draft_number=9)

    assert (given.version, changed.version) == (1, 2)
    assert (given.draft_number, changed.draft_number) == (7, 9)
    assert (given.flagged, changed.flagged) == (True, False)
    assert given.submitted_at == changed.submitted_at
    assert given.submitted_at is not None
    assert given.draft is None
    assert {given.state, changed.state} == {AssignmentState.SUBMITTED}
    assert (given.seconds, changed.seconds) == (2.0, 2.0)


def test_what_an_upload_said_is_history_once(work: Work, ratings_for: Callable[..., dict]) -> None:
    campaign, seat, first = work()
    output = first.shown[0]
    for criterion in campaign.criteria.all():
        Rating.objects.create(
            output_id=output, criterion=criterion, annotator=seat.annotator, score=1.5
        )

    send(seat, first, ratings_for(campaign))
    send(seat, first, ratings_for(campaign, "4"), version=1)

    keys = [str(pk) for pk in campaign.criteria.values_list("pk", flat=True)]
    replaced, changed = AnswerChange.objects.all()
    assert replaced.before == {"scores": dict.fromkeys(keys, 1.5)}
    assert (changed.before["scores"], changed.after["scores"]) == (
        dict.fromkeys(keys, 3),
        dict.fromkeys(keys, 4),
    )


def test_a_comparison_from_elsewhere_that_is_replaced_stays_in_the_history(work: Work) -> None:
    _campaign, seat, first = work(kind="pairwise")
    low, high = sorted(first.shown)
    Preference.objects.create(
        output_a_id=low, output_b_id=high, criterion=None, annotator=seat.annotator, value=0
    )

    send(seat, first, {"choice-0": "1"})
    send(seat, first, {"choice-0": "-1"}, version=1)

    replaced, changed = AnswerChange.objects.all()
    assert replaced.before == {"preferences": [[low, high, None, seat.annotator_id, 0]]}
    assert changed.before["choices"] == {"0": 1}
    stored = Preference.objects.get()
    assert stored.value == (-1 if first.shown[0] == low else 1)
    assert stored.a_was_left == (first.shown[0] == low)
    assert not stored.scores_in_sight


def test_ratings_that_were_once_made_in_sight_of_scores_stay_marked(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work(show_scores=True)
    send(seat, first, ratings_for(campaign))
    Campaign.objects.update(show_scores=False)
    seat.campaign.refresh_from_db()

    send(seat, first, ratings_for(campaign, "4"), version=1)

    of_seat = Rating.objects.filter(annotator=seat.annotator)
    assert set(of_seat.values_list("score", "scores_in_sight")) == {(4.0, True)}


def test_reports_are_told_which_criteria_have_new_ratings(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work()

    send(seat, first, ratings_for(campaign))

    changed = ScoreChange.objects.values_list("criterion", "judge")
    assert set(changed) == {(pk, None) for pk in campaign.criteria.values_list("pk", flat=True)}


def test_reports_are_told_of_comparisons(work: Work) -> None:
    _campaign, seat, first = work(kind="pairwise")

    send(seat, first, {"choice-0": "0"})

    assert list(ScoreChange.objects.values_list("criterion", "judge")) == [(None, None)]


@pytest.mark.parametrize("kind", [ItemKind.GOLD, ItemKind.ATTENTION, ItemKind.PRACTICE])
def test_checks_and_practice_leave_an_answer_and_no_ratings(
    work: Work, ratings_for: Callable[..., dict], kind: str
) -> None:
    campaign, seat, first = work()
    before = Rating.objects.count()
    campaign.items.filter(pk=first.item_id).update(kind=kind, places=0)

    answered = send(seat, first, ratings_for(campaign))

    assert answered.answer is not None
    assert Rating.objects.count() == before
    assert not ScoreChange.objects.exists()
    assert not AnswerChange.objects.exists()


def span_of(text: str) -> dict[str, object]:
    return {"start": 0, "end": 1, "quote": text[0], "category": "Error", "severity": ""}


def test_spans_are_replaced_by_those_of_the_newest_answer(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work(span_categories=["Error"])
    text = CandidateOutput.objects.get(pk=first.shown[0]).text
    spans = [span_of(text), span_of(text) | {"start": 1, "end": 3, "quote": text[1:3]}]

    def stored() -> list[tuple[int, int]]:
        of_output = Span.objects.filter(annotator=seat.annotator, output=first.shown[0])
        return sorted(of_output.values_list("start", "end"))

    send(seat, first, ratings_for(campaign, spans=json.dumps(spans)))
    assert stored() == [(0, 1), (1, 3)]
    send(seat, first, ratings_for(campaign, spans=json.dumps(spans[1:])), version=1)
    assert stored() == [(1, 3)]
    send(seat, first, ratings_for(campaign), version=2)
    assert stored() == []


def test_spans_marked_elsewhere_stay_where_none_are_asked_for(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work()
    Span.objects.create(
        annotator=seat.annotator, output_id=first.shown[0], start=0, end=1, quote="T",
        category="Error",
    )  # fmt: skip

    send(seat, first, ratings_for(campaign))

    assert Span.objects.count() == 1


def test_a_form_begins_with_the_draft_or_else_the_answer(
    work: Work, ratings_for: Callable[..., dict]
) -> None:
    campaign, seat, first = work()
    fields = ratings_for(campaign)
    assert draft_fields(first) == {}

    answered = send(seat, first, fields)
    of_answer = draft_fields(answered)
    answered.draft = {"comment": 5}

    assert of_answer == fields | {"comment": "", "flagged": ""}
    assert draft_fields(answered) == {"comment": "5"}
    answered.draft = {}
    assert draft_fields(answered) == {}
