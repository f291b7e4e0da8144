"""What one worker does for a run: claim ahead, keep many calls in flight, write results in bulk,
stop in order.

Three kinds of coroutines share one event loop: a feeder that claims items before they are needed, a
slot for each call in flight, and a writer that stores what is finished every moment. Database work
happens in one thread of its own, so that calls never wait for it, and is repeated when the database
goes away for a while.
"""

import asyncio
import contextlib
import datetime
import functools
import logging
import time
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.evaluators.base import EvaluatorError, LocalEvaluator, SettingsError
from evaluations.evaluators.registry import make_evaluator
from evaluations.judges.clients import client_for
from evaluations.judges.steps import StepsError, read_steps
from evaluations.llm.calls import Answer, RetryPolicy, ask_until_answered
from evaluations.llm.cost import estimated_tokens
from evaluations.llm.endpoints import Client, EndpointError, ErrorKind, Request
from evaluations.llm.judgement import Judgement
from evaluations.llm.metering import Spent, ask_counted
from evaluations.llm.parsing import Failure, Reason
from evaluations.llm.replies import Reply
from evaluations.llm.scoring import Scored
from evaluations.llm.throttle import Throttle
from evaluations.models import EvaluationRun, ModelReply, RunState, Transport
from evaluations.runs import leases
from evaluations.runs.batches import advance_batches
from evaluations.runs.database import Database, DatabaseAwayError, DiskFullError
from evaluations.runs.item_questions import Asked, criteria_asked, item_of, settings_of
from evaluations.runs.lifecycle import (
    claim_preparation,
    close_if_finished,
    evaluator_of,
    lay_out_run,
    leave_preparation,
    missing_steps,
    pause_run,
)
from evaluations.runs.local import evaluate_items
from evaluations.runs.quota import Grant, Limits, Permits, take
from evaluations.runs.shift import Shift

FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
REMEMBERED_QUESTIONS = 1000
# What is paid already is worth a moment when the worker is told to stop; whoever stops it will not
# wait for long.
GRACE_SECONDS = 10.0
# When so many items in a row come to nothing for reasons that are not their own, a person should
# look.
FAILURES_IN_A_ROW = 20
# A shorter wait is over before anybody reads of it.
SHOWN_WAIT_SECONDS = 2.0
log = logging.getLogger(__name__)


class StoppedError(Exception):
    """The run stopped while a call waited for its turn."""


def work_on_run(
    run_id: int,
    worker: str,
    *,
    policy: RetryPolicy | None = None,
    shift: Shift | None = None,
) -> None:
    """Prepare a run if nobody does, judge its items until none is free, and close it if that was
    the last.

    Args:
        worker: a name no other worker has.
        shift: when to give back what it holds and end.

    May be called for the same run by many workers, and twice by one, without harm. Endpoint errors
    that every item would meet pause the run with their message, and so do errors that nobody
    foresaw: no run goes on for ever.

    Raises:
        DatabaseAwayError: the database was away for too long; whoever notices calls again.
    """
    asyncio.run(_work_guarded(run_id, worker, policy or RetryPolicy(), shift or Shift()))


async def _work_guarded(run_id: int, worker: str, policy: RetryPolicy, shift: Shift) -> None:
    database = Database()
    try:
        await _work(run_id, worker, policy, shift, database)
    except Exception as error:
        if _holds(error, DatabaseAwayError):
            raise
        text = str(_holds(error, DiskFullError) or "")
        if not text:
            log.exception("Run %s met an unexpected error.", run_id)
            text = (
                f"An unexpected error occurred ({leases.reason_of(error)}). Resume the run to try"
                " again; if it happens again, report it."
            )
        await _pause_with(database, run_id, worker, text)
    finally:
        await database.close()


def _holds(error: BaseException, kind: type[Exception]) -> BaseException | None:
    """The first error of a kind in a group, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := _holds(inner, kind))), None)
    return error if isinstance(error, kind) else None


async def _pause_with(database: Database, run_id: int, worker: str, text: str) -> None:
    """Pause a run with a message, and give back what this worker holds of it."""
    await database.call(lambda: pause_run(run_id, text))
    await database.call(lambda: leases.give_back(run_id, worker))


async def _work(
    run_id: int, worker: str, policy: RetryPolicy, shift: Shift, database: Database
) -> None:
    run = await database.call(
        lambda: EvaluationRun.objects.select_related("judge__endpoint").filter(pk=run_id).first()
    )
    if run is None or not run.is_active:
        return
    try:
        evaluator = make_evaluator(*evaluator_of(run))
        if isinstance(evaluator, LocalEvaluator):
            await _lay_out_and_compute(run, evaluator, worker, database, shift)
            return
        assert isinstance(evaluator, AskingEvaluator)
        endpoint, timeout = run.judge.endpoint, run.parameters["timeout_seconds"]
        assert endpoint is not None, "judges that ask have an endpoint"
        client = await database.call(lambda: client_for(endpoint, timeout=timeout))
    except (EndpointError, EvaluatorError, SettingsError) as error:
        await _pause_with(database, run_id, worker, str(error))
        return
    async with client:
        if run.state == RunState.PREPARING and not await _prepare(
            run, client, policy, database, shift
        ):
            return
        if run.transport == Transport.BATCH:
            await advance_batches(run, client, database)
        else:
            await RunWorker(run, evaluator, worker, client, policy, database, shift).judge_all()


async def _lay_out_and_compute(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, shift: Shift
) -> None:
    """A run of an evaluator that asks nobody."""
    if run.state == RunState.PREPARING:
        if not await database.call(lambda: claim_preparation(run.pk)):
            return
        await database.call(lambda: lay_out_run(run.pk, {}))
    await evaluate_items(run, evaluator, worker, database, shift)


async def _prepare(
    run: EvaluationRun, client: Client, policy: RetryPolicy, database: Database, shift: Shift
) -> bool:
    """Have missing steps written and lay the run out; False if another worker does, or if it had to
    be paused."""
    if not await database.call(lambda: claim_preparation(run.pk)):
        return False
    preparation = _Preparation(run.pk, client, database, shift)
    try:
        wanted = await database.call(lambda: missing_steps(run))
        answers = {pk: await preparation.ask(request, policy) for pk, request in wanted.items()}
        texts = {criterion_id: read_steps(answer) for criterion_id, answer in answers.items()}
    except (EndpointError, StepsError) as error:
        text = str(error)
        await database.call(lambda: pause_run(run.pk, text))
        return False
    except StoppedError:
        await database.call(lambda: leave_preparation(run.pk))
        return False
    await database.call(lambda: lay_out_run(run.pk, texts))
    return True


class _Preparation:
    """Calls before a run has items: counted, and their waits shown and ended, as those for items
    are."""

    def __init__(self, run_id: int, client: Client, database: Database, shift: Shift) -> None:
        self.run_id = run_id
        self.client = client
        self.database = database
        self.shift = shift
        self.spent = Spent()

    async def ask(self, request: Request, policy: RetryPolicy) -> Answer:
        """Ask until it is answered.

        Raises:
            EndpointError: it is not.
            StoppedError: the run or the worker stopped meanwhile.
        """
        return await ask_until_answered(
            self._call, request, policy=policy, sleep=self._sleep, on_wait=self._note_wait
        )

    async def _call(self, request: Request) -> Reply:
        try:
            return await ask_counted(self.client, request, self.spent)
        finally:
            await self.database.call(
                functools.partial(leases.count_up, self.run_id, self.spent.taken())
            )

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        self.wait = Wait(timezone.now() + datetime.timedelta(seconds=seconds), error.message)

    async def _sleep(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        if seconds >= SHOWN_WAIT_SECONDS:
            await self.database.call(
                functools.partial(leases.note_wait, self.run_id, self.wait.until, self.wait.reason)
            )
        while (left := ends - time.monotonic()) > 0:
            if not await self.database.call(self._goes_on):
                raise StoppedError
            await asyncio.sleep(min(left, FLUSH_SECONDS))

    def _goes_on(self) -> bool:
        preparing = EvaluationRun.objects.filter(pk=self.run_id, state=RunState.PREPARING)
        return not self.shift.is_over and preparing.exists()


@dataclass(frozen=True)
class Waiting:
    """A claimed item with its question (or why there is none) and the stored answer, if it was
    asked before."""

    item: leases.ClaimedItem
    question: Any | Failure
    key: str = ""
    stored: ModelReply | None = None


@dataclass(frozen=True)
class Wait:
    """Until when calls wait, and after what the endpoint said."""

    until: datetime.datetime | None = None
    reason: str = ""


@dataclass(frozen=True)
class _Claimed:
    """What a claim brought; `too_dear` if items are free, but the budget does not allow one."""

    waiting: list[Waiting]
    too_dear: bool = False


class RunWorker:
    """One worker's share of one run that is laid out."""

    def __init__(
        self,
        run: EvaluationRun,
        evaluator: AskingEvaluator,
        worker: str,
        client: Client,
        policy: RetryPolicy,
        database: Database,
        shift: Shift,
    ) -> None:
        self.run = run
        self.evaluator = evaluator
        self.shift = shift
        self.worker = worker
        self.client = client
        self.policy = policy
        self.database = database
        self.settings = settings_of(run)
        self.slots: int = run.parameters["concurrency"]
        self.throttle = Throttle(self.slots)
        self.permits: Permits | None = None
        self.spent = Spent()
        self.asked_criteria: dict[int, Asked] = {}
        self.waiting: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.finished: list[leases.FinishedItem] = []
        self.in_hand: set[int] = set()
        self.asked: dict[str, asyncio.Future[Judgement]] = {}
        self.stopped = asyncio.Event()
        self.wants_more = asyncio.Event()
        self.all_judged = asyncio.Event()
        self.stop_message = ""
        self.told_to_stop = asyncio.Event()
        self.failed_in_a_row = 0
        self.wait = Wait()
        self.wait_shown = Wait()

    async def judge_all(self) -> None:
        """Judge until nothing is free; give back what is in hand if the run stops."""
        self.asked_criteria = await self.database.call(lambda: criteria_asked(self.run))
        self.permits = self._permits()
        writer = asyncio.create_task(self._write())
        ending: asyncio.Task[None] | None = None
        try:
            async with asyncio.TaskGroup() as group:
                feeder = group.create_task(self._feed())
                slots = [group.create_task(self._judge_items()) for _ in range(self.slots)]
                ending = asyncio.create_task(self._end_calls([feeder, *slots], writer))
        finally:
            if ending:
                ending.cancel()
            self.all_judged.set()
            await writer
        if self.stop_message:
            await self.database.call(lambda: pause_run(self.run.pk, self.stop_message))
        await self.database.call(self._leave)

    async def _end_calls(self, slots: list[asyncio.Task[None]], writer: asyncio.Task[None]) -> None:
        """Give up calls that are still in flight some moments after the worker was told to stop.

        A writer that failed ends everything at once: nothing that is asked from then on would be
        kept.
        """
        told = asyncio.create_task(self.told_to_stop.wait())
        await asyncio.wait({told, writer}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if not writer.done():
            await asyncio.wait(slots, timeout=GRACE_SECONDS)
        for slot in slots:
            slot.cancel()

    def _permits(self) -> Permits | None:
        """What keeps this worker within the endpoint's limits, if it has any."""
        endpoint = self.run.judge.endpoint
        assert endpoint is not None
        limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        if not limits.any:
            return None
        tokens_each = (
            estimated_tokens(self.run.parameters.get("characters_each", 4000))
            + self.settings.max_tokens
        )

        async def ask(handful: int) -> Grant:
            return await self.database.call(
                functools.partial(
                    take, endpoint.pk, limits, wanted=handful, tokens_each=tokens_each
                )
            )

        return Permits(ask, handful=max(1, self.slots // 4), sleep=self._sleep)

    def _leave(self) -> None:
        leases.give_back(self.run.pk, self.worker)
        close_if_finished(self.run.pk)

    async def _feed(self) -> None:
        """Claim before slots run dry; end when nothing is free, or when the budget allows no
        more."""
        last_id = 0
        while not self.stopped.is_set():
            claimed = await self.database.call(functools.partial(self._claim, last_id))
            if claimed.too_dear:
                if not await self._wait_for_money():
                    break
                continue
            if not claimed.waiting and last_id:
                last_id = 0  # once more from the beginning: leases of lost workers may have run out
                continue
            if not claimed.waiting:
                break
            last_id = claimed.waiting[-1].item.id
            for waiting in claimed.waiting:
                self.in_hand.add(waiting.item.id)
                self.waiting.put_nowait(waiting)
            while self.waiting.qsize() > self.slots and not self.stopped.is_set():
                self.wants_more.clear()
                await self.wants_more.wait()
        for _ in range(self.slots):
            self.waiting.put_nowait(None)

    async def _wait_for_money(self) -> bool:
        """Wait while items in hand may cost less than was set aside for them; False if there are
        none any more."""
        if await self.database.call(functools.partial(leases.is_being_worked_on, self.run.pk)):
            await asyncio.sleep(FLUSH_SECONDS)
            return True
        self._stop(
            f"The budget of {self.run.budget:f} would be passed by the next item. Raise it to"
            " go on."
        )
        return False

    def _claim(self, after_id: int) -> _Claimed:
        most = max(2 * self.slots, 20)
        if self.run.budget is None:
            items, too_dear = (
                leases.claim(self.run.pk, self.worker, most=most, after_id=after_id),
                False,
            )
        else:
            items, too_dear = leases.claim_within_budget(
                self.run.pk, self.worker, most=most, after_id=after_id
            )
        waiting = [self._as_waiting(item) for item in items]
        since = self.run.created_at if self.run.parameters["fresh"] else None
        keys = [entry.key for entry in waiting if entry.key]
        replies = leases.stored_replies(self.run.project_id, keys, since=since)
        return _Claimed(
            [replace(entry, stored=replies.get(entry.key)) for entry in waiting], too_dear
        )

    def _as_waiting(self, item: leases.ClaimedItem) -> Waiting:
        seen, about = item_of(item, self.asked_criteria)
        question = self.evaluator.question(seen, about.scale, self.settings)
        if isinstance(question, Failure):
            return Waiting(item, question)
        requests = self.evaluator.requests(question, self.settings)
        return Waiting(item, question, leases.request_key(self.client.base_url, *requests))

    async def _judge_items(self) -> None:
        while (waiting := await self.waiting.get()) is not None:
            if self.waiting.qsize() <= self.slots:
                self.wants_more.set()
            if self.stopped.is_set():
                continue
            try:
                done = await self._judge(waiting)
            except StoppedError:
                continue
            except Exception as error:  # whatever one item does, the others go on
                log.exception(
                    "Item %s of run %s met an unexpected error.", waiting.item.id, self.run.pk
                )
                done = leases.FinishedItem(
                    waiting.item, "", Failure(Reason.UNFORESEEN, leases.reason_of(error))
                )
            if done:
                self.finished.append(done)
                self._count_failures(done.outcome)

    def _count_failures(self, outcome: Scored | Failure) -> None:
        """Stop where items fail one after the other for reasons that lie outside of them."""
        if not isinstance(outcome, Failure) or outcome.reason not in (
            Reason.ENDPOINT,
            Reason.UNFORESEEN,
        ):
            self.failed_in_a_row = 0
            return
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= FAILURES_IN_A_ROW:
            self._stop(
                f"{self.failed_in_a_row} items in a row failed, the last one with: {outcome.detail}"
                " Fix the cause, then resume the run and retry the failed items."
            )

    async def _judge(self, waiting: Waiting) -> leases.FinishedItem | None:
        """One item's result; None if the run stops here."""
        item, question, key = waiting.item, waiting.question, waiting.key
        if isinstance(question, Failure):
            return leases.FinishedItem(item, "", question)
        if waiting.stored:
            outcome = self.evaluator.score_again(
                [leases.answer_from(waiting.stored)], question, self.settings
            )
            return leases.FinishedItem(item, key, outcome, stored_reply=waiting.stored.pk)
        try:
            judgement, is_ours = await self._ask_once(key, question)
        except EndpointError as error:
            if error.kind.stops_run:
                self._stop(error.message)
                return None
            reason = Reason.CONTEXT if error.kind == ErrorKind.CONTEXT_LENGTH else Reason.ENDPOINT
            return leases.FinishedItem(item, "", Failure(reason, f"{error.kind}: {error.message}"))
        # Of two outputs with the same text one call is made and stored; the other shares its
        # outcome.
        return leases.FinishedItem(item, key, judgement.outcome, judgement if is_ours else None)

    async def _ask_once(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, or share the same question that was asked a moment ago; True if the call was this
        item's own."""
        if key in self.asked:
            return await asyncio.shield(self.asked[key]), False
        future = self.asked[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self.evaluator.judge(question, self.settings, self._ask)
        except BaseException as error:
            del self.asked[key]
            future.set_exception(error)
            future.exception()  # waiting items, if any, get it; nobody waiting is fine
            del (
                future
            )  # it and the error's traceback would keep each other, and the reply, for long
            raise
        future.set_result(judgement)
        if not isinstance(judgement.outcome, Scored):
            del self.asked[key]
        while len(self.asked) > self.slots + REMEMBERED_QUESTIONS:
            self.asked.pop(next(iter(self.asked)))  # older ones are in the store by now
        return judgement, True

    async def _ask(self, request: Request) -> Answer:
        return await ask_until_answered(
            self._call, request, policy=self.policy, sleep=self._sleep, on_wait=self._note_wait
        )

    async def _call(self, request: Request) -> Reply:
        """One call, when the throttle and the endpoint's limits let it out; counted before its
        reply is used."""
        async with self.throttle:
            if self.permits:
                await self.permits.one()
            if self.stopped.is_set():
                raise StoppedError
            try:
                reply = await ask_counted(self.client, request, self.spent)
            except EndpointError as error:
                if error.kind == ErrorKind.RATE_LIMIT:
                    self.throttle.was_limited()
                raise
        self.throttle.succeeded()
        return reply

    async def _sleep(self, seconds: float) -> None:
        """Wait, unless the run stops in the meantime.

        Raises:
            StoppedError: it did.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)
            raise StoppedError

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        """Remember the longest wait, so that the run's page can say what it waits for."""
        until = timezone.now() + datetime.timedelta(seconds=seconds)
        if seconds >= SHOWN_WAIT_SECONDS and (self.wait.until is None or until > self.wait.until):
            self.wait = Wait(until, error.message)

    def _stop(self, message: str) -> None:
        self.stop_message = self.stop_message or message
        self.stopped.set()
        self.wants_more.set()

    async def _write(self) -> None:
        """Store finished items every moment, renew leases, and notice that the run was paused."""
        renewed = time.monotonic()
        while True:
            is_last = self.all_judged.is_set()
            await self._count()
            if self.finished:
                batch, self.finished = self.finished[:FLUSH_ITEMS], self.finished[FLUSH_ITEMS:]
                await self.database.call(
                    functools.partial(leases.store_each, self.run, batch, self.worker)
                )
                for entry in batch:
                    self.in_hand.discard(entry.item.id)
                if self.finished:
                    continue
            if is_last:
                return
            if time.monotonic() - renewed > leases.LEASE_SECONDS / 4:
                renewed = time.monotonic()
                held = list(self.in_hand)
                await self.database.call(functools.partial(leases.renew_leases, held, self.worker))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.all_judged.wait(), FLUSH_SECONDS)
            if not self.told_to_stop.is_set():
                await self._look_up()

    async def _count(self) -> None:
        """Add what was spent, and what is waited for, to the run's row."""
        if self.spent.any:
            await self.database.call(
                functools.partial(leases.count_up, self.run.pk, self.spent.taken())
            )
        if self.wait != self.wait_shown:
            self.wait_shown = self.wait
            await self.database.call(
                functools.partial(leases.note_wait, self.run.pk, self.wait.until, self.wait.reason)
            )

    async def _look_up(self) -> None:
        """See whether this worker is to leave, and whether the run goes on."""
        told, goes_on = await self.database.call(self._told_and_going)
        if told:
            self.told_to_stop.set()
        if told or not goes_on:
            self._stop("")

    def _told_and_going(self) -> tuple[bool, bool]:
        running = EvaluationRun.objects.filter(pk=self.run.pk, state=RunState.RUNNING)
        return self.shift.told_to_stop(), not self.shift.is_over and running.exists()
