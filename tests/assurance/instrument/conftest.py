"""A project of 30 documents, and what workers do for its studies."""

from collections.abc import Callable

import pytest

from assurance.instrument.asking import record_ended_parts, start_due_parts
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, EvaluationRun, Judge, Project
from geval.standin.planted import VAGUE, planted_files


@pytest.fixture
def asked_project(project: Project, load: Callable[..., LoadResult]) -> Project:
    load(project, dict(planted_files(1, documents=30, systems=2)))
    project.criteria.update(definition=VAGUE)
    return project


@pytest.fixture
def judge(asked_project: Project, make_judge: Callable[..., Judge]) -> Judge:
    return make_judge(asked_project, use_steps=False)


@pytest.fixture
def criterion(asked_project: Project) -> Criterion:
    return asked_project.criteria.get()


def go_on() -> None:
    """What workers do for studies, again and again."""
    record_ended_parts()
    start_due_parts()


def work(rounds: int = 1) -> None:
    """What a worker does for studies and their runs, so many times."""
    for _ in range(rounds):
        go_on()
        for run in EvaluationRun.objects.active():
            work_on_run(run.pk, "tester")
    go_on()
