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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from evaluations.judging import work
from evaluations.judging.calls import Answer, RetryPolicy, ask_until_answered
from evaluations.judging.endpoints import ChatRequest, Client, EndpointError
from evaluations.judging.judgement import (
    Judgement,
    JudgeSettings,
    Question,
    first_request,
    judge,
    score_choices,
)
from evaluations.judging.parsing import Failure, Reason
from evaluations.judging.prompts import PromptError, render
from evaluations.judging.replies import choices_from_json
from evaluations.judging.run import (
    claim_preparation,
    close_if_finished,
    lay_out_run,
    missing_steps,
    pause_run,
    write_steps,
)
from evaluations.judging.scoring import Scored
from evaluations.judging.steps import StepsError
from evaluations.models import EvaluationRun, ModelReply, RunState
from evaluations.scales import Scale

FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
DATABASE_PATIENCE_SECONDS = 120.0
REMEMBERED_QUESTIONS = 1000

Result = TypeVar("Result")


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
        if run is None or not run.is_active or run.judge.endpoint is None:
            return
        endpoint = run.judge.endpoint
        async with Client(endpoint.base_url, endpoint.api_key, timeout=run.parameters["timeout_seconds"]) as client:
            if run.state == RunState.PREPARING:
                if not await database.call(lambda: claim_preparation(run_id)):
                    return
                try:
                    wanted = await database.call(lambda: missing_steps(run))
                    written = await write_steps(wanted, client, policy)
                except (EndpointError, StepsError) as error:
                    text = str(error)
                    await database.call(lambda: pause_run(run_id, text))
                    return
                await database.call(lambda: lay_out_run(run_id, written))
            await RunWorker(run, worker, client, policy, database, leaving).judge_all()
    finally:
        await database.close()


class Database:
    """The ORM from a coroutine: one thread, one connection, patience when the server restarts."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")

    async def call(self, function: Callable[[], Result]) -> Result:
        """Run a function in the database thread; it must be one that may be repeated."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, functools.partial(_patiently, function))

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, _close_connection)
        self._thread.shutdown()


def _close_connection() -> None:
    """Close the calling thread's connection: `connection` stands for another one in each thread."""
    connection.close()


def _patiently(function: Callable[[], Result]) -> Result:
    deadline = time.monotonic() + DATABASE_PATIENCE_SECONDS
    while True:
        try:
            close_old_connections()
            return function()
        except (OperationalError, InterfaceError):
            if time.monotonic() > deadline:
                raise
            with contextlib.suppress(DatabaseError):
                connection.close()
            time.sleep(0.5)


@dataclass(frozen=True)
class Waiting:
    """A claimed item with its question (or why there is none) and the stored answer, if it was asked before."""

    item: work.ClaimedItem
    question: Question | Failure
    key: str = ""
    stored: ModelReply | None = None


class RunWorker:
    """One worker's share of one run that is laid out."""

    def __init__(
        self,
        run: EvaluationRun,
        worker: str,
        client: Client,
        policy: RetryPolicy,
        database: Database,
        leaving: Callable[[], bool],
    ) -> None:
        self.run = run
        self.leaving = leaving
        self.worker = worker
        self.client = client
        self.policy = policy
        self.database = database
        settings = run.parameters
        self.settings = JudgeSettings(
            model=settings["model"],
            mode=settings["mode"],
            samples=settings["samples"],
            temperature=settings["temperature"],
            max_tokens=settings["max_tokens"],
        )
        self.slots: int = settings["concurrency"]
        self.questions: dict[int, tuple[str, str, Scale]] = {}
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
        self.questions = await self.database.call(self._load_questions)
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

    def _load_questions(self) -> dict[int, tuple[str, str, Scale]]:
        entries = self.run.run_criteria.select_related("criterion")
        return {entry.criterion_id: (entry.template, entry.criterion.name, entry.criterion.scale) for entry in entries}

    def _leave(self) -> None:
        work.give_back(self.run.pk, self.worker)
        close_if_finished(self.run.pk)

    async def _feed(self) -> None:
        """Claim before slots run dry; end when nothing is free."""
        last_id = 0
        while not self.stopped.is_set():
            claimed = await self.database.call(functools.partial(self._claim, last_id))
            if not claimed and last_id:
                last_id = 0  # once more from the beginning: leases of lost workers may have run out
                continue
            if not claimed:
                break
            last_id = claimed[-1].item.id
            for waiting in claimed:
                self.in_hand.add(waiting.item.id)
                self.waiting.put_nowait(waiting)
            while self.waiting.qsize() > self.slots and not self.stopped.is_set():
                self.wants_more.clear()
                await self.wants_more.wait()
        for _ in range(self.slots):
            self.waiting.put_nowait(None)

    def _claim(self, after_id: int) -> list[Waiting]:
        items = work.claim(self.run.pk, self.worker, most=max(2 * self.slots, 20), after_id=after_id)
        waiting = [self._as_waiting(item) for item in items]
        since = self.run.created_at if self.run.parameters["fresh"] else None
        keys = [entry.key for entry in waiting if entry.key]
        replies = work.stored_replies(self.run.project_id, keys, since=since)
        return [replace(entry, stored=replies.get(entry.key)) for entry in waiting]

    def _as_waiting(self, item: work.ClaimedItem) -> Waiting:
        template, criterion, scale = self.questions[item.criterion_id]
        try:
            question = Question(render(template, item.texts), criterion, scale)
        except PromptError as error:
            return Waiting(item, Failure(Reason.PROMPT, str(error)))
        request = first_request(self.settings, question.prompt)
        return Waiting(item, question, work.request_key(self.client.base_url, request))

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
            outcome = score_choices([_answer_from(waiting.stored)], question, self.settings.mode)
            return work.FinishedItem(item, key, outcome, stored_reply=waiting.stored.pk)
        try:
            judgement, is_ours = await self._ask_once(key, question)
        except EndpointError as error:
            if error.kind.stops_run:
                self._stop(error.message)
                return None
            return work.FinishedItem(item, "", Failure(Reason.ENDPOINT, f"{error.kind}: {error.message}"))
        # Of two outputs with the same text one call is made and stored; the other shares its outcome.
        return work.FinishedItem(item, key, judgement.outcome, judgement if is_ours else None)

    async def _ask_once(self, key: str, question: Question) -> tuple[Judgement, bool]:
        """Ask, or share the same question that was asked a moment ago; True if the call was this item's own."""
        if key in self.asked:
            return await asyncio.shield(self.asked[key]), False
        future = self.asked[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await judge(question, self.settings, self._ask)
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

    async def _ask(self, request: ChatRequest) -> Answer:
        return await ask_until_answered(self.client.chat, request, policy=self.policy)

    def _stop(self, message: str) -> None:
        self.stop_message = self.stop_message or message
        self.stopped.set()
        self.wants_more.set()

    async def _write(self) -> None:
        """Store finished items every moment, renew leases, and notice that the run was paused."""
        renewed = time.monotonic()
        while True:
            is_last = self.all_judged.is_set()
            if self.finished:
                batch, self.finished = self.finished[:FLUSH_ITEMS], self.finished[FLUSH_ITEMS:]
                await self.database.call(
                    functools.partial(work.store, self.run.pk, self.run.project_id, batch, self.worker)
                )
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


def _answer_from(stored: ModelReply) -> Answer:
    return Answer(
        choices=choices_from_json(stored.choices),
        model=stored.model,
        request_id=stored.request_id,
        prompt_tokens=0,
        completion_tokens=0,
        calls=0,
        seconds=0.0,
    )
