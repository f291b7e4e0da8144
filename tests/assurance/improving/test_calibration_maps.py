"""A calibration map is proven only if it comes nearer to people than the best constant, and is not
sold as a better judge: it ranks as before."""

import numpy as np
import pytest
from django.core.management import call_command
from scipy import stats

from assurance.improving.looking import look
from assurance.improving.search_data import ground_of
from assurance.improving.work import request_search, work_on_search
from evaluations.models import Candidate, Criterion, Judge, LockedDocuments, Look, Project
from geval.evaluators.formula import CriterionFormula
from geval.improving.proving import values_of
from geval.improving.words import outcome_in_words
from geval.statistics.calibration import nearest_to_all

pytestmark = pytest.mark.django_db


def mapped(judge: Judge, criterion: Criterion) -> Candidate:
    search = request_search(judge, criterion, ["calibration"])
    work_on_search(search.pk)
    return search.candidates.get()


@pytest.fixture
def noise(rated_project: Project) -> Judge:
    """Its scores say nothing, and vary thirty points around the scale's middle."""
    return rated_project.judges.get(name="noise")


@pytest.fixture
def proven(judge: Judge, criterion: Criterion, locked: LockedDocuments) -> Look:
    """The look at the map of a judge that knows something, and is a point too strict."""
    taken = look(mapped(judge, criterion))
    assert taken is not None
    return taken


def test_a_map_of_pure_noise_is_not_proven_though_it_comes_nearer_to_people(
    noise: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    candidate = mapped(noise, criterion)
    taken = look(candidate)

    assert taken is not None
    assert taken.low is not None
    assert taken.low > 5
    assert taken.outcome == "not proven"
    assert taken.constant["gain"] < 0.05
    assert "it is not shown to beat" in outcome_in_words(taken)
    assert not candidate.is_better_on_training


def test_the_command_spends_no_look_at_a_map_of_noise_and_installs_none(
    noise: Judge,
    locked: LockedDocuments,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("improve", "small", "--judge", "noise", "--change", "calibration", "--use")

    assert not Look.objects.exists()
    assert not Judge.objects.filter(kind="formula").exists()
    assert "(always the same score: " in capsys.readouterr().err


def test_the_best_constant_is_learned_from_training_documents_alone(
    proven: Look, judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    ground = ground_of(judge.project, judge, criterion, locked)
    is_locked = np.isin(ground.outputs.document, ground.locked)
    constant = nearest_to_all(ground.human[~is_locked])

    assert proven.constant["value"] == constant
    assert proven.constant["distance"] == pytest.approx(
        np.abs(ground.human[is_locked] - constant).mean()
    )
    assert proven.constant["gain"] == pytest.approx(proven.constant["distance"] - proven.value)


def test_a_map_ranks_exactly_as_the_scores_do(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    ground = ground_of(judge.project, judge, criterion, locked)
    formula = CriterionFormula.model_validate(mapped(judge, criterion).formula)

    values = values_of(ground, formula)

    np.testing.assert_array_equal(
        stats.rankdata(np.round(values, 10)), stats.rankdata(ground.today)
    )
