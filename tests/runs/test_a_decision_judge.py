"""A judge that is a decision model, on both protocols: from the judge to scores, like any other."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command

from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, ModelReply, Project
from tests.decision_server import decision_server
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., StandInProcess]


def decider(project: Project, base_url: str, protocol: str = "decisions", name: str = "") -> Judge:
    draft = JudgeDraft(
        name=name or protocol, kind="decision", model="decider",
        endpoint=endpoint_at(project, base_url),
        settings={"protocol": protocol, "delimited": True},
    )  # fmt: skip
    return create_judge(project, draft)[0]


def judged(judge: Judge) -> EvaluationRun:
    run = start_run(judge, list(judge.project.criteria.all()))
    work_on_run(run.pk, "worker")
    run.refresh_from_db()
    return run


def test_both_protocols_score_every_output_alike(
    small_project: Project, start_standin: Start
) -> None:
    base_url = start_standin().base_url
    protocols = ("decisions", "systemone")
    runs = [judged(decider(small_project, base_url, each)) for each in protocols]

    for run in runs:
        assert (run.state, run.items.exclude(state="done").count()) == ("done", 0)
        score = run.scores.first()
        assert score is not None
        assert sum(score.distribution.values()) == pytest.approx(1)
    first, second = (
        {(s.output_id, s.criterion_id): s.value for s in run.scores.all()} for run in runs
    )
    assert first == pytest.approx(second)
    assert all(run.prompt_tokens for run in runs)
    assert runs[0].scores.filter(coverage=None).count() == runs[0].scores.count()
    assert not runs[1].scores.filter(coverage=None).exists()


def test_it_is_made_without_a_chat_and_asked_once_for_each_item(
    small_project: Project, start_standin: Start
) -> None:
    standin = start_standin("--latency", "0.001")
    before = standin.stats["calls"]

    run = judged(decider(small_project, standin.base_url))
    items = run.items.count()

    assert standin.stats["calls"] - before == items
    again = judged(decider(small_project, standin.base_url, name="the same again"))
    assert standin.stats["calls"] - before == items
    assert again.scores.count() == items
    assert ModelReply.objects.filter(items__run=run).first().prompt_tokens > 0  # type: ignore[union-attr]


def test_an_endpoint_without_the_route_is_said(
    small_project: Project, start_standin: Start
) -> None:
    address = start_standin().base_url.removesuffix("/v1") + "/v2"

    run = judged(decider(small_project, address))

    assert not run.scores.exists()
    assert run.message or run.items.filter(state="failed").exists()


def test_a_scale_of_too_many_points_is_refused(
    small_project: Project, start_standin: Start
) -> None:
    small_project.criteria.update(scale_min=1, scale_max=100)

    with pytest.raises(ValidationError, match="at most 10 levels"):
        decider(small_project, start_standin().base_url)


def test_the_command_makes_one(small_project: Project, start_standin: Start) -> None:
    out = StringIO()

    call_command(
        "add_judge", "small", "Luna", "--kind", "decision", "--model", "gpt-6-luna",
        "--base-url", start_standin().base_url, "--set", "protocol=systemone", stdout=out,
    )  # fmt: skip

    assert "created; it is Decision model" in out.getvalue()
    judge = small_project.judges.get(name="Luna")
    assert judge.settings["protocol"] == "systemone"


def test_a_criterion_that_may_not_apply_gets_this_answer_from_a_run(
    small_project: Project,
) -> None:
    small_project.criteria.update(allows_not_applicable=True)
    criterion = small_project.criteria.first()
    assert criterion is not None
    names = [*(f"{point:g}" for point in criterion.scale.points), "n/a"]

    def answer(body: dict[str, Any]) -> list[dict[str, Any]]:
        listed = [{"value": name, "probability": float(name == "n/a")} for name in names]
        return [{"type": "choice", "probabilities": listed} for _ in body["questions"]]

    with decision_server(answer) as (base_url, _asked):
        run = judged(decider(small_project, base_url))

    assert {score.value for score in run.scores.all()} == {None}
    assert run.items.exclude(state="done").count() == 0
