"""An owner rejects an answer, counts it again, hands an item out again, or excludes a person: what
is rejected counts nowhere and stays in the record."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotations.answering.submission import submit
from annotations.answering.task_page import returned_to
from annotations.errors import AnnotationError
from annotations.models import (
    AnswerChange,
    Assignment,
    Campaign,
    Exclusion,
    Preference,
    Rating,
    Review,
    Seat,
    Span,
)
from annotations.planning.assignment import queue_of, skip
from annotations.planning.campaigns import close_campaign, seat_annotators
from annotations.results.progress import campaign_progress, read_anew
from annotations.results.reviewing import (
    ask_back,
    exclude,
    hand_out_again,
    hand_out_skipped,
    lift,
    reject,
    restore,
    review,
)
from annotations.results.rounds import retest
from evaluations.models import CandidateOutput, Project
from evaluations.reports.data import load_data

pytestmark = pytest.mark.django_db


def own_ratings() -> QuerySet[Rating]:
    """Of the first annotator, as others are in the project's file."""
    return Rating.objects.filter(annotator__user__username="ann1")


@pytest.fixture
def owner(make_user: Callable[..., User]) -> User:
    return make_user("olga")


@pytest.fixture
def answered(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> Callable[..., Assignment]:  # fmt: skip
    """The first annotator's first answer in a new campaign; `fields` as they are sent."""

    def make(
        fields: dict[str, str] | None = None, *, score: str = "3", user: int = 0, **design: object
    ) -> Assignment:
        campaign = make_campaign(**design)
        seat = seat_of(campaign, annotators[user])
        first = queue_of(seat)[0]
        given = fields or ratings_for(campaign, score, comment="too long")
        submit(seat, first, given, user=annotators[user], version=0, seconds=4)
        return Assignment.objects.select_related("campaign", "item").get(pk=first)

    return make


def test_a_rejected_answer_counts_nowhere_and_stays_in_the_record(
    answered: Callable[..., Assignment], owner: User, small_project: Project
) -> None:
    first = answered()
    places = first.item.places

    reject(first.pk, user=owner, reason="The comment says: guessed.")

    first.refresh_from_db()
    assert first.state == "rejected"
    assert first.answer["comment"] == "too long"
    assert not own_ratings().exists()
    assert campaign_progress(first.campaign).submitted == 0
    data = load_data(small_project, [], list(small_project.criteria.all()))
    assert all("ann1" not in human.annotators for human in data.humans.values())
    first.item.refresh_from_db()
    assert first.item.places == places + 1
    review = Review.objects.get()
    assert (review.by_name, review.reason) == ("olga", "The comment says: guessed.")
    assert review.answer == first.answer


def test_an_annotator_cannot_change_a_rejected_answer(
    answered: Callable[..., Assignment], owner: User, annotators: list[User],
    seat_of: Callable[..., Seat], ratings_for: Callable[..., dict[str, str]],
) -> None:  # fmt: skip
    first = answered()
    reject(first.pk, user=owner, reason="Guessed.")
    seat = seat_of(first.campaign, annotators[0])

    with pytest.raises(AnnotationError, match="rejected this answer"):
        submit(seat, first.pk, ratings_for(first.campaign, "1"), user=annotators[0], version=1,
               seconds=1)  # fmt: skip
    with pytest.raises(AnnotationError, match="already submitted"):
        skip(seat, first.pk, "no")


def test_a_rejected_answer_can_count_again(
    answered: Callable[..., Assignment], owner: User
) -> None:
    first = answered()
    before = list(own_ratings().order_by("criterion").values_list("criterion", "score", "comment"))
    reject(first.pk, user=owner, reason="Guessed.")

    restore(first.pk, user=owner)

    after = own_ratings().order_by("criterion").values_list("criterion", "score", "comment")
    assert list(after) == before
    assert [review.action for review in Review.objects.all()] == ["rejected", "counted"]


def test_an_item_that_is_handed_out_again_goes_to_the_same_person_too(
    answered: Callable[..., Assignment], owner: User, annotators: list[User],
    seat_of: Callable[..., Seat], ratings_for: Callable[..., dict[str, str]],
) -> None:  # fmt: skip
    first = answered(overlap=3)
    reject(first.pk, user=owner, reason="Guessed.")

    hand_out_again(first.pk, user=owner)

    seat = seat_of(first.campaign, annotators[0])
    for pk in queue_of(seat):
        skip(seat, pk, "later")
    while first.pk not in (waiting := queue_of(seat)):
        for pk in waiting:
            skip(seat, pk, "later")
    submit(
        seat, first.pk, ratings_for(first.campaign, "1"), user=annotators[0], version=1, seconds=1
    )
    assert set(own_ratings().values_list("score", flat=True)) == {1.0}
    assert Review.objects.filter(action="rejected").get().answer["comment"] == "too long"


def test_what_everybody_skipped_can_be_handed_out_again(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    owner: User,
) -> None:  # fmt: skip
    campaign = make_campaign(overlap=3)
    for user in annotators:
        seat = seat_of(campaign, user)
        while waiting := queue_of(seat):
            for pk in waiting:
                skip(seat, pk, "broken")

    assert hand_out_skipped(campaign, user=owner) == 18

    assert queue_of(seat_of(campaign, annotators[0]))
    assert set(Review.objects.values_list("skip_reason", flat=True)) == {"broken"}


def test_rejecting_the_newer_of_two_rounds_lets_the_older_count(
    answered: Callable[..., Assignment], owner: User
) -> None:
    older, newer = answered(score="2"), answered(score="5")
    same = {"output": older.shown[0]}
    if newer.shown != older.shown:
        Assignment.objects.filter(pk=newer.pk).update(shown=older.shown)
        newer.refresh_from_db()
        restore_round(newer, owner)
    assert set(own_ratings().filter(**same).values_list("score", flat=True)) == {5.0}

    reject(newer.pk, user=owner, reason="Guessed.")

    assert set(own_ratings().filter(**same).values_list("score", flat=True)) == {2.0}


def restore_round(assignment: Assignment, owner: User) -> None:
    reject(assignment.pk, user=owner, reason="moved")
    restore(assignment.pk, user=owner)


def test_preferences_and_spans_go_and_come_back_with_their_answer(
    answered: Callable[..., Assignment], owner: User, small_project: Project
) -> None:
    pair = answered({"choice-0": "1"}, kind="pairwise")
    marks = json.dumps([{"start": 0, "end": 2, "category": "Style"}])
    scores = {f"score-{pk}": "3" for pk in small_project.criteria.values_list("pk", flat=True)}
    marked = answered(scores | {"spans": marks}, span_categories=["Style"])
    counts = (Preference.objects.count(), Span.objects.count())
    assert min(counts) >= 1

    for assignment in (pair, marked):
        reject(assignment.pk, user=owner, reason="Guessed.")
    assert (Preference.objects.count(), Span.objects.count()) == (0, 0)

    for assignment in (pair, marked):
        restore(assignment.pk, user=owner)
    assert (Preference.objects.count(), Span.objects.count()) == counts


def test_an_excluded_person_counts_nowhere_until_the_exclusion_is_lifted(
    answered: Callable[..., Assignment], owner: User, annotators: list[User]
) -> None:
    first = answered()
    person, campaign = first.annotator, first.campaign

    exclude(person, user=owner, reason="Answers at random.")

    assert not own_ratings().exists()
    assert campaign.seats.get(annotator=person).removed_at is not None
    seat_annotators(campaign, annotators)
    assert campaign.seats.get(annotator=person).removed_at is not None
    with pytest.raises(AnnotationError, match="excluded already"):
        exclude(person, user=owner, reason="Again.")

    lift(person, user=owner)

    assert own_ratings().exists()
    assert campaign.seats.get(annotator=person).removed_at is None
    exclusion = Exclusion.objects.get()
    assert (exclusion.reason, exclusion.by_name, exclusion.lifted_by_name) == (
        "Answers at random.", "olga", "olga",
    )  # fmt: skip


def test_lifting_an_exclusion_leaves_what_was_rejected_before(
    answered: Callable[..., Assignment], owner: User
) -> None:
    first = answered()
    reject(first.pk, user=owner, reason="Guessed.")
    exclude(first.annotator, user=owner, reason="Answers at random.")

    lift(first.annotator, user=owner)

    first.refresh_from_db()
    assert first.state == "rejected"


def test_a_change_of_an_older_round_does_not_replace_the_newer_answer(
    answered: Callable[..., Assignment], annotators: list[User], seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]], small_project: Project,
) -> None:  # fmt: skip
    older, newer = answered(score="2"), answered(score="5")
    Assignment.objects.filter(pk=newer.pk).update(shown=older.shown)
    seat = seat_of(older.campaign, annotators[0])

    submit(
        seat, older.pk, ratings_for(older.campaign, "1"), user=annotators[0], version=1, seconds=1
    )

    outputs = CandidateOutput.objects.filter(pk=older.shown[0])
    assert set(own_ratings().filter(output__in=outputs).values_list("score", flat=True)) == {5.0}
    older.refresh_from_db()
    assert set(older.answer["scores"].values()) == {1.0}


def test_both_rounds_stay_and_say_how_far_a_person_repeats_answers(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:  # fmt: skip
    for points in ("2345", "2344"):
        seat = seat_of(make_campaign(order="random"), annotators[0])
        rows = Assignment.objects.filter(pk__in=queue_of(seat)).order_by("shown")
        for row, point in zip(rows[:4], points, strict=True):
            fields = ratings_for(seat.campaign, point)
            submit(seat, row.pk, fields, user=annotators[0], version=0, seconds=1)
    person = seat.annotator
    criteria = seat.campaign.criteria.count()

    found = retest(person)

    assert found is not None
    assert (found.answers, found.same) == (4 * criteria, 3 * criteria)
    assert found.kappa.value is not None
    assert 0.5 < found.kappa.value < 1
    kept = Assignment.objects.filter(annotator=person, state="submitted")
    assert sorted(
        {answer["scores"].popitem()[1] for answer in kept.values_list("answer", flat=True)}
    ) == [2, 3, 4, 5]
    assert own_ratings().count() == 4 * criteria


@pytest.mark.parametrize(
    ("before", "action", "reason", "state"),
    [
        ([], "accepted", "", "submitted"),
        ([], "returned", "Read the last line.", "submitted"),
        (["rejected"], "counted", "", "submitted"),
        (["rejected"], "handed out", "", "expired"),
        (["returned"], "accepted", "", "submitted"),
        (["returned"], "rejected", "x", "rejected"),
    ],
)
def test_steps_of_a_review(
    answered: Callable[..., Assignment], owner: User, before: list[str], action: str, reason: str,
    state: str,
) -> None:  # fmt: skip
    first = answered()
    for step in before:
        review(first.pk, step, user=owner, reason="Before.")

    review(first.pk, action, user=owner, reason=reason)

    first.refresh_from_db()
    assert (first.state, first.reviews.order_by("-pk")[0].action) == (state, action)


@pytest.mark.parametrize(
    ("before", "action", "reason", "why"),
    [
        ([], "returned", " ", "Write a message"),
        ([], "rejected", "", "Say why"),
        ([], "counted", "", "Only a rejected answer"),
        (["rejected"], "accepted", "", "Only a submitted answer"),
        (["rejected"], "returned", "x", "Only a submitted answer"),
        (["rejected"], "fixed", "x", "Only a submitted answer"),
        ([], "asked", "x", "Accept, fix"),
        ([], "corrected", "x", "Accept, fix"),
    ],
)
def test_steps_of_a_review_that_are_refused(
    answered: Callable[..., Assignment], owner: User, before: list[str], action: str, reason: str,
    why: str,
) -> None:  # fmt: skip
    first = answered()
    for step in before:
        review(first.pk, step, user=owner, reason="Before.")

    with pytest.raises(AnnotationError, match=why):
        review(first.pk, action, user=owner, reason=reason)

    assert first.reviews.count() == len(before)


@pytest.mark.parametrize(("end", "reason"), [("close", "Reopen"), ("remove", "has ended")])
def test_an_answer_that_nobody_can_correct_is_not_returned(
    answered: Callable[..., Assignment], owner: User, end: str, reason: str
) -> None:
    first = answered()
    if end == "close":
        close_campaign(first.campaign)
    else:
        seat_annotators(first.campaign, [])

    with pytest.raises(AnnotationError, match=reason):
        review(first.pk, "returned", user=owner, reason="Read it.")


def test_a_returned_answer_is_asked_about_and_corrected(
    answered: Callable[..., Assignment], owner: User, annotators: list[User],
    seat_of: Callable[..., Seat], ratings_for: Callable[..., dict[str, str]],
) -> None:  # fmt: skip
    first = answered()
    seat = seat_of(first.campaign, annotators[0])

    def counts() -> tuple[int, int, int]:
        row = campaign_progress(first.campaign).annotators[0]
        return row.asked, row.waiting, row.returned

    with pytest.raises(AnnotationError, match="returned or rejected"):
        ask_back(seat, first.pk, "Why?")
    review(first.pk, "returned", user=owner, reason="Read the last line.")
    assert [step.reason for step in returned_to(seat)] == ["Read the last line."]
    assert counts() == (0, 0, 1)
    with pytest.raises(AnnotationError, match="question first"):
        ask_back(seat, first.pk, " ")
    ask_back(seat, first.pk, "Which line?")
    assert returned_to(seat) == []
    assert counts() == (1, 0, 0)
    review(first.pk, "returned", user=owner, reason="The third.")
    submit(seat, first.pk, ratings_for(first.campaign, "5"), user=annotators[0], version=1,
           seconds=1)  # fmt: skip
    assert counts() == (0, 1, 0)
    assert set(own_ratings().values_list("score", flat=True)) == {5}
    kept = first.reviews.last()
    assert (kept.action, kept.answer) == ("corrected", first.answer)
    review(first.pk, "accepted", user=owner)
    assert counts() == (0, 0, 0)


def test_of_a_fixed_answer_the_reviewers_counts_and_the_first_stays(
    answered: Callable[..., Assignment], owner: User, annotators: list[User],
    seat_of: Callable[..., Seat], ratings_for: Callable[..., dict[str, str]],
) -> None:  # fmt: skip
    first = answered(score="2")
    other = seat_of(first.campaign, annotators[1])
    (same,) = (pk for pk in queue_of(other)
               if Assignment.objects.get(pk=pk).item_id == first.item_id)  # fmt: skip
    submit(other, same, ratings_for(first.campaign, "2"), user=None, version=0, seconds=1)

    with pytest.raises(AnnotationError):
        review(first.pk, "fixed", user=owner, reason="x", fields={})
    review(first.pk, "fixed", user=owner, reason="It is fluent.",
           fields=ratings_for(first.campaign, "5"))  # fmt: skip

    assert set(own_ratings().values_list("score", flat=True)) == {5}
    step = first.reviews.get()
    assert (step.answer, step.reason) == (first.answer, "It is fluent.")
    assert AnswerChange.objects.get().before == first.answer
    first.refresh_from_db()
    assert first.answer["comment"] == "too long"
    # How people agree is said by their own answers.
    people = read_anew(first.campaign, []).people
    assert {of.severity.items for of in people[first.annotator_id]} == {1}
    assert all(row.alpha.value is None for row in read_anew(first.campaign, []).agreement)
    seat = seat_of(first.campaign, annotators[0])
    with pytest.raises(AnnotationError, match="reviewer has corrected"):
        submit(seat, first.pk, ratings_for(first.campaign, "1"), user=None, version=2, seconds=1)


def test_a_comparison_is_fixed_in_the_order_in_which_it_was_shown(
    answered: Callable[..., Assignment], owner: User
) -> None:
    first = answered({"choice-0": "1"}, kind="pairwise")

    review(first.pk, "fixed", user=owner, reason="", fields={"choice-0": "-1"})

    first.refresh_from_db()
    assert first.answer["choices"] == {"0": -1}
    ordered = first.shown[0] < first.shown[1]
    assert Preference.objects.get(annotator=first.annotator).value == (-1 if ordered else 1)
