"""A project in which a panel is better than its judges, and today's judge is too strict."""

from collections.abc import Callable

import numpy as np
import pytest

from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.models import Criterion, Judge, LockedDocuments, Project
from geval.standin.planted import as_csv

DOCUMENTS, SYSTEMS = 60, 5
JUDGES = {"today": 1.2, "second": 1.2, "third": 1.2, "noise": 30.0}


@pytest.fixture
def rated_project(project: Project, load: Callable[..., LoadResult]) -> Project:
    """60 documents, five systems, three raters, and four judges' scores on one criterion."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(DOCUMENTS, SYSTEMS))
    places = [(d, s) for d in range(DOCUMENTS) for s in range(SYSTEMS)]
    outputs = [(f"d{d}", f"s{s}", f"Text {d}.", f"Output {d} of {s}.") for d, s in places]
    ratings = [
        (f"d{d}", f"s{s}", "quality", rater, round(min(5, max(1, value))))
        for rater in ("ann", "bob", "cat")
        for (d, s) in places
        for value in [3 + quality[d, s] + rng.normal(0, 0.4)]
    ]
    scores = [
        (f"d{d}", f"s{s}", "quality", judge, round(2 + quality[d, s] + rng.normal(0, noise), 3))
        for judge, noise in JUDGES.items()
        for (d, s) in places
    ]
    load(
        project,
        {
            "outputs.csv": as_csv("doc_id,system_id,source,output", outputs),
            "ratings.csv": as_csv("doc_id,system_id,criterion,annotator,score", ratings),
            "scores.csv": as_csv("doc_id,system_id,criterion,judge,score", scores),
        },
    )
    return project


@pytest.fixture
def judge(rated_project: Project) -> Judge:
    return rated_project.judges.get(name="today")


@pytest.fixture
def criterion(rated_project: Project) -> Criterion:
    return rated_project.criteria.get()


@pytest.fixture
def locked(rated_project: Project) -> LockedDocuments:
    return lock_documents(rated_project, seed="fixed", looks=2)
