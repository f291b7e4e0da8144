"""Asking again: passing errors with backoff and a budget, missing choices counted, everything else
told at once."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.calls import RetryPolicy, ask_until_answered
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.replies import Reply, ReplyChoice
from geval.llm.requests import ChatRequest

REQUEST = ChatRequest(model="m", prompt="p")


@dataclass
class Scripted:
    """The network's other end: answers as written down, one after the other."""

    answers: list[Reply | EndpointError]
    asked_for: list[int] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def chat(self, request: ChatRequest) -> Reply:
        self.asked_for.append(request.n)
        answer = self.answers.pop(0)
        if isinstance(answer, EndpointError):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def reply(count: int) -> Reply:
    return Reply(
        tuple(ReplyChoice("4") for _ in range(count)),
        model="m-1",
        prompt_tokens=10,
        completion_tokens=count,
    )


def failing(kind: ErrorKind, **fields: float) -> EndpointError:
    return EndpointError(kind, "It failed.", **fields)


def ask(script: Scripted, *, n: int = 1, attempts: int = 5):
    from dataclasses import replace

    policy = RetryPolicy(attempts=attempts)
    return asyncio.run(
        ask_until_answered(script.chat, replace(REQUEST, n=n), policy=policy, sleep=script.sleep)
    )


def test_an_endpoint_that_ignores_n_is_asked_until_all_choices_are_there() -> None:
    script = Scripted([reply(1), reply(2), reply(1)])

    answer = ask(script, n=4)

    assert script.asked_for == [4, 3, 1]
    assert (len(answer.choices), answer.calls, answer.prompt_tokens) == (4, 3, 30)


@pytest.mark.parametrize(
    "kind", [ErrorKind.RATE_LIMIT, ErrorKind.SERVER, ErrorKind.TIMEOUT, ErrorKind.MALFORMED]
)
def test_a_passing_error_is_tried_again(kind: ErrorKind) -> None:
    script = Scripted([failing(kind), failing(kind), reply(1)])

    assert ask(script).calls == 3
    assert len(script.slept) == 2


def test_the_budget_ends_the_patience() -> None:
    script = Scripted([failing(ErrorKind.SERVER)] * 9)

    with pytest.raises(EndpointError):
        ask(script, attempts=3)

    assert len(script.asked_for) == 3


@pytest.mark.parametrize(
    "kind",
    [
        ErrorKind.AUTHENTICATION,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.CONTEXT_LENGTH,
        ErrorKind.BAD_REQUEST,
    ],
)
def test_an_error_that_does_not_pass_is_reported_at_once(kind: ErrorKind) -> None:
    script = Scripted([failing(kind), reply(1)])

    with pytest.raises(EndpointError):
        ask(script)

    assert script.slept == []


def test_the_time_the_server_names_is_waited() -> None:
    script = Scripted([failing(ErrorKind.RATE_LIMIT, retry_after=7), reply(1)])

    ask(script)

    assert 7 <= script.slept[0] <= 7.7


@given(st.integers(1, 40), st.floats(0, 1))
def test_waits_grow_and_stay_below_the_longest(attempt: int, jitter: float) -> None:
    policy = RetryPolicy()

    wait = policy.wait(attempt, None, jitter=jitter)

    assert 0 < wait <= policy.longest_wait
    assert policy.wait(attempt + 1, None, jitter=jitter) >= wait


def test_a_rate_limit_is_waited_for_however_often_it_comes() -> None:
    limited = [failing(ErrorKind.RATE_LIMIT) for _ in range(30)]
    script = Scripted([*limited, reply(1)])

    answer = asyncio.run(
        ask_until_answered(
            script.chat,
            REQUEST,
            policy=RetryPolicy(attempts=3, rate_limit_patience=1800),
            sleep=script.sleep,
        )
    )

    assert (answer.calls, len(answer.choices), len(script.slept)) == (31, 1, 30)


def test_a_rate_limit_without_end_pauses_the_run_and_fails_no_item() -> None:
    script = Scripted([failing(ErrorKind.RATE_LIMIT) for _ in range(1000)])
    policy = RetryPolicy(rate_limit_patience=1800)

    with pytest.raises(EndpointError) as caught:
        asyncio.run(ask_until_answered(script.chat, REQUEST, policy=policy, sleep=script.sleep))

    assert caught.value.kind == ErrorKind.LONG_WAIT
    assert caught.value.kind.stops_run
    assert "30 minutes" in caught.value.message
    assert 1800 <= sum(script.slept) < 1900


def test_an_address_where_nothing_answers_is_reported_after_a_few_tries() -> None:
    script = Scripted([failing(ErrorKind.CONNECTION)] * 9)

    with pytest.raises(EndpointError):
        ask(script, attempts=8)

    assert len(script.asked_for) == 3


def test_an_answer_without_a_choice_is_an_error() -> None:
    with pytest.raises(EndpointError) as raised:
        ask(Scripted([reply(0)]))

    assert raised.value.kind == ErrorKind.MALFORMED


def test_other_errors_between_rate_limits_are_counted_by_themselves() -> None:
    errors = [
        failing(kind)
        for _ in range(3)
        for kind in (ErrorKind.RATE_LIMIT, ErrorKind.RATE_LIMIT, ErrorKind.SERVER)
    ]
    policy = RetryPolicy(attempts=3, rate_limit_patience=1800)
    script = Scripted(errors)

    with pytest.raises(EndpointError) as caught:
        asyncio.run(ask_until_answered(script.chat, REQUEST, policy=policy, sleep=script.sleep))

    assert caught.value.kind == ErrorKind.SERVER
    assert not script.answers
