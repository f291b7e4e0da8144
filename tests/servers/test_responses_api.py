"""The Responses API of a real server that none of us wrote: llama.cpp's, with SmolLM2."""

import json
from collections.abc import Callable

import pytest

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Project
from geval.llm.requests import ChatRequest
from tests.processes import ModelProcess
from tests.servers.asking import reply_at
from tests.servers.test_a_real_model_judges import OUTPUTS, UNREADABLE

STORY = ChatRequest("smollm2", "Tell me a long story of a ferry.", max_tokens=24)


def test_a_story_that_its_limit_has_cut_is_cut_by_both_apis(local_llm: ModelProcess) -> None:
    chat = reply_at(local_llm.base_url, STORY, timeout=300)
    response = reply_at(f"{local_llm.base_url}/responses", STORY, timeout=300)

    assert response.choices[0].text
    assert (response.choices[0].is_cut, chat.choices[0].is_cut) == (True, True)
    assert (response.prompt_tokens, response.completion_tokens) == (chat.prompt_tokens, 24)
    assert response.model == chat.model


@pytest.mark.django_db(transaction=True)
def test_a_judge_has_a_score_or_a_reason_for_each_output(
    project: Project, load: Callable[..., object], local_llm: ModelProcess
) -> None:
    load(project, {"outputs.jsonl": "\n".join(json.dumps(row) for row in OUTPUTS[:4])})
    project.criteria.create(name="coherence", definition="the summary reads as one text")
    endpoint = project.endpoints.create(name="l", base_url=f"{local_llm.base_url}/responses")
    draft = JudgeDraft(
        name="J", endpoint=endpoint, model="smollm2", mode="direct", max_tokens=16,
        use_steps=False, timeout_seconds=300,
    )  # fmt: skip
    judge, _ = create_judge(project, draft)

    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "tester")

    run = EvaluationRun.objects.get(pk=run.pk)
    findings = known_findings(endpoint, "smollm2")
    failed = run.items.filter(state=ItemState.FAILED)
    assert run.items.exclude(state=ItemState.DONE).count() == failed.count(), run.message
    assert {*failed.values_list("reason", flat=True)} <= UNREADABLE
    assert run.scores.count() + failed.count() == 4
    assert findings is not None
    assert (findings.logprobs, findings.most_choices) == (0, 1)
    assert "top_logprobs requires logprobs" in findings.notes["logprobs"]
