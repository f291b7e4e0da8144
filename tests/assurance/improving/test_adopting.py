"""A change becomes a judge: its formula, its versions, and its scores."""

import json

import numpy as np
import pytest

from assurance.improving.adopting import adopt
from assurance.improving.search_data import ground_of
from assurance.improving.work import request_search, work_on_search
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import RunState, Score
from geval.evaluators.base import Corpus, Item, SettingsError
from geval.evaluators.formula import CriterionFormula, Formula
from geval.improving.proving import values_of
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptError, PromptParts
from geval.statistics.scales import Scale

ONE = {"members": [{"judge": "J", "criterion": "a", "weight": 2.0}], "intercept": 1.0}


def formula(**criteria):
    return Formula({"formula": json.dumps(criteria)})


def scored(evaluator, scores, criterion="a"):
    evaluator.look(Corpus(scores=scores))
    (outcome,) = evaluator.score(
        [Item(Texts(source="", output="x"), criterion=criterion, output_id=7)]
    )
    return outcome


def test_a_formula_adds_weighted_scores():
    assert scored(formula(a=ONE), {("J", "a"): {7: 1.5}}).value == 4.0


def test_a_map_is_linear_between_its_points_and_constant_beyond():
    mapped = ONE | {"points": [[2.0, 1.0], [4.0, 5.0]]}
    values = [
        scored(formula(a=mapped), {("J", "a"): {7: one}}).value for one in (0.0, 1.0, 1.25, 9.0)
    ]
    assert values == [1.0, 3.0, 4.0, 5.0]


def test_scores_that_count_for_every_criterion_count():
    assert scored(formula(a=ONE), {("J", ""): {7: 1.5}}).value == 4.0


@pytest.mark.parametrize("scores", [{}, {("J", "a"): {8: 1.0}}, {("J", "b"): {7: 1.0}}])
def test_an_output_without_a_members_score_fails_and_names_the_judge(scores):
    outcome = scored(formula(a=ONE), scores)
    assert isinstance(outcome, Failure)
    assert outcome.detail.startswith("J has not scored")
    assert "output on a;" in outcome.detail


def test_a_criterion_without_a_formula_is_refused_before_a_run():
    with pytest.raises(PromptError, match="no formula for b"):
        formula(a=ONE).template(PromptParts(criterion="b", scale=Scale(1, 5)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "a formula for each criterion"),
        ('{"a": {"members": []}}', "members"),
        ('{"a": {"members": [{"judge": "J", "criterion": "", "weight": "x"}]}}', "weight"),
        (
            '{"a": {"members": [{"judge": "J", "criterion": "", "weight": 1}],'
            ' "points": [[2, 1], [1, 2]]}}',
            "must rise",
        ),
    ],
)
def test_a_formula_that_cannot_be_read_says_where(text, message):
    with pytest.raises(SettingsError, match=message):
        Formula({"formula": text})


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_adopted_panel_scores_every_output_as_it_was_proven(
    rated_project, judge, criterion, locked
):
    search = request_search(judge, criterion, ["panel"])
    work_on_search(search.pk)
    candidate = search.candidates.get()
    made, run = adopt(candidate)
    work_on_run(run.pk, "t")
    run.refresh_from_db()
    assert run.state == RunState.DONE
    ground = ground_of(rated_project, judge, criterion, locked)
    expected = values_of(ground, CriterionFormula.model_validate(candidate.formula))
    stored = dict(Score.objects.filter(run=run).values_list("output", "value"))
    assert len(stored) == len(expected)
    assert np.array([stored[pk] for pk in sorted(stored)]) == pytest.approx(expected)
    assert (made.name, made.version, made.kind) == ("today improved", 1, "formula")
    candidate.refresh_from_db()
    assert candidate.adopted_as == made


@pytest.mark.django_db
def test_a_second_change_becomes_the_next_version(judge, criterion, locked):
    search = request_search(judge, criterion, ["panel", "calibration"])
    work_on_search(search.pk)
    panel, calibration = search.candidates.order_by("pk")
    first, run = adopt(panel)
    work_on_run(run.pk, "t")
    second, _run = adopt(calibration)
    assert (second.name, second.version) == (first.name, 2)
