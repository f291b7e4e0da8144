"""“Not applicable” is an answer of annotators where a criterion allows it: it counts as answered,
and is near itself alone."""

from collections.abc import Callable

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.answering.answers import Question, Shape, fields_of, read_answer
from annotations.answering.counting import count_again
from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import Assignment, Campaign, Rating, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.campaigns import open_campaign, seat_annotators
from annotations.results.adjudication import decide, disputed_items, disputed_questions
from annotations.results.rounds import retest
from evaluations.models import CandidateOutput, Membership, Project, Role
from evaluations.models.improving import shown_means
from evaluations.reports.ratings.human_scores import human_scores
from geval.files.answers.checks import is_as_expected
from geval.statistics.scales import Scale

FIVE = Scale(1, 5, allows_not_applicable=True)
LONG = Scale(0, 100, allows_not_applicable=True)


@pytest.mark.parametrize(
    ("scale", "fields", "score"),
    [
        (FIVE, {"score-3": "n/a"}, None),
        (FIVE, {"score-3": "4"}, 4.0),
        (LONG, {"score-3": "", "na-3": "1"}, None),
        (LONG, {"score-3": "85"}, 85.0),
        (LONG, {"score-3": "n/a", "na-3": "1"}, None),
    ],
)
def test_a_form_is_read_and_filled_again(
    scale: Scale, fields: dict[str, str], score: float | None
) -> None:
    shape = Shape("rating", (Question(3, "polite", scale),), (7,))

    answer = read_answer(shape, fields)

    assert answer["scores"] == {"3": score}
    assert read_answer(shape, fields_of(answer)) == answer


@pytest.mark.parametrize(
    ("scale", "fields"),
    [
        (Scale(1, 5), {"score-3": "n/a"}),
        (Scale(1, 5), {"na-3": "1"}),
        (LONG, {"score-3": "85", "na-3": "1"}),
        (LONG, {"score-3": "", "na-3": ""}),
    ],
)
def test_what_is_no_answer_is_refused(scale: Scale, fields: dict[str, str]) -> None:
    with pytest.raises(AnnotationError):
        read_answer(Shape("rating", (Question(3, "polite", scale),), (7,)), fields)


@pytest.mark.parametrize(
    ("score", "expected", "passes"),
    [(None, None, True), (None, 3.0, False), (3.0, None, False), (3.0, 4.0, True), (3, 5, False)],
)
def test_a_check_on_it_is_passed_by_it_alone(
    score: float | None, expected: float | None, *, passes: bool
) -> None:
    answer, wanted = {"scores": {"3": score}}, {"scores": {"3": expected}}

    assert is_as_expected(answer, wanted, (7,), tolerance=1) == passes


@pytest.fixture
def seats(small_project: Project, make_user: Callable[..., User]) -> list[Seat]:
    """Two annotators of a campaign on one criterion that allows it."""
    criterion = small_project.criteria.get(name="fluency")
    criterion.allows_not_applicable = True
    criterion.save()
    users = [make_user(name) for name in ("nan", "ned")]
    for user in users:
        Membership.objects.create(project=small_project, user=user, role=Role.ANNOTATOR)
    campaign = Campaign.objects.create(
        project=small_project, name="round", kind="rating", overlap=2, adjudicate_beyond=4
    )
    campaign.criteria.set([criterion])
    seat_annotators(campaign, users)
    open_campaign(campaign)
    seats = campaign.seats.select_related("annotator__user", "campaign__project")
    return list(seats.order_by("pk"))


def answer_first(seat: Seat, score: str) -> Assignment:
    """Answer the item of the first document."""
    rows = Assignment.objects.filter(pk__in=queue_of(seat)).select_related("item", "campaign")
    row = min(rows, key=lambda row: row.shown)
    fields = {f"score-{row.campaign.criteria.get().pk}": score}
    submit(seat, row.pk, fields, user=seat.annotator.user, version=row.version, seconds=1)
    row.refresh_from_db()
    return row


@pytest.mark.django_db
def test_an_answer_is_a_rating_without_a_score_and_in_no_mean(seats: list[Seat]) -> None:
    Rating.objects.all().delete()
    row = answer_first(seats[0], "n/a")
    criterion = row.campaign.criteria.get()
    output = CandidateOutput.objects.filter(pk=row.shown[0])
    (rating,) = Rating.objects.filter(output=row.shown[0])
    assert (rating.score, str(rating), row.state) == (None, "n/a", "submitted")
    assert shown_means(output, row.campaign.project_id) == {}

    count_again(seats[0].annotator_id, row.shown, project=row.campaign.project_id)
    answer_first(seats[1], "4")

    assert shown_means(output, row.campaign.project_id) == {(row.shown[0], criterion.pk): 4.0}
    assert retest(seats[0].annotator) is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scores", "differ"), [(("n/a", "4"), True), (("n/a", "n/a"), False), (("1", "5"), False)]
)
def test_it_differs_from_every_number(
    seats: list[Seat], scores: tuple[str, str], *, differ: bool, make_user: Callable[..., User]
) -> None:
    rows = [answer_first(seat, score) for seat, score in zip(seats, scores, strict=True)]
    campaign, item = seats[0].campaign, rows[0].item

    disputed = disputed_items(campaign)

    assert [each.has_no_distance for each in disputed] == [True] * differ
    criterion = campaign.criteria.get()
    assert disputed_questions(item) == (frozenset([criterion.pk]) if differ else frozenset())
    decision = decide(item, {f"score-{criterion.pk}": "n/a"}, user=make_user("olga"), note="")
    assert decision.answer["scores"] == {str(criterion.pk): None}
    shown = np.array([rows[0].shown[0]])
    by_round = human_scores(campaign.project_id, [criterion.pk], outputs=shown,
                            round_id=campaign.pk)[criterion.pk]  # fmt: skip
    said = 0 if by_round.not_applicable is None else by_round.not_applicable[0]
    assert (said, by_round.ratings.count[0]) == (scores.count("n/a"), 2 - scores.count("n/a"))
    assert np.isnan(by_round.adjudicated().values).all()
