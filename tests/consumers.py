"""A consumer of Celery's as a worker's pulse sees it, whose loop and threads answer or do not."""

from collections.abc import Callable
from typing import Any


class Consumer:
    """Its loop takes questions when `loop` is set, its pool when `pool` is, each at once."""

    def __init__(self, *, threads: int = 2) -> None:
        self.connection: object | None = object()
        self.pool = self
        self.limit = threads
        self.loop = self.answers = True
        self.waiting: list[Callable[[], None]] = []

    def call_soon(self, act: Callable[[], None]) -> None:
        if self.loop:
            act()
        else:
            self.waiting.append(act)

    def apply_async(self, act: Callable[[], None], callback: Callable[[Any], None]) -> None:
        if self.answers:
            callback(act())
