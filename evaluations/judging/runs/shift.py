"""How long a worker stays with a run: until it is asked to stop, or until its share of time is
over."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.db.models import Q


def worker_name() -> str:
    """The name of this process as a worker; no other has it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def ours(project: str) -> Q:
    """A condition for rows that this process may work on: all, or those of its only project.

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
        told_to_stop: asked every moment, in the database thread; true for a worker that is being
            shut down.
        ends: when to leave the rest to the next message, in seconds of `time.monotonic`; None for
            no such time.
        gives_way: asked like `told_to_stop`; true where another run should have this time.
        calls: asked like `told_to_stop`; of so many calls that a judge may have in flight, how many
            this worker may, which has so many open.
    """

    told_to_stop: Callable[[], bool] = field(default=_never)
    ends: float | None = None
    gives_way: Callable[[], bool] = field(default=_never)
    calls: Callable[[int, int], int] = field(default=_all)

    @property
    def is_over(self) -> bool:
        """Whether to start nothing more and give back what was not begun."""
        is_late = self.ends is not None and time.monotonic() > self.ends
        return is_late or self.told_to_stop() or self.gives_way()

    def without_giving_way(self) -> "Shift":
        """The same for what would have to be begun anew if it were left half done."""
        return replace(self, gives_way=_never)
