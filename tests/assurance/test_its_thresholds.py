"""What looks, studies and words of disagreements take."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assurance.improving import looking
from assurance.instrument import studies
from assurance.instrument.studies import StudyError, make_study
from evaluations.corpus.store import LoadResult
from evaluations.models import Criterion, Judge, Project
from geval.improving.ground import ImproveError
from geval.statistics.arrays import Outputs
from tests.thresholds.three_points import pins

Refused = Callable[[int, int], bool]


@pins("FAILED_SHARE", {0.01: True, 0.02: True, 0.03: False})
def test_a_look_whose_items_failed_compares_nothing(
    monkeypatch: pytest.MonkeyPatch, value: float, expected: bool
) -> None:
    own = np.where(np.arange(100) < round(100 * value), np.nan, 3.0)
    monkeypatch.setattr(looking, "Trials", lambda *_: SimpleNamespace(known=lambda *_: own))
    monkeypatch.setattr(looking, "scoring_of", lambda *_: None)
    monkeypatch.setattr(looking, "wording_of", lambda *_: "")
    outputs = Outputs.full(50, 2)
    ground: Any = SimpleNamespace(
        outputs=outputs, locked=range(50), human=np.ones(100), today=np.ones(100),
        output_ids=np.arange(100),
    )  # fmt: skip
    run = SimpleNamespace(state=looking.RunState.DONE, pk=1)
    candidate: Any = SimpleNamespace(proposal=SimpleNamespace(texts={}), search=None, look_run=run)

    if expected:
        assert looking._judged(ground, candidate, by=None) is not None
    else:
        with pytest.raises(ImproveError, match="3 of 100 locked outputs could not be judged"):
            looking._judged(ground, candidate, by=None)


@pytest.fixture
def is_refused(
    monkeypatch: pytest.MonkeyPatch, project: Project, load: Callable[..., LoadResult]
) -> Refused:
    """Whether a study of so many outputs is refused in a project of so many."""
    monkeypatch.setattr(studies, "why_not", lambda _judge: "")

    def of(items: int, existing: int) -> bool:
        rows = "\n".join(f"d{at},s,Text {at},Output {at}" for at in range(existing))
        load(project, {"texts.csv": "doc_id,system_id,source,output\n" + rows})
        judge = Judge.objects.create(project=project, name="j", model="m")
        criterion = Criterion.objects.create(project=project, name="c")
        try:
            make_study(judge, criterion, "again", items=items)
        except StudyError:
            return True
        return False

    return of


@pytest.mark.django_db
@pins("STUDY_OUTPUTS", {19: True, 20: False, 21: False})
@pytest.mark.parametrize("of_project", [False, True])
def test_a_study_of_few_outputs_is_refused(
    is_refused: Refused, value: int, expected: bool, of_project: bool
) -> None:
    items, existing = (40, value) if of_project else (value, 50)

    assert is_refused(items, existing) is expected


@pytest.mark.django_db
@pins("STUDY_MOST_OUTPUTS", {999: False, 1_000: False, 1_001: True})
def test_a_study_of_many_outputs_is_refused(
    is_refused: Refused, value: int, expected: bool
) -> None:
    assert is_refused(value, 50) is expected
