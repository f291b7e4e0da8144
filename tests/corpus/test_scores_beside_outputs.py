"""Scores that stand in the record of an output are loaded with it, whatever the format around
them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from annotations.models import Rating
from evaluations.models import Project, Score

pytestmark = pytest.mark.django_db


def test_jsonl_with_our_columns_and_a_releases_scores_loses_none(
    project: Project, load: Callable[..., Any]
) -> None:
    record = {
        "doc_id": "d1", "system_id": "a", "source": "A text.", "output": "Short.",
        "scores": {"coherence": 4.5, "fluency": 3}, "predict_scores": {"coherence": 4},
    }  # fmt: skip

    result = load(project, {"o.jsonl": json.dumps(record)}, judge="UniEval")

    assert (result.outputs.created, result.ratings.created, result.scores.created) == (1, 2, 1)
    assert set(Rating.objects.values_list("criterion__name", "score")) == {
        ("coherence", 4.5),
        ("fluency", 3.0),
    }
    assert Score.objects.get().run.judge.name == "UniEval"


def test_a_score_that_is_no_number_is_an_error_at_its_place(
    project: Project, load: Callable[..., Any]
) -> None:
    from geval.files.rows import LoadError

    record = {
        "doc_id": "d1", "system_id": "a", "source": "A text.", "output": "Short.",
        "scores": {"coherence": "good"},
    }  # fmt: skip

    with pytest.raises(LoadError) as caught:
        load(project, {"o.jsonl": json.dumps(record)})

    assert [error.column for error in caught.value.errors] == ["scores.coherence"]
