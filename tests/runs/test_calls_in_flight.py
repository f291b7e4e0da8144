"""How many calls are open at once follows what a slow server can answer within the time limit."""

import asyncio
from contextlib import suppress

import pytest

from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.in_flight import InFlight

TIMEOUT = EndpointError(ErrorKind.TIMEOUT, "No answer.")


class SlowServer:
    """Gives each open call the same share of what it can do; `work` is a call's, in seconds."""

    def __init__(self, *, work: float, limit: float) -> None:
        self.work, self.limit = work, limit
        self.open = self.answered = self.missed = 0

    async def answer(self) -> None:
        self.open += 1
        left, waited = self.work, 0.0
        try:
            while left > 1e-9:
                if waited >= self.limit:
                    self.missed += 1
                    raise TIMEOUT
                await asyncio.sleep(0)
                left -= 0.1 / self.open
                waited += 0.1
            self.answered += 1
        finally:
            self.open -= 1


async def ask(flights: InFlight, server: SlowServer) -> None:
    """Ask until it is answered."""
    while True:
        try:
            async with flights.call():
                await server.answer()
            return
        except EndpointError:
            await asyncio.sleep(0)


async def ask_all(server: SlowServer, *, calls: int, most: int) -> InFlight:
    flights = InFlight(most)
    await asyncio.gather(*(ask(flights, server) for _ in range(calls)))
    return flights


def test_a_server_too_slow_for_all_calls_at_once_answers_them_all() -> None:
    # Sixteen at once would take 16 s each, of 5 s that are allowed.
    server = SlowServer(work=1.0, limit=5.0)

    flights = asyncio.run(asyncio.wait_for(ask_all(server, calls=60, most=16), 60))

    assert server.answered == 60
    assert server.missed < 60
    assert 1 <= flights.allowed <= 8


def test_a_fast_server_gets_all_calls_at_once() -> None:
    server = SlowServer(work=0.1, limit=5.0)

    flights = asyncio.run(ask_all(server, calls=200, most=16))

    assert (server.answered, server.missed, flights.allowed) == (200, 0, 16)


async def miss(flights: InFlight, until: asyncio.Event) -> None:
    """A call that is given up when the event comes."""
    async with flights.call():
        await until.wait()
        raise TIMEOUT


async def _one_hangs(others: int) -> InFlight:
    flights, release = InFlight(4), asyncio.Event()
    hanging = asyncio.create_task(miss(flights, release))
    await asyncio.sleep(0)
    for _ in range(others):
        async with flights.call():
            pass
    release.set()
    await asyncio.gather(hanging, return_exceptions=True)
    return flights


@pytest.mark.parametrize(("others", "allowed"), [(3, 2), (4, 4), (5, 4)])
def test_a_call_that_hangs_counts_only_if_hardly_others_were_answered(
    others: int, allowed: int
) -> None:
    assert asyncio.run(_one_hangs(others)).allowed == allowed


async def _all_miss(most: int, rounds: int) -> list[int]:
    return await _miss_rounds(InFlight(most), rounds)


async def _miss_rounds(flights: InFlight, rounds: int) -> list[int]:
    allowed = []
    for _ in range(rounds):
        now = asyncio.Event()
        open_calls = [asyncio.create_task(miss(flights, now)) for _ in range(flights.allowed)]
        await asyncio.sleep(0)
        now.set()
        await asyncio.gather(*open_calls, return_exceptions=True)
        allowed.append(flights.allowed)
    return allowed


def test_calls_that_left_together_halve_the_number_once() -> None:
    assert asyncio.run(_all_miss(16, 4)) == [8, 4, 2, 1]


def test_a_server_that_leaves_a_single_call_unanswered_gets_all_calls_again() -> None:
    assert asyncio.run(_all_miss(16, 8)) == [8, 4, 2, 1, 16, 16, 16, 16]


def test_fewer_calls_are_tried_again_once_a_server_has_answered() -> None:
    async def answered_between() -> InFlight:
        flights = InFlight(4)
        await _miss_rounds(flights, 4)
        async with flights.call():
            pass
        await _miss_rounds(flights, 1)
        return flights

    assert asyncio.run(answered_between()).allowed == 2


@pytest.mark.parametrize("error", [ErrorKind.RATE_LIMIT, ErrorKind.SERVER, ErrorKind.CONNECTION])
def test_other_errors_change_nothing(error: ErrorKind) -> None:
    async def fail() -> InFlight:
        flights = InFlight(4)
        for _ in range(20):
            with suppress(EndpointError):
                async with flights.call():
                    raise EndpointError(error, "No.")
        return flights

    assert asyncio.run(fail()).allowed == 4


class FullServer:
    """Answers so many calls at once and refuses others.

    Args:
        room: None where nothing answers.
    """

    def __init__(self, room: int | None, error: ErrorKind) -> None:
        self.room, self.error = room, error
        self.open = self.calls = 0

    async def answer(self) -> None:
        self.calls += 1
        await asyncio.sleep(0)
        if self.room is None or self.open >= self.room:
            raise EndpointError(self.error, "No room.")
        self.open += 1
        for _ in range(10):
            await asyncio.sleep(0)
        self.open -= 1


async def leave_and_ask(flights: InFlight, server: FullServer) -> None:
    """Ask until it is answered; a call that is refused waits longer than others take."""
    for _ in range(1000):
        with suppress(EndpointError):
            async with flights.call() as flight:
                await flight.leave()
                await server.answer()
            return
        for _ in range(20):
            await asyncio.sleep(0)


async def fill(server: FullServer, *, calls: int, most: int) -> InFlight:
    flights = InFlight(most)
    await asyncio.gather(*(leave_and_ask(flights, server) for _ in range(calls)))
    return flights


@pytest.mark.parametrize("error", [ErrorKind.OVERLOADED, ErrorKind.CONNECTION, ErrorKind.BROKEN])
@pytest.mark.parametrize("room", [1, 5, 16])
def test_a_server_that_refuses_calls_gets_as_many_as_it_answers(
    room: int, error: ErrorKind
) -> None:
    server = FullServer(room, error)

    flights = asyncio.run(fill(server, calls=2000, most=64))

    assert room <= flights.allowed <= room + 1
    assert server.calls <= 1.1 * 2000


def test_a_server_that_is_down_is_asked_as_before() -> None:
    async def ask_in_vain() -> InFlight:
        flights, server = InFlight(16), FullServer(None, ErrorKind.OVERLOADED)
        for _ in range(20):
            with suppress(EndpointError):
                async with flights.call() as flight:
                    await flight.leave()
                    await server.answer()
        await asyncio.gather(*(_once(flights, server) for _ in range(64)))
        return flights

    assert asyncio.run(ask_in_vain()).allowed == 16


async def _once(flights: InFlight, server: FullServer) -> None:
    with suppress(EndpointError):
        async with flights.call() as flight:
            await flight.leave()
            await server.answer()
