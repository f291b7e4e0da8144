"""Judges whose replies are JSON by a schema: offered where the probe finds that it is followed,
with the scores that text gives; where it is not followed every item fails with that reason."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import (
    EndpointDraft,
    JudgeDraft,
    create_judge,
    save_endpoint,
)
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, EvaluationRun, Judge, ModelReply, Project
from evaluations.reports.steadiness import steadiness
from geval.llm.calls import RetryPolicy
from geval.texts.stand_in import MODEL
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., StandInProcess]
QUICK = RetryPolicy(attempts=2, first_wait=0.01, longest_wait=0.02)


def endpoint_of(project: Project, start_standin: Start, *switches: str) -> Endpoint:
    return save_endpoint(project, EndpointDraft(start_standin(*switches).base_url))


def judge_of(endpoint: Endpoint, form: str, **fields: Any) -> Judge:
    draft = JudgeDraft(
        name=f"J {form}", endpoint=endpoint, model=MODEL, use_steps=False, max_tokens=300,
        settings={"reply_form": form}, **fields,
    )  # fmt: skip
    return create_judge(endpoint.project, draft)[0]


def judged(judge: Judge) -> EvaluationRun:
    run = start_run(judge, list(judge.project.criteria.all()))
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def scores_of(run: EvaluationRun) -> dict[tuple[int, int | None], float]:
    listed = run.scores.values_list("output", "criterion", "value")
    return {(output, criterion): value for output, criterion, value in listed}


@pytest.mark.parametrize("mode", ["logprobs", "direct"])
def test_their_scores_are_those_of_text(
    small_project: Project, start_standin: Start, mode: str
) -> None:
    endpoint = endpoint_of(small_project, start_standin)
    text, rating, reason = (
        scores_of(judged(judge_of(endpoint, form, mode=mode)))
        for form in ("text", "rating", "reason")
    )

    assert len(text) == 12
    assert rating == pytest.approx(text, abs=0.02)
    assert reason == pytest.approx(text, abs=0.02)
    replies = [reply.choices[0]["text"] for reply in ModelReply.objects.order_by("pk")]
    assert [reply[:9] for reply in replies[12:13]] == ['{"rating"']
    assert [reply[:9] for reply in replies[24:25]] == ['{"reason"']


def test_samples_in_json_are_read_for_their_steadiness(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = endpoint_of(small_project, start_standin)
    judge = judge_of(endpoint, "reason", mode="samples", samples=4)

    run = judged(judge)

    assert len(scores_of(run)) == 12
    assert {each.criterion for each in steadiness(judge)}


def test_an_endpoint_that_does_not_follow_a_schema_is_refused(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = endpoint_of(small_project, start_standin, "--ignores-schema")

    with pytest.raises(ValidationError, match="not found to follow a JSON schema"):
        judge_of(endpoint, "rating")

    findings = known_findings(endpoint, MODEL)
    assert findings
    assert not findings.schema
    assert "breaks its schema" in findings.notes["schema"]
    assert judge_of(endpoint, "text").settings.get("reply_form", "text") == "text"


def test_without_a_probe_its_items_fail_and_the_run_says_why(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = endpoint_of(small_project, start_standin, "--ignores-schema")
    draft = JudgeDraft(
        name="J", endpoint=endpoint, model=MODEL, mode="direct", use_steps=False,
        settings={"reply_form": "rating"},
    )  # fmt: skip
    judge, _ = create_judge(small_project, draft, probe=False)

    run = judged(judge)

    assert {item.reason for item in run.items.filter(state="failed")} == {"schema"}
    assert not run.scores.exists()


def test_the_command_sets_the_form_and_others_are_refused(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = endpoint_of(small_project, start_standin)
    add = ("add_judge", "small", "J", "--model", MODEL, "--endpoint", endpoint.name)

    call_command(*add, "--set", "reply_form=reason")

    assert Judge.objects.get().settings["reply_form"] == "reason"
