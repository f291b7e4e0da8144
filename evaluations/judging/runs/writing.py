"""What a calling worker writes while it works: results, usage, waits, leases, and the reasons for
slowness in the log."""

import asyncio
import contextlib
import functools
import time

import structlog
from django.utils import timezone

from evaluations.judging.runs import results
from evaluations.judging.runs.asking import Asking
from evaluations.judging.runs.feeding import Feeder
from evaluations.judging.runs.outgoing import OutgoingCalls
from evaluations.judging.runs.share import RunShare
from evaluations.judging.runs.waits import Wait

# One statement stores many results, but a lost worker loses those not yet stored.
FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
# A run may be slow for hours, and must not fill the log.
SLOWNESS_SECONDS = 60.0
log = structlog.stdlib.get_logger(__name__)


class Writer:
    """Stores finished items in bulk at short intervals."""

    def __init__(
        self, share: RunShare, feeder: Feeder, calls: OutgoingCalls, asking: Asking
    ) -> None:
        self._share = share
        self._feeder = feeder
        self._calls = calls
        self._asking = asking
        self._finished: list[results.FinishedItem] = []
        self._all_judged = asyncio.Event()
        self._wait_shown = Wait()
        self._logs_at = time.monotonic() + SLOWNESS_SECONDS

    def add(self, item: results.FinishedItem) -> None:
        """Queue an item to be stored."""
        self._finished.append(item)

    def end(self) -> None:
        """Signal that no more items will be added; queued items are still stored."""
        self._all_judged.set()

    async def write(self) -> None:
        """Store finished items at intervals, renew leases, and check whether the run was paused."""
        share = self._share
        while True:
            is_last = self._all_judged.is_set()
            await self._count()
            if self._finished:
                batch, self._finished = self._finished[:FLUSH_ITEMS], self._finished[FLUSH_ITEMS:]
                await share.database.call(
                    functools.partial(results.store_each, share.run, batch, share.worker)
                )
                await share.release_stored(entry.item.id for entry in batch)
                # Items finished meanwhile wait for the next interval unless there are many:
                # otherwise, under load, each bulk store would be followed by a tiny one.
                if len(self._finished) >= FLUSH_ITEMS or (is_last and self._finished):
                    continue
            if self._calls.answers:
                await share.end_outage()
            if is_last:
                return
            await share.renew()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_judged.wait(), FLUSH_SECONDS)
            if not share.stop_requested.is_set():
                await share.look_up()
                await self._calls.share_out()
            await self._calls.look_up()
            self._log_slowness()

    async def _count(self) -> None:
        """Add usage and the current wait to the run's row."""
        share, wait = self._share, self._asking.wait
        if self._calls.spent.any:
            await share.database.call(
                functools.partial(results.count_up, share.run.pk, self._calls.spent.taken())
            )
        if wait != self._wait_shown:
            self._wait_shown = wait
            await share.database.call(
                functools.partial(results.note_wait, share.run.pk, wait.until, wait.reason)
            )

    def _log_slowness(self) -> None:
        """Log every minute what slows the run down, if anything does."""
        if time.monotonic() < self._logs_at:
            return
        self._logs_at = time.monotonic() + SLOWNESS_SECONDS
        until = self._asking.wait.until
        reasons = {
            "endpoint asked to wait": bool(until and until > timezone.now()),
            **self._calls.what_holds_back(),
            "budget": self._feeder.too_dear,
        }
        if any(reasons.values()):
            log.info(
                "run is held back",
                reasons=[reason for reason, holds in reasons.items() if holds],
                answers=self._calls.answers,
                calls=self._calls.in_flight.allowed,
            )
