"""Distributions are read with the points of the scale, or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from assurance.keeping.distributions import distributions_of
from evaluations.models import Project, Score
from evaluations.reports.data import load_data
from evaluations.reports.serving import live
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
RIGHT = {"1": 0.1, "2": 0.2, "3": 0.4, "4": 0.2, "5": 0.1}


@pytest.fixture
def scores(project: Project, load: Callable[..., object]) -> list[Score]:
    """Scores of one judge for three outputs, with a distribution each."""
    live.forget()
    outputs = [f"d{at},s,S,Text {at}\n" for at in range(3)]
    rows = [f"d{at},s,coherence,judge,3\n" for at in range(3)]
    ratings = [f"d{at},s,coherence,ann,3\n" for at in range(3)]
    load(project, files_of(outputs, ratings, rows))
    stored = list(Score.objects.order_by("output__document__doc_id"))
    for score in stored:
        score.distribution = RIGHT
        score.save(update_fields=["distribution"])
    return stored


def read(project: Project) -> dict[int, dict[float, float]]:
    judge, criterion = project.judges.get(), project.criteria.get()
    data = load_data(project, [judge], [criterion])
    distributions = distributions_of(data, criterion, judge)
    return {int(data.output_ids[at]): dict(shares) for at, shares in distributions.items()}


@pytest.mark.parametrize(
    "odd",
    [{}, {"6": 1.0}, {"1": 0.5}, {"a": 1.0}, {"1e999": 1.0}, {"1": "x"}, ["1"], {"1": None}, "1"],
)
def test_odd_distributions_count_as_missing(
    project: Project, scores: list[Score], odd: Any
) -> None:
    scores[0].distribution = odd
    scores[0].save()

    assert set(read(project)) == {score.output_id for score in scores[1:]}


def test_the_share_of_not_applicable_is_left_out(project: Project, scores: list[Score]) -> None:
    scores[0].distribution = {"n/a": 0.5, "1": 0.1, "5": 0.4}
    scores[0].save()

    shares = read(project)[scores[0].output_id]

    assert shares == pytest.approx({1: 0.2, 2: 0, 3: 0, 4: 0, 5: 0.8})
