"""What one worker does for a run: claim ahead, keep many calls in flight, write results in bulk, stop in order.

Three kinds of coroutines share one event loop: a feeder that claims items before they are needed, a slot for each
call in flight, and a writer that stores what is finished every moment. Database work happens in one thread of its
own, so that calls never wait for it, and is repeated when the database goes away for a while.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.evaluators.base import EvaluatorError, LocalEvaluator, SettingsError
from evaluations.evaluators.registry import make_evaluator
from evaluations.judging import work
from evaluations.judging.batches import advance_batches
from evaluations.judging.calls import Answer, RetryPolicy, ask_until_answered
from evaluations.judging.clients import client_for
from evaluations.judging.cost import estimated_tokens
from evaluations.judging.database import Database
from evaluations.judging.endpoints import Client, EndpointError, ErrorKind, Request
from evaluations.judging.judgement import Judgement
from evaluations.judging.local import evaluate_items
from evaluations.judging.parsing import Failure, Reason
from evaluations.judging.questions import Asked, criteria_asked, item_of, settings_of
from evaluations.judging.quota import Grant, Limits, Permits, take
from evaluations.judging.replies import Reply
from evaluations.judging.run import (
    claim_preparation,
    close_if_finished,
    evaluator_of,
    lay_out_run,
    missing_steps,
    pause_run,
    write_steps,
)
from evaluations.judging.scoring import Scored
from evaluations.judging.steps import StepsError, read_steps
from evaluations.judging.throttle import Throttle
from evaluations.models import EvaluationRun, ModelReply, RunState, Transport

FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
REMEMBERED_QUESTIONS = 1000


def work_on_run(
    run_id: int,
    worker: str,
    *,
    policy: RetryPolicy | None = None,
    leaving: Callable[[], bool] = lambda: False,
) -> None:
    """Prepare a run if nobody does, judge its items until none is free, and close it if that was the last.

    Args:
        worker: a name no other worker has.
        leaving: asked every moment, in the database thread; once true the worker gives back what it holds and ends.

    May be called for the same run by many workers, and twice by one, without harm. Endpoint errors that every item
    would meet pause the run with their message.
    """
    asyncio.run(_work(run_id, worker, policy or RetryPolicy(), leaving))


async def _work(run_id: int, worker: str, policy: RetryPolicy, leaving: Callable[[], bool]) -> None:
    database = Database()
    try:
        run = await database.call(
            lambda: EvaluationRun.objects.select_related("judge__endpoint").filter(pk=run_id).first()
        )
        if run is None or not run.is_active:
            return
        try:
            evaluator = make_evaluator(*evaluator_of(run))
            if isinstance(evaluator, LocalEvaluator):
                await _lay_out_and_compute(run, evaluator, worker, database, leaving)
                return
            assert isinstance(evaluator, AskingEvaluator)
            endpoint, timeout = run.judge.endpoint, run.parameters["timeout_seconds"]
            assert endpoint is not None, "judges that ask have an endpoint"
            client = await database.call(lambda: client_for(endpoint, timeout=timeout))
        except (EndpointError, EvaluatorError, SettingsError) as error:
            text = str(error)
            await database.call(lambda: pause_run(run_id, text))
            return
        async with client:
            if run.state == RunState.PREPARING and not await _prepare(run, client, policy, database):
                return
            if run.transport == Transport.BATCH:
                await advance_batches(run, client, database)
            else:
                await RunWorker(run, evaluator, worker, client, policy, database, leaving).judge_all()
    finally:
        await database.close()


async def _lay_out_and_compute(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, leaving: Callable[[], bool]
) -> None:
    """A run of an evaluator that asks nobody."""
    if run.state == RunState.PREPARING:
        if not await database.call(lambda: claim_preparation(run.pk)):
            return
        await database.call(lambda: lay_out_run(run.pk, {}))
    await evaluate_items(run, evaluator, worker, database, leaving)


async def _prepare(run: EvaluationRun, client: Client, policy: RetryPolicy, database: Database) -> bool:
    """Have missing steps written and lay the run out; False if another worker does, or if it had to be paused."""
    if not await database.call(lambda: claim_preparation(run.pk)):
        return False
    try:
        wanted = await database.call(lambda: missing_steps(run))
        answers = await write_steps(wanted, client, policy)
        texts = {criterion_id: read_steps(answer) for criterion_id, answer in answers.items()}
    except (EndpointError, StepsError) as error:
        text = str(error)
        await database.call(lambda: pause_run(run.pk, text))
        return False
    paid = list(answers.values())
    await database.call(lambda: work.count_up(run.pk, paid, calls=sum(answer.calls for answer in paid)))
    await database.call(lambda: lay_out_run(run.pk, texts))
    return True


@dataclass(frozen=True)
class Waiting:
    """A claimed item with its question (or why there is none) and the stored answer, if it was asked before."""

    item: work.ClaimedItem
    question: Any | Failure
    key: str = ""
    stored: ModelReply | None = None


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
        leaving: Callable[[], bool],
    ) -> None:
        self.run = run
        self.evaluator = evaluator
        self.leaving = leaving
        self.worker = worker
        self.client = client
        self.policy = policy
        self.database = database
        self.settings = settings_of(run)
        self.slots: int = run.parameters["concurrency"]
        self.throttle = Throttle(self.slots)
        self.permits: Permits | None = None
        self.calls = 0
        self.asked_criteria: dict[int, Asked] = {}
        self.waiting: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.finished: list[work.FinishedItem] = []
        self.in_hand: set[int] = set()
        self.asked: dict[str, asyncio.Future[Judgement]] = {}
        self.stopped = asyncio.Event()
        self.wants_more = asyncio.Event()
        self.all_judged = asyncio.Event()
        self.stop_message = ""

    async def judge_all(self) -> None:
        """Judge until nothing is free; give back what is in hand if the run stops."""
        self.asked_criteria = await self.database.call(lambda: criteria_asked(self.run))
        self.permits = self._permits()
        writer = asyncio.create_task(self._write())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._feed())
                for _ in range(self.slots):
                    group.create_task(self._judge_items())
        finally:
            self.all_judged.set()
            await writer
        if self.stop_message:
            await self.database.call(lambda: pause_run(self.run.pk, self.stop_message))
        await self.database.call(self._leave)

    def _permits(self) -> Permits | None:
        """What keeps this worker within the endpoint's limits, if it has any."""
        endpoint = self.run.judge.endpoint
        assert endpoint is not None
        limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        if not limits.any:
            return None
        tokens_each = estimated_tokens(self.run.parameters.get("characters_each", 4000)) + self.settings.max_tokens

        async def ask(handful: int) -> Grant:
            return await self.database.call(
                functools.partial(take, endpoint.pk, limits, wanted=handful, tokens_each=tokens_each)
            )

        return Permits(ask, handful=max(1, self.slots // 4))

    def _leave(self) -> None:
        work.give_back(self.run.pk, self.worker)
        close_if_finished(self.run.pk)

    async def _feed(self) -> None:
        """Claim before slots run dry; end when nothing is free, or when the budget allows no more."""
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
        """Wait while items in hand may cost less than was set aside for them; False if there are none any more."""
        if await self.database.call(functools.partial(work.is_being_worked_on, self.run.pk)):
            await asyncio.sleep(FLUSH_SECONDS)
            return True
        self._stop(f"The budget of {self.run.budget:f} would be passed by the next item. Raise it to go on.")
        return False

    def _claim(self, after_id: int) -> _Claimed:
        most = max(2 * self.slots, 20)
        if self.run.budget is None:
            items, too_dear = work.claim(self.run.pk, self.worker, most=most, after_id=after_id), False
        else:
            items, too_dear = work.claim_within_budget(self.run.pk, self.worker, most=most, after_id=after_id)
        waiting = [self._as_waiting(item) for item in items]
        since = self.run.created_at if self.run.parameters["fresh"] else None
        keys = [entry.key for entry in waiting if entry.key]
        replies = work.stored_replies(self.run.project_id, keys, since=since)
        return _Claimed([replace(entry, stored=replies.get(entry.key)) for entry in waiting], too_dear)

    def _as_waiting(self, item: work.ClaimedItem) -> Waiting:
        seen, about = item_of(item, self.asked_criteria)
        question = self.evaluator.question(seen, about.scale, self.settings)
        if isinstance(question, Failure):
            return Waiting(item, question)
        requests = self.evaluator.requests(question, self.settings)
        return Waiting(item, question, work.request_key(self.client.base_url, *requests))

    async def _judge_items(self) -> None:
        while (waiting := await self.waiting.get()) is not None:
            if self.waiting.qsize() <= self.slots:
                self.wants_more.set()
            if self.stopped.is_set():
                continue
            done = await self._judge(waiting)
            if done:
                self.finished.append(done)

    async def _judge(self, waiting: Waiting) -> work.FinishedItem | None:
        """One item's result; None if the run stops here."""
        item, question, key = waiting.item, waiting.question, waiting.key
        if isinstance(question, Failure):
            return work.FinishedItem(item, "", question)
        if waiting.stored:
            outcome = self.evaluator.score_again([work.answer_from(waiting.stored)], question, self.settings)
            return work.FinishedItem(item, key, outcome, stored_reply=waiting.stored.pk)
        try:
            judgement, is_ours = await self._ask_once(key, question)
        except EndpointError as error:
            if error.kind.stops_run:
                self._stop(error.message)
                return None
            reason = Reason.CONTEXT if error.kind == ErrorKind.CONTEXT_LENGTH else Reason.ENDPOINT
            return work.FinishedItem(item, "", Failure(reason, f"{error.kind}: {error.message}"))
        # Of two outputs with the same text one call is made and stored; the other shares its outcome.
        return work.FinishedItem(item, key, judgement.outcome, judgement if is_ours else None)

    async def _ask_once(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, or share the same question that was asked a moment ago; True if the call was this item's own."""
        if key in self.asked:
            return await asyncio.shield(self.asked[key]), False
        future = self.asked[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self.evaluator.judge(question, self.settings, self._ask)
        except BaseException as error:
            del self.asked[key]
            future.set_exception(error)
            future.exception()  # waiting items, if any, get it; nobody waiting is no fault
            raise
        future.set_result(judgement)
        if not isinstance(judgement.outcome, Scored):
            del self.asked[key]
        while len(self.asked) > self.slots + REMEMBERED_QUESTIONS:
            self.asked.pop(next(iter(self.asked)))  # older ones are in the store by now
        return judgement, True

    async def _ask(self, request: Request) -> Answer:
        return await ask_until_answered(self._call, request, policy=self.policy)

    async def _call(self, request: Request) -> Reply:
        """One call, when the throttle and the endpoint's limits let it out."""
        async with self.throttle:
            if self.permits:
                await self.permits.one()
            self.calls += 1
            try:
                reply = await self.client.ask(request)
            except EndpointError as error:
                if error.kind == ErrorKind.RATE_LIMIT:
                    self.throttle.was_limited()
                raise
        self.throttle.succeeded()
        return reply

    def _stop(self, message: str) -> None:
        self.stop_message = self.stop_message or message
        self.stopped.set()
        self.wants_more.set()

    async def _write(self) -> None:
        """Store finished items every moment, renew leases, and notice that the run was paused."""
        renewed = time.monotonic()
        while True:
            is_last = self.all_judged.is_set()
            if self.finished or self.calls:
                batch, self.finished = self.finished[:FLUSH_ITEMS], self.finished[FLUSH_ITEMS:]
                calls, self.calls = self.calls, 0
                await self.database.call(functools.partial(work.store, self.run, batch, self.worker, calls=calls))
                for entry in batch:
                    self.in_hand.discard(entry.item.id)
                if self.finished:
                    continue
            if is_last:
                return
            if time.monotonic() - renewed > work.LEASE_SECONDS / 4:
                renewed = time.monotonic()
                held = list(self.in_hand)
                await self.database.call(functools.partial(work.renew_leases, held, self.worker))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.all_judged.wait(), FLUSH_SECONDS)
            if not self.stopped.is_set() and not await self.database.call(self._may_go_on):
                self._stop("")

    def _may_go_on(self) -> bool:
        return not self.leaving() and EvaluationRun.objects.filter(pk=self.run.pk, state=RunState.RUNNING).exists()
