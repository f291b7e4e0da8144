"""One worker's share of a run: what it claims and holds, whether it may continue, and how it
leaves.

Shared by workers that call an endpoint (worker.py), compute (local.py), prepare a run
(worker.py) or process its batches (batches.py).
"""

import asyncio
import contextlib
import datetime
import time
from collections.abc import Callable, Iterable

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import close_if_finished, fail_run
from evaluations.judging.runs.resuming import pause_after
from evaluations.judging.runs.shift import Shift
from evaluations.models import EvaluationRun, RunState
from geval.llm.errors import EndpointError

RENEW_SECONDS = leases.LEASE_SECONDS / 4
# Resolution of the time of the last result in a run's row.
RESULT_SECONDS = 5.0


class StoppedError(Exception):
    """The run or the worker was stopped during a wait."""


class RunShare:
    """What one worker does for one run, until either of them stops."""

    # The state that the run must have for this worker to continue.
    during = RunState.RUNNING

    def __init__(
        self, run: EvaluationRun, worker: str, database: Database, shift: Shift | None = None
    ) -> None:
        self.run = run
        self.worker = worker
        self.database = database
        self.shift = shift or Shift()
        self.holding: set[int] = set()
        self.stopped = asyncio.Event()
        # Stopped without finishing what was begun.
        self.halted = asyncio.Event()
        self.stop_requested = asyncio.Event()
        self._message = ""
        self._stopped_by: EndpointError | None = None
        self._until: datetime.datetime | None = None
        self._fails = False
        self._last_id = 0
        self._renewed = time.monotonic()
        self._noted_result = float("-inf")
        self._when_stopped: list[Callable[[], None]] = []

    def when_stopped(self, act: Callable[[], None]) -> None:
        """Register a callback for when the share stops."""
        self._when_stopped.append(act)

    def stop(
        self,
        message: str = "",
        *,
        after: EndpointError | None = None,
        until: datetime.datetime | None = None,
        gives_way: bool = False,
        fails: bool = False,
    ) -> None:
        """Start nothing more. A message pauses the run for all workers; the first one counts.

        Args:
            after: the error of the endpoint behind the message; some are transient.
            until: when the run resumes by itself.
            gives_way: the run continues, so calls in flight are finished.
            fails: items failed alike; the run fails if it has no score.
        """
        if not gives_way:
            self.halted.set()
        if message and not self._message:
            self._message, self._stopped_by, self._until = message, after, until
            self._fails = fails
        self.stopped.set()
        for act in self._when_stopped:
            act()

    def next_items(self, claim: Callable[[int], list[ClaimedItem]]) -> list[ClaimedItem]:
        """Claim items after the last claimed ones. Call this in the database thread.

        Starts again from the beginning when no items follow, because leases of lost workers may
        have expired.

        Args:
            claim: claims items with an id above the one it is given.
        """
        items = claim(self._last_id) or (claim(0) if self._last_id else [])
        self._last_id = items[-1].id if items else 0
        self.holding.update(item.id for item in items)
        return items

    async def release_stored(self, items: Iterable[int]) -> None:
        """Stop holding items whose results were stored, which ended their leases."""
        self.holding.difference_update(items)
        if time.monotonic() - self._noted_result > RESULT_SECONDS:
            self._noted_result = time.monotonic()
            await self.database.call(results.note_result, self.run.pk)

    async def renew(self) -> None:
        """Renew the leases of this worker's items when a quarter of the lease has passed."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            self._renewed = time.monotonic()
            held = list(self.holding)
            await self.database.call(leases.renew_leases, held, self.worker)

    async def look_up(self) -> None:
        """Stop if this worker is asked to, if its time is over, or if the run was paused or
        cancelled."""
        is_requested, is_active, is_over = await self.database.call(self._read_state)
        if is_requested:
            self.stop_requested.set()
        if is_requested or not is_active:
            self.stop()
        elif is_over:
            self.stop(gives_way=True)

    def _read_state(self) -> tuple[bool, bool, bool]:
        run = EvaluationRun.objects.filter(pk=self.run.pk, state=self.during)
        return self.shift.stop_requested(), run.exists(), self.shift.is_over

    async def watch(self, *, every: float) -> None:
        """Renew leases and check for reasons to stop, until halted."""
        while not self.halted.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.halted.wait(), every)
            await self.renew()
            # Keep checking while finishing calls before giving way: this keeps up the slot's
            # heartbeat, and a paused run or a stopping worker cuts the calls short.
            if not self.halted.is_set():
                await self.look_up()

    async def rest(self, seconds: float) -> None:
        """Wait for some seconds.

        Raises:
            StoppedError: stopped in the meantime.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)
            raise StoppedError

    async def end_outage(self) -> None:
        """Record the end of an outage, once the endpoint has answered and the database has stored
        it."""
        if self.run.outage_since is not None:
            self.run.outage_since = None
            of_run = EvaluationRun.objects.filter(pk=self.run.pk)
            await self.database.call(of_run.update, outage_since=None)

    async def leave(self) -> None:
        """Pause or fail the run if there is a reason to, release held items, and close the run if
        it is finished."""
        if self._message:
            await self.database.call(self._end_or_pause)
        await self.database.call(self._give_back)

    def _end_or_pause(self) -> None:
        if not (self._fails and fail_run(self.run.pk, self._message)):
            pause_after(self.run, self._message, self._stopped_by, until=self._until)

    def _give_back(self) -> None:
        leases.give_back(self.run.pk, self.worker)
        close_if_finished(self.run.pk)
