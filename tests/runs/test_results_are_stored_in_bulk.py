"""A worker stores what is finished together, a few times a second, and loses nothing at the end."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evaluations.judging.runs import calling
from evaluations.judging.runs.calling import Writer
from evaluations.judging.runs.quota import Wait


class Bench:
    """A writer whose database is a list: the numbers of items of each store, and "look" for each
    time it looked whether the run goes on."""

    def __init__(self, arriving: list[int]) -> None:
        self.events: list[object] = []
        self._arriving = arriving
        share = SimpleNamespace(
            run=None, worker="w", database=self, stop_requested=asyncio.Event(),
            release_stored=self._nothing, renew=self._nothing, look_up=self._look,
        )  # fmt: skip
        calls = SimpleNamespace(
            spent=SimpleNamespace(any=False), answers=0, share_out=self._nothing,
            look_up=self._nothing,
        )  # fmt: skip
        asking = SimpleNamespace(wait=Wait())
        self.writer = Writer(*cast(Any, (share, None, calls, asking)))

    async def call(self, _store: Callable[..., object], _run: Any, batch: Any, _by: str) -> None:
        self.events.append(len(batch))
        self.finish(self._arriving.pop(0) if self._arriving else 0)

    def finish(self, items: int) -> None:
        for _ in range(items):
            self.writer.add(cast(Any, SimpleNamespace(item=SimpleNamespace(id=0))))

    async def _look(self) -> None:
        self.events.append("look")
        if not self._arriving:
            self.writer.end()

    async def _nothing(self, *_: object) -> None:
        return None


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "FLUSH_SECONDS", 0)


async def stores(first: int, arriving: list[int], *, ends: bool = False) -> list[object]:
    bench = Bench(arriving)
    bench.finish(first)
    if ends:
        bench.writer.end()
    await bench.writer.write()
    return bench.events


@pytest.mark.parametrize(
    ("arriving", "stored"),
    [
        # Those that came meanwhile wait until the worker has looked up, unless they fill a batch.
        ([1, 0], [5, "look", 1, "look"]),
        ([199, 0], [5, "look", 199, "look"]),
        ([200, 0], [5, 200, "look"]),
    ],
)
def test_items_that_finish_during_a_store_are_stored_at_the_next_moment(
    arriving: list[int], stored: list[object]
) -> None:
    assert asyncio.run(stores(5, arriving)) == stored


def test_all_that_is_finished_at_the_end_is_stored() -> None:
    assert asyncio.run(stores(450, [], ends=True)) == [200, 200, 50]
