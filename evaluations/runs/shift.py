"""How long a worker stays with a run: until it is asked to stop, or until its share of time is
over."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Shift:
    """A worker's time with a run.

    Args:
        told_to_stop: asked every moment, in the database thread; true for a worker that is being
            shut down.
        ends: when to leave the rest to the next message, in seconds of `time.monotonic`; None for
            no such time.
    """

    told_to_stop: Callable[[], bool] = field(default=_never)
    ends: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether to start nothing more and give back what was not begun."""
        return (self.ends is not None and time.monotonic() > self.ends) or self.told_to_stop()
