"""How far a long computation has come: a share from 0 to 1, and the step that begins, in words."""

from collections.abc import Callable

OnStep = Callable[[float, str], None]


def unseen(_share: float, _step: str) -> None:
    """For computations that nobody watches."""


def part_of(on_step: OnStep, index: int, parts: int) -> OnStep:
    """The same, for one of several parts that take about as long."""
    return lambda share, step: on_step((index + share) / parts, step)


def between(on_step: OnStep, low: float, high: float) -> OnStep:
    """The same, for what takes from one share of the whole to another."""
    return lambda share, step: on_step(low + share * (high - low), step)
