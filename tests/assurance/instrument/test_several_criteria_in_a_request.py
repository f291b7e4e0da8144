"""A study asks a judge that rates several criteria in one request as its runs ask it."""

from collections.abc import Iterator
from typing import Any

import pytest

from assurance.instrument.studies import make_study
from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, Judge, Project, Study
from evaluations.reports.steadiness import steadiness
from tests.assurance.instrument.conftest import work
from tests.decision_server import decision_server

pytestmark = pytest.mark.django_db(transaction=True)
Asked = list[dict[str, Any]]


def rates_all(body: dict[str, Any]) -> Any:
    shares = [{"value": at, "label": "l", "probability": 0.2} for at in range(5)]
    rated = {"type": "score", "score": 2.0, "confidence": 0.2, "probabilities": shares}
    return [rated | {"name": question["name"]} for question in body["questions"]]


@pytest.fixture
def server() -> Iterator[tuple[str, Asked]]:
    with decision_server(rates_all) as (base_url, asked):
        yield base_url, asked


@pytest.fixture
def beside(asked_project: Project, criterion: Criterion) -> Criterion:
    """Another criterion, which shows the same texts."""
    return Criterion.objects.create(project=asked_project, name="beside", position=1)


def decider(project: Project, base_url: str) -> Judge:
    draft = JudgeDraft(
        name="J", kind="decision", model="m", endpoint=endpoint_at(project, base_url),
        settings={"together": True}, use_steps=False, price_in=1, price_out=1,
    )  # fmt: skip
    return create_judge(project, draft)[0]


def rate_both(judge: Judge) -> None:
    run = start_run(judge, list(judge.project.criteria.all()), RunRequest())
    work_on_run(run.pk, "worker")


def test_each_request_of_a_study_has_the_questions_of_a_run(
    asked_project: Project,
    criterion: Criterion,
    beside: Criterion,
    server: tuple[str, Asked],
) -> None:
    base_url, asked = server
    judge = decider(asked_project, base_url)
    rate_both(judge)
    asked.clear()
    make_study(judge, criterion, "again", items=30, replies=2)

    work(2)

    assert {len(body["questions"]) for body in asked} == {2}
    assert len(asked) == 60
    assert [(one.criterion, one.found.items) for one in steadiness(judge)] == [("usefulness", 30)]


def test_a_study_ends_where_the_prompt_of_a_criterion_beside_changes(
    asked_project: Project, criterion: Criterion, beside: Criterion, server: tuple[str, Asked]
) -> None:
    judge = decider(asked_project, server[0])
    rate_both(judge)
    study = make_study(judge, criterion, "again", items=30, replies=3)
    work()

    Criterion.objects.filter(pk=beside.pk).update(definition="Something else.")
    work(2)

    study = Study.objects.get(pk=study.pk)
    assert not study.is_on
    assert study.message.startswith("The criterion's prompt is no longer")
