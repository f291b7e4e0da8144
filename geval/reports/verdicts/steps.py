"""Progress of a long computation: a share from 0 to 1, and the step that begins, in words."""

from collections.abc import Callable

OnStep = Callable[[float, str], None]


def unseen(_share: float, _step: str) -> None:
    """Ignore progress, for computations that nobody watches."""


def part_of(on_step: OnStep, index: int, parts: int) -> OnStep:
    """Return a callback for one of several parts of about equal length."""
    return lambda share, step: on_step((index + share) / parts, step)


def between(on_step: OnStep, low: float, high: float) -> OnStep:
    """Return a callback for a part between two shares of the whole."""
    return lambda share, step: on_step(low + share * (high - low), step)
