"""A project whose judge errs less the farther its score is from the middle."""

import random
from collections.abc import Callable

import pytest

from evaluations.models import Criterion, Judge, Project
from geval.standin.planted import as_csv

Load = Callable[..., object]
DOCUMENTS = 300


def files(
    documents: range, *, errs: float = 0.0, seed: int = 1, rated: bool = True, second: bool = False
) -> dict[str, str]:
    """Outputs of two systems with a label by an expert and a score each; the judge errs in `errs`
    of cases however sure it is. A `second` judge scores in a file of its own, and seldom errs."""
    rng = random.Random(seed)
    outputs, ratings, scores, others = [], [], [], []
    for number in documents:
        for system in ("a", "b"):
            passes, sure = rng.random() < 0.7, rng.random()
            judged = passes != (rng.random() < max(errs, 0.2 * (1 - sure) ** 2))
            score = round(0.5 + sure / 2 if judged else 0.5 - sure / 2, 4)
            name = (f"d{number}", system)
            language = ("en", "de")[number % 2]
            outputs.append((*name, f"Source {number}.", f"Text {number} by {system}.", language))
            ratings.append((*name, "right", "expert", int(passes)))
            scores.append((*name, "right", "judge", score))
            other = random.Random(f"{seed} {name}").random() / 2
            others.append((*name, "right", "other", round(0.5 + (other if passes else -other), 4)))
    given = {
        "outputs.csv": as_csv("doc_id,system_id,source,output,metadata.language", outputs),
        "scores.csv": as_csv("doc_id,system_id,criterion,judge,score", scores),
    }
    if second:
        given["others.csv"] = as_csv("doc_id,system_id,criterion,judge,score", others)
    if rated:
        given["ratings.csv"] = as_csv("doc_id,system_id,criterion,annotator,score", ratings)
    return given


@pytest.fixture
def labelled(project: Project, load: Load) -> Project:
    load(project, files(range(DOCUMENTS)))
    return project


@pytest.fixture
def judge(labelled: Project) -> Judge:
    return labelled.judges.get()


@pytest.fixture
def criterion(labelled: Project) -> Criterion:
    return labelled.criteria.get()
