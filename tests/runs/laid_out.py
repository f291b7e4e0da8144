"""Runs at which no worker is, and what is done with their items."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import CandidateOutput, Document, EvaluationRun, Judge, Project
from geval.llm.scoring import Scored

# What a judge with one call in flight claims twice.
FIRST_PART = 40
OUTPUTS = 30


@pytest.fixture
def run(small_project: Project, make_judge: Callable[..., Judge]) -> EvaluationRun:
    """6 outputs on 2 criteria."""
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    started = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(started.pk)
    started.refresh_from_db()
    return started


@pytest.fixture
def large(small_project: Project) -> Project:
    """36 outputs, on two criteria: 72 items."""
    system = small_project.systems.first()
    for number in range(OUTPUTS):
        document = Document.objects.create(
            project=small_project, doc_id=f"more{number}", source=f"Source {number}."
        )
        CandidateOutput.objects.create(document=document, system=system, text=f"Text {number}.")
    return small_project


@pytest.fixture
def start(large: Project, make_judge: Callable[..., Judge]) -> Callable[..., EvaluationRun]:
    """A run that nobody has laid out."""

    def start(base_url: str = "http://127.0.0.1:1/v1", **request: Any) -> EvaluationRun:
        judge = make_judge(large, base_url=base_url, use_steps=False, concurrency=1)
        return start_run(judge, list(large.criteria.all()), RunRequest(**request))

    return start


def judge_all_that_are_free(run: EvaluationRun) -> None:
    items = leases.claim(run.pk, "t", most=1000)
    outcome = Scored(4.0, {4.0: 1.0}, 0.9)
    results.store(run, [results.FinishedItem(item, "", outcome) for item in items], "t")


def rows_of(run: EvaluationRun) -> list[tuple[int, int]]:
    """Its items in their order."""
    return list(run.items.order_by("pk").values_list("criterion_id", "output_id"))
