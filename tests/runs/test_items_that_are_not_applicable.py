"""A judge's “not applicable” is stored as a score without a value, with its share; it replaces an
older number and is no failure."""

import numpy as np
import pytest

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.errands import _score_as_asked
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import EvaluationRun, ItemState, Judge, Project, Score
from evaluations.reports.data import load_data
from geval.llm.scoring import score_by_samples
from geval.statistics.scales import NO_POINT

pytestmark = pytest.mark.django_db


@pytest.fixture
def again(judged_project: Project) -> EvaluationRun:
    """A second run of the judge, in which the first item's answers are “n/a” by three of four."""
    judge = judged_project.judges.get()
    criterion = judged_project.criteria.get(name="fluency")
    criterion.allows_not_applicable = True
    criterion.save()
    run = start_run(judge, [criterion], RunRequest(fresh=True))
    lay_out_run(run.pk)
    items = sorted(leases.claim(run.pk, "t", most=100), key=lambda item: item.output_id)
    outcomes = [score_by_samples([NO_POINT, NO_POINT, NO_POINT, 4.0])]
    outcomes += [score_by_samples([NO_POINT, 3.0, 3.0, 2.0]) for _ in items[1:]]
    finished = [
        results.FinishedItem(item, "", outcome)
        for item, outcome in zip(items, outcomes, strict=True)
    ]
    results.store(run, finished, "t")
    return run


def test_it_is_a_score_without_a_value(again: EvaluationRun) -> None:
    first, second, *_ = again.scores.order_by("output")

    assert (first.value, str(first)) == (None, "n/a")
    assert first.distribution == {"4": 0.25, "n/a": 0.75}
    assert second.value == pytest.approx(8 / 3)
    assert second.distribution == pytest.approx({"2": 0.25, "3": 0.5, "n/a": 0.25})
    assert set(again.items.values_list("state", flat=True)) == {ItemState.DONE}
    assert _score_as_asked(first) == "n/a"


def test_it_replaces_an_older_number(again: EvaluationRun) -> None:
    criterion = again.project.criteria.get(name="fluency")
    judge: Judge = again.judge
    output = again.scores.get(value=None).output_id
    assert Score.objects.filter(output=output, criterion=criterion).count() == 2

    data = load_data(again.project, [judge], [criterion])

    at = data.output_ids.tolist().index(output)
    assert np.isnan(data.judges[criterion.pk, judge.pk][at])
    assert np.flatnonzero(data.not_applicable[criterion.pk, judge.pk]).tolist() == [at]
