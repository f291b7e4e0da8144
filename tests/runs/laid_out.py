"""A run with its items, at which no worker is."""

from collections.abc import Callable

import pytest

from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, Judge, Project


@pytest.fixture
def run(small_project: Project, make_judge: Callable[..., Judge]) -> EvaluationRun:
    """6 outputs on 2 criteria."""
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    started = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(started.pk)
    started.refresh_from_db()
    return started
