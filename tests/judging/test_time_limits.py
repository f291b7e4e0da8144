"""How long a call may take: as set, or as follows from how fast the server answers."""

import asyncio
from collections.abc import Callable

import pytest

from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.judge_settings import default_of
from geval.llm.requests import ChatRequest
from geval.llm.time_limit import MOST_SECONDS, TimeLimit
from tests.processes import StandInProcess


def test_the_default_of_a_judge_follows_the_server_and_a_minute_stays_a_minute() -> None:
    following, stated = (
        TimeLimit(default_of("timeout_seconds")),
        TimeLimit(60),
    )

    for limit in (following, stated):
        limit.note_answered(30)

    assert following.seconds(reply_tokens=32) == 300
    assert stated.seconds(reply_tokens=32) == 60


def test_fast_answers_leave_it_at_its_least() -> None:
    limit = TimeLimit()

    limit.note_answered(0.5)

    assert limit.seconds() == 60


def test_calls_that_miss_the_same_limit_double_it_once() -> None:
    limit = TimeLimit()

    for _ in range(8):
        limit.note_missed(60)
    doubled = limit.seconds()
    limit.note_missed(doubled)

    assert (doubled, limit.seconds()) == (120, 240)


def test_a_call_that_hung_does_not_lengthen_the_limit_of_a_fast_server() -> None:
    limit = TimeLimit()

    limit.note_missed(60)
    limit.note_answered(0.5)

    assert limit.seconds() == 60


def test_it_ends_at_fifteen_minutes_however_slow_the_server_is() -> None:
    limit = TimeLimit()

    limit.note_answered(800)
    assert limit.seconds() == MOST_SECONDS

    limit.note_missed(MOST_SECONDS)
    assert limit.seconds(reply_tokens=32_000) == limit.most == 900


@pytest.mark.processes
def test_a_client_learns_from_the_calls_it_makes(
    start_standin: Callable[..., StandInProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geval.llm.time_limit.DEFAULT_SECONDS", 0.3)
    monkeypatch.setattr("geval.llm.time_limit.SECONDS_A_TOKEN", 0.0)
    limit = TimeLimit()
    request = ChatRequest(model="offline-stand-in", prompt="Rate this text from 1 to 5: a ferry")

    async def ask() -> list[ErrorKind]:
        errors = []
        base_url = start_standin("--latency", "1").base_url
        async with Client(base_url, "", timeout=limit, allow_private=True) as client:
            for _ in range(10):
                try:
                    await client.chat(request)
                except EndpointError as error:
                    errors.append(error.kind)
                else:
                    break
        return errors

    errors = asyncio.run(ask())

    assert errors
    assert set(errors) == {ErrorKind.TIMEOUT}
    assert limit.seconds() >= 10
