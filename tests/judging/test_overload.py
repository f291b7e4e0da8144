"""How many calls at once a server answers is learned from the calls that it refuses."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from geval.llm.in_flight import VAIN_ANSWERS, Capacity


class Server:
    """Answers so many calls at once, in the order in which they came, and refuses others.

    Args:
        room: how many it answers at once.
        by_chance: the share of calls that it refuses besides.
    """

    def __init__(self, room: int, *, by_chance: float = 0.0) -> None:
        self.room = room
        self.by_chance = by_chance
        self.random = random.Random(1)

    def ask(self, capacity: Capacity, *, wanted: int, answers: int) -> int:
        """Have calls answered with as many open as may be; how many calls that took."""
        taken: list[tuple[int, int]] = []
        calls = answered = 0
        while answered < answers:
            while len(taken) < min(wanted, capacity.most or wanted):
                calls += 1
                number = capacity.leave()
                is_full = len(taken) >= self.room
                if not is_full and self.random.random() >= self.by_chance:
                    taken.append((number, len(taken) + 1))
                    continue
                capacity.refused(number, len(taken))
                if is_full:
                    break
            capacity.answered(*taken.pop(0))
            answered += 1
        return calls


@settings(max_examples=50)
@given(st.integers(1, 60), st.integers(2, 64))
def test_as_many_are_open_as_are_answered(room: int, wanted: int) -> None:
    capacity, server = Capacity(), Server(room)
    server.ask(capacity, wanted=wanted, answers=500)

    calls = server.ask(capacity, wanted=wanted, answers=2000)

    assert calls <= 1.05 * 2000
    assert (capacity.most or wanted) >= min(room, wanted)


def test_a_server_that_grows_is_used() -> None:
    capacity = Capacity()
    Server(8).ask(capacity, wanted=64, answers=1000)
    assert capacity.proven == 8

    Server(40).ask(capacity, wanted=64, answers=20_000)

    assert capacity.proven >= 38


def test_a_server_that_shrinks_gets_fewer() -> None:
    capacity = Capacity()
    Server(40).ask(capacity, wanted=64, answers=1000)

    Server(8).ask(capacity, wanted=64, answers=1000)

    assert capacity.proven == 8


def test_refusals_by_chance_change_nothing() -> None:
    capacity = Capacity()

    Server(1000, by_chance=0.05).ask(capacity, wanted=64, answers=5000)

    assert capacity.most is None


def test_refusals_that_do_not_depend_on_the_number_are_soon_left_alone() -> None:
    capacity, server = Capacity(), Server(1000, by_chance=0.6)

    server.ask(capacity, wanted=64, answers=VAIN_ANSWERS // 2)

    assert capacity.most is None
