"""People's ratings as reports read them: which are kept of some outputs and annotators, what each
output's mean is then, and which were made with LLM scores in sight."""

from dataclasses import replace

import numpy as np
import pytest

from annotations.models import Annotator, Rating
from evaluations.models import CandidateOutput, Project
from evaluations.reports.ratings.human_scores import human_scores
from geval.reports.human_scores import HumanScores
from geval.statistics.arrays import Ratings
from geval.statistics.types import Consensus

# By rater and output.
TABLE = np.array([[1.0, np.nan, 3.0, np.nan], [2.0, 4.0, np.nan, np.nan]])
NAN = float("nan")


def made(mean: list[float], top: list[bool] | None = None) -> HumanScores:
    """Two raters, ada and ben, of four outputs."""
    ratings, chosen = Ratings.of_table(TABLE), None if top is None else np.array(top)
    return HumanScores(("ada", "ben"), ratings, np.array(mean), 2, (7, 9), top=chosen)


@pytest.mark.parametrize(("annotator", "name", "row"), [(7, "ada", 0), (9, "ben", 1)])
def test_of_one_annotator_only_the_own_ratings_and_their_means_are_left(
    annotator: int, name: str, row: int
) -> None:
    part = made([1.5, 4.0, 3.0, 2.5]).among(np.array([True] * 3 + [False]), frozenset({annotator}))

    assert (part.annotators, part.annotator_ids, part.in_sight) == ((name,), (annotator,), 2)
    assert part.mean == pytest.approx(TABLE[row, :3], nan_ok=True)
    assert len(part.ratings) == 2


def test_of_all_annotators_a_mean_that_a_release_states_stays() -> None:
    part = made([1.5, 4.0, 3.0, 2.5]).among(np.array([True, False, False, True]), frozenset())

    assert part.annotators == ("ada", "ben")
    assert list(part.mean) == [1.5, 2.5]


def test_an_output_without_a_mean_gets_none_by_annotators_only_if_chosen_without_a_design() -> None:
    """Outputs that are chosen and have a mean have one of those annotators, too."""
    whole = made([1.5, NAN, NAN, 2.5], top=[True, True, False, False])

    part = whole.among(np.ones(4, dtype=bool), frozenset({7, 9}))

    assert part.mean == pytest.approx([1.5, NAN, 3.0, NAN], nan_ok=True)
    assert part.top is not None
    assert list(part.top) == [True, True, False, False]


@pytest.mark.parametrize(
    ("mean", "top", "expected"),
    [
        ([1.5, 4.0, 3.0, NAN], None, False),
        ([1.5, 4.0, 3.0, NAN], [False] * 4, False),
        ([1.5, 4.0, 3.0, NAN], [False, False, False, True], False),
        ([1.5, 4.0, 3.0, NAN], [True, False, False, True], True),
    ],
)
def test_picked_outputs_count_where_they_have_a_mean(
    mean: list[float], top: list[bool] | None, expected: bool
) -> None:
    assert made(mean, top).counts_picked is expected


@pytest.mark.parametrize(("weight", "expected"), [(None, False), (0.0, False), (2.0, True)])
def test_outputs_are_weighted_where_one_has_a_weight(weight: float | None, expected: bool) -> None:
    weights = None if weight is None else np.array([0.0, weight, 0.0, 0.0])

    assert replace(made([1.5, 4.0, 3.0, NAN]), weight=weights).is_weighted is expected


def test_rated_outputs_without_the_chosen_score_are_counted() -> None:
    whole = made([1.5, 4.0, 3.0, NAN])

    scored = whole.scored(Consensus(np.array([2.0, NAN, NAN, 5.0]), "few"))

    assert (whole.unscored, scored.unscored, scored.reason) == (0, 2, "few")
    assert scored.mean == pytest.approx([2.0, NAN, NAN, NAN], nan_ok=True)


@pytest.mark.django_db
def test_ratings_of_some_outputs_are_laid_out_by_output_and_annotator(
    small_project: Project,
) -> None:
    """Of a criterion that nobody rated there are none."""
    rated, unrated = small_project.criteria.all()[:2]
    Rating.objects.filter(criterion=unrated).delete()
    outputs = list(CandidateOutput.objects.of_project(small_project).order_by("-pk"))
    dropped = outputs.pop(1)
    in_sight = Rating.objects.filter(criterion=rated, output__in=[outputs[0], outputs[2], dropped])
    in_sight.update(scores_in_sight=True)
    people = list(Annotator.objects.filter(project=small_project).order_by("pk"))
    assert len(people) > 1

    ids = np.array([output.pk for output in outputs])
    scores = human_scores(small_project.pk, [rated.pk, unrated.pk], outputs=ids)

    human = scores[rated.pk]
    given = {(r.output_id, r.annotator_id): r.score for r in Rating.objects.filter(criterion=rated)}
    expected = [
        (place, rater, given[output.pk, annotator.pk])
        for place, output in enumerate(outputs)
        for rater, annotator in enumerate(people)
        if (output.pk, annotator.pk) in given
    ]
    ratings = human.ratings
    rows = zip(ratings.output, ratings.rater, ratings.value, strict=True)
    assert [(int(at), int(rater), float(value)) for at, rater, value in rows] == expected
    assert human.in_sight == in_sight.exclude(output=dropped).count() > 0
    assert human.unscored == 0
    assert scores[unrated.pk].annotators == ()
    assert scores[unrated.pk].in_sight == 0
    assert np.isnan(scores[unrated.pk].mean).all()
