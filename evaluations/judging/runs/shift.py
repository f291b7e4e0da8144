"""How long a worker stays with a run: until it is asked to stop, or until its share of time is
over."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.db.models import Q


def ours(project: str) -> Q:
    """Return a condition for rows that this process may work on: all, or those of its only project.

    Args:
        project: the path from a row to its project, such as `project`.
    """
    if not settings.ONLY_PROJECT:
        return Q()
    return Q(**{f"{project}__slug": settings.ONLY_PROJECT})


def _never() -> bool:
    return False


def _all(calls: int, _are_open: int) -> int:
    return calls


@dataclass(frozen=True)
class Shift:
    """A worker's time with a run.

    Args:
        stop_requested: called regularly, in the database thread; true if the worker shuts down.
        ends: when to leave the rest to the next message, in seconds of `time.monotonic`; None for
            no limit.
        gives_way: called like `stop_requested`; true if another run should have this slot.
        calls: called like `stop_requested` with the judge's limit of calls in flight and the number
            this worker has open; returns how many this worker may have.
    """

    stop_requested: Callable[[], bool] = field(default=_never)
    ends: float | None = None
    gives_way: Callable[[], bool] = field(default=_never)
    calls: Callable[[int, int], int] = field(default=_all)

    @property
    def is_over(self) -> bool:
        """Whether to start nothing more and release what was not begun."""
        is_late = self.ends is not None and time.monotonic() > self.ends
        return is_late or self.stop_requested() or self.gives_way()

    def without_giving_way(self) -> "Shift":
        """Return a shift that does not give way, for work that would have to start over if
        interrupted."""
        return replace(self, gives_way=_never)
