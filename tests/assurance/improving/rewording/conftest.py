"""A project in which people weigh what the judge is not told."""

from collections.abc import Callable

import pytest

from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, Judge, LockedDocuments, Project
from geval.standin.planted import VAGUE, planted_files


@pytest.fixture
def planted(project: Project, load: Callable[..., LoadResult]) -> Project:
    load(project, dict(planted_files(1, documents=50, systems=4)))
    project.criteria.update(definition=VAGUE)
    return project


@pytest.fixture
def judge(planted: Project, make_judge: Callable[..., Judge]) -> Judge:
    judge = make_judge(planted, use_steps=False)
    run = start_run(judge, list(planted.criteria.all()))
    work_on_run(run.pk, "tester")
    return judge


@pytest.fixture
def criterion(planted: Project) -> Criterion:
    return planted.criteria.get()


@pytest.fixture
def locked(planted: Project) -> LockedDocuments:
    return lock_documents(planted, seed="fixed", looks=2)
