"""What a probe found is what calls use: n is split, fewer alternatives are asked for, and top_p is
left out; a run on a server that takes little scores every item."""

import asyncio
from collections.abc import Callable

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, ModelProbe, ModelReply, Project
from geval.llm.calls import RetryPolicy, ask_until_answered
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import TOKENS_WITH_THOUGHT, Findings
from geval.llm.replies import Reply, ReplyChoice
from geval.llm.requests import ChatRequest
from geval.llm.server_fit import LearnedFit, ServerFit
from tests.processes import StandInProcess

MODEST = ("--most-choices", "8", "--most-alternatives", "5", "--without-top-p")
Start = Callable[..., StandInProcess]


def asked(request: ChatRequest, *, takes: int, learned: LearnedFit) -> list[int]:
    """How many choices each call of a question asks a server for that takes so many."""
    calls: list[int] = []

    async def answer(call: ChatRequest) -> Reply:
        calls.append(call.n)
        if call.n > takes:
            raise EndpointError(ErrorKind.BAD_REQUEST, "`n` is too large.")
        return Reply(tuple(ReplyChoice("4") for _ in range(call.n)))

    asyncio.run(ask_until_answered(answer, request, policy=RetryPolicy(), learned=learned))
    return calls


@pytest.mark.parametrize(
    ("most", "calls"),
    [(128, [20]), (20, [20]), (19, [19, 1]), (8, [8, 8, 4]), (2, [2] * 10), (1, [1] * 20)],
)
def test_samples_are_split_into_calls_that_the_server_takes(most: int, calls: list[int]) -> None:
    request = ChatRequest("m", "Rate it.", n=20)

    assert asked(request, takes=most, learned=LearnedFit(ServerFit(most_choices=most))) == calls


def test_a_refusal_of_n_is_learned_once_for_all_questions() -> None:
    request, learned = ChatRequest("m", "Rate it.", n=20), LearnedFit()

    assert asked(request, takes=5, learned=learned) == [20, 10, 5, 5, 5, 5]
    assert asked(request, takes=5, learned=learned) == [5, 5, 5, 5]


def test_a_refusal_of_something_else_is_an_error_and_teaches_nothing() -> None:
    learned = LearnedFit()

    with pytest.raises(EndpointError):
        asked(ChatRequest("m", "Rate it.", n=4), takes=0, learned=learned)
    assert learned == LearnedFit()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["logprobs", "samples", "direct"])
def test_a_run_on_a_server_that_takes_little_scores_every_item(
    small_project: Project, start_standin: Start, mode: str
) -> None:
    endpoint = endpoint_at(small_project, start_standin(*MODEST).base_url)
    draft = JudgeDraft(
        name="Modest", endpoint=endpoint, model="some-model", mode=mode, use_steps=False
    )
    judge, _ = create_judge(small_project, draft)

    run = judged(judge)

    assert run.items.exclude(state="done").count() == 0
    assert run.scores.exists()
    if mode == "samples":
        reply = ModelReply.objects.exclude(request_key="").first()
        assert reply is not None
        assert (len(reply.choices), reply.calls) == (20, 3)


@pytest.mark.django_db
def test_a_judge_of_a_model_that_thinks_has_room_for_the_thought(
    small_project: Project, start_standin: Start
) -> None:
    endpoint = endpoint_at(small_project, start_standin().base_url)
    findings = Findings("m", thinks=True)
    ModelProbe.objects.create(endpoint=endpoint, model="m", findings=findings.as_json())

    default, _ = create_judge(
        small_project, JudgeDraft(name="Default", endpoint=endpoint, model="m", mode="direct")
    )
    own, _ = create_judge(
        small_project,
        JudgeDraft(name="Own", endpoint=endpoint, model="m", mode="direct", max_tokens=900),
    )

    assert (default.max_tokens, own.max_tokens) == (TOKENS_WITH_THOUGHT, 900)


def judged(judge: Judge) -> EvaluationRun:
    run = start_run(judge, list(judge.project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run
