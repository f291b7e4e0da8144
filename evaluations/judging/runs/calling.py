"""A worker's calls to an endpoint for a run: claim ahead, keep many calls in flight, write results
in bulk, stop in order.

Three kinds of coroutine share one event loop: a feeder that claims items before they are needed,
one slot per call in flight, and a writer that regularly stores what is finished. Database work
happens in a separate thread, so that it never delays calls, and is repeated if the database is
briefly unavailable.
"""

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import Any

import structlog
from django.utils import timezone

from evaluations.judging.runs import results
from evaluations.judging.runs.asking import Asking
from evaluations.judging.runs.feeding import Feeder, Waiting
from evaluations.judging.runs.outgoing import OutgoingCalls
from evaluations.judging.runs.quota import Wait
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare, StoppedError
from evaluations.models import EvaluationRun, ItemState, ModelReply
from geval.llm.advice import FailuresInARow, FirstItems
from geval.llm.calls import RetryPolicy
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.parsing import Failure, Reason
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.statistics.thresholds import FIRST_ITEMS

# One statement stores many results, but a lost worker loses those not yet stored.
FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
# A run may be slow for hours, and must not fill the log.
SLOWNESS_SECONDS = 60.0
# Items that wait for an endpoint make room for others, up to this multiple of the calls in flight.
MOST_OPEN = 3
# Calls in flight are already paid for, so they get a short grace period when the worker is asked to
# stop.
GRACE_SECONDS = 10.0
# Advice if half of the first items have no score, and if many in a row fail.
AFTER_THE_FIRST = "Change the judge, retry, or resume the run to judge the others all the same."
AFTER_A_ROW = "Fix the cause, then resume the run and retry the failed items."
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
                await share.database.call(results.store_each, share.run, batch, share.worker)
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
            await share.database.call(results.count_up, share.run.pk, self._calls.spent.taken())
        if wait != self._wait_shown:
            self._wait_shown = wait
            await share.database.call(results.note_wait, share.run.pk, wait.until, wait.reason)

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


class EndpointWork:
    """The slots of a worker that calls an endpoint: each takes the next item and judges it."""

    def __init__(
        self, share: RunShare, questions: RunQuestions, client: Client, policy: RetryPolicy
    ) -> None:
        self.share = share
        self.questions = questions
        self.slots = questions.frozen.concurrency
        self.feeder = Feeder(share, questions, self.slots)
        self.calls = OutgoingCalls(share, questions, client, self.slots)
        self.asking = Asking(share, questions, self.calls, policy, rest=self._wait_while_others_run)
        self.writer = Writer(share, self.feeder, self.calls, self.asking)
        self.judging: set[asyncio.Task[Any]] = set()
        self.first_items: FirstItems | None = None
        self.failures = FailuresInARow()

    async def judge_all(self) -> None:
        """Judge until no item is free; release unfinished items if the run stops."""
        database = self.share.database
        await database.call(self.questions.read_criteria)
        self.first_items = await database.call(
            first_items_of, self.share.run, self.questions.settings
        )
        await self.asking.begin()
        await self.calls.share_out()
        await self.calls.look_up()
        writing = asyncio.create_task(self.writer.write())
        ending: asyncio.Task[None] | None = None
        try:
            async with asyncio.TaskGroup() as group:
                self.group = group
                feeding = group.create_task(self.feeder.feed())
                for _ in range(self.slots):
                    self._start_judging(self._judge_items())
                ending = asyncio.create_task(self._end_calls(feeding, writing))
        finally:
            if ending:
                ending.cancel()
            self.writer.end()
            await writing
        await self.share.leave()

    def _start_judging(self, work: Coroutine[Any, Any, object]) -> None:
        task = self.group.create_task(work)
        self.judging.add(task)
        task.add_done_callback(self.judging.discard)

    async def _end_calls(self, feeding: asyncio.Task[None], writing: asyncio.Task[None]) -> None:
        """Cancel calls that are still in flight after the grace period of a worker that was asked
        to stop.

        If the writer failed, cancel at once: no further result could be stored.
        """
        stopping = asyncio.create_task(self.share.stop_requested.wait())
        try:
            await asyncio.wait({stopping, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if not writing.done():
            await asyncio.wait({feeding, *self.judging}, timeout=GRACE_SECONDS)
        for task in (feeding, *self.judging):
            task.cancel()

    async def _wait_while_others_run(self, seconds: float) -> None:
        """Wait for an endpoint while another item is judged in place of this one."""
        if len(self.judging) < MOST_OPEN * self.slots and not self.share.stopped.is_set():
            self._start_judging(self._judge_next())
        await self.share.rest(seconds)

    async def _judge_items(self) -> None:
        while await self._judge_next():
            pass

    async def _judge_next(self) -> bool:
        """Judge one item; return False if none is left."""
        waiting = await self.feeder.next()
        if waiting is None:
            return False
        await self._judge_one(waiting)
        return True

    async def _judge_one(self, waiting: Waiting) -> None:
        if self.share.stopped.is_set():
            return
        try:
            done = await self._judge(waiting)
        except StoppedError:
            return
        except Exception as error:  # whatever happens to one item, the others continue
            log.exception("item failed unexpectedly", item=waiting.item.id, run=self.share.run.pk)
            done = results.FinishedItem(
                waiting.item, "", Failure(Reason.UNFORESEEN, results.reason_of(error))
            )
        if done:
            self.writer.add(done)
            if why := self.failures.note(done.outcome):
                self.share.stop(f"{why} {AFTER_A_ROW}", fails=True)
            if self.first_items and (why := self.first_items.note(done.outcome)):
                self.share.stop(f"{why} {AFTER_THE_FIRST}", fails=True)

    def _is_of_this_try(self, reply: ModelReply) -> bool:
        """Whether an unscored stored reply is from the current attempt, that is, since the run was
        started or last resumed. An older one is asked for again."""
        run = self.share.run
        return reply.created_at >= (run.resumed_at or run.created_at)

    async def _judge(self, waiting: Waiting) -> results.FinishedItem | None:
        """Return one item's result; None if the run stops here."""
        item, question, key = waiting.item, waiting.question, waiting.key
        if isinstance(question, Failure):
            return results.FinishedItem(item, "", question)
        if waiting.stored:
            answers = [results.answer_from(waiting.stored)]
            outcome = self.questions.score_again(answers, question)
            if isinstance(outcome, Scored) or self._is_of_this_try(waiting.stored):
                return results.FinishedItem(item, key, outcome, stored_reply=waiting.stored.pk)
        try:
            judgement, is_ours = await self.asking.ask(key, question)
        except EndpointError as error:
            if error.kind.stops_run:
                self.share.stop(error.message, after=error)
                return None
            reason = Reason.CONTEXT if error.kind == ErrorKind.CONTEXT_LENGTH else Reason.ENDPOINT
            return results.FinishedItem(item, "", Failure(reason, f"{error.kind}: {error.message}"))
        if is_ours:
            return results.FinishedItem(item, key, judgement.outcome, judgement)
        # Items with the same prompt (the same text, or criteria that are rated together) share one
        # stored call; each reads its own score in the answer.
        outcome = self.questions.score_again(judgement.answers, question)
        return results.FinishedItem(item, key, outcome)


def first_items_of(run: EvaluationRun, settings: RequestSettings) -> FirstItems | None:
    """Return the watch over a run's first items.

    None if the run has only a few items; if its first items are judged, so that a resumed run
    continues; and for runs of searches and studies, which report failures themselves.
    """
    if not run.counts or run.items.all()[: FIRST_ITEMS + 1].count() <= FIRST_ITEMS:
        return None
    finished = run.items.filter(state__in=(ItemState.DONE, ItemState.FAILED))
    return None if finished[:FIRST_ITEMS].count() >= FIRST_ITEMS else FirstItems(settings)
