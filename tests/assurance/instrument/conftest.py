"""A project of 30 documents, and what workers do for its studies."""

from collections.abc import Callable

import pytest

from assurance.instrument.asking import record_ended_parts, start_due_parts
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, EvaluationRun, Judge, Project, Study
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


def freeze(study: Study) -> Study:
    """Ask as often as a watch freezes."""
    work(study.replies)
    study.refresh_from_db()
    return study


def ask_now(study: Study) -> Study:
    """The hour of a watch has come."""
    Study.objects.filter(pk=study.pk).update(next_at=study.made_at)
    work()
    study.refresh_from_db()
    return study
