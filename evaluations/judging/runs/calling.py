"""The share of a worker that calls an endpoint: claim ahead, keep many calls in flight, write
results in bulk, stop in order.

Three kinds of coroutines share one event loop: a feeder that claims items before they are needed, a
slot for each call in flight, and a writer that stores what is finished every moment. Database work
happens in one thread of its own, so that calls never wait for it, and is repeated when the database
goes away for a while.
"""

import asyncio
import contextlib
import datetime
import functools
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any

import structlog
from django.utils import timezone

from evaluations.judging.judges.findings import keep_learned
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.first_items import FirstItems, first_items_of
from evaluations.judging.runs.in_flight import InFlight
from evaluations.judging.runs.lifecycle import BUDGET_REACHED
from evaluations.judging.runs.outages import LOST, REFUSING_FOR_NOW, ROUNDS, outage
from evaluations.judging.runs.pacer import Pacer
from evaluations.judging.runs.question_share import QuestionShare
from evaluations.judging.runs.quota import (
    Grant,
    Limits,
    Permits,
    Turn,
    exchange,
    known_pace,
    take,
)
from evaluations.judging.runs.share import StoppedError
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.waits import SHOWN_WAIT_SECONDS, Wait
from evaluations.models import EvaluationRun, ModelReply
from evaluations.people.limits import limits_money, money_reached, next_month
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.judgement import Judgement
from geval.llm.metering import Spent, ask_counted
from geval.llm.pacing import Pace, Seen
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import Reply
from geval.llm.requests import Request
from geval.llm.scoring import Scored
from geval.llm.server_fit import LearnedFit

FLUSH_SECONDS = 0.25
FLUSH_ITEMS = 200
REMEMBERED_QUESTIONS = 1000
# Items that wait for an endpoint make room for others, up to so many times the calls in flight.
MOST_OPEN = 3
SLOWNESS_SECONDS = 60.0
# Calls that are already paid for get a moment when the worker is asked to stop, but not long.
GRACE_SECONDS = 10.0
# When so many items in a row come to nothing for reasons that are not their own, a person should
# look.
FAILURES_IN_A_ROW = 20
log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class Waiting:
    """A claimed item with its question (or why there is none) and the stored answer, if it was
    asked before."""

    item: leases.ClaimedItem
    question: Any | Failure
    key: str = ""
    stored: ModelReply | None = None


class CallingShare(QuestionShare):
    """The share of a worker that calls an endpoint."""

    def __init__(
        self,
        run: EvaluationRun,
        evaluator: LlmEvaluator,
        worker: str,
        client: Client,
        policy: RetryPolicy,
        database: Database,
        shift: Shift,
    ) -> None:
        super().__init__(run, evaluator, worker, client, database, shift)
        self.policy = policy
        self.slots = self.frozen.concurrency
        self.in_flight = InFlight(0)  # until it has its part of the calls
        self.learned = LearnedFit(self.settings.fit)
        self.permits: Permits | None = None
        self.pacer = self._pacer()
        self.judging: set[asyncio.Task[Any]] = set()
        self.spent = Spent()
        self.waiting: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.finished: list[results.FinishedItem] = []
        self.judgements: dict[str, asyncio.Future[Judgement]] = {}
        self.too_dear = False
        self.month_is_limited = False
        self.wants_more = asyncio.Event()
        self.all_judged = asyncio.Event()
        self.failed_in_a_row = 0
        self.answers = 0
        self.answered: Request | None = None
        self.has_answered = False
        self.first_items: FirstItems | None = None
        self.wait = Wait()
        self.wait_shown = Wait()
        self.logs_at = time.monotonic() + SLOWNESS_SECONDS

    async def judge_all(self) -> None:
        """Judge until no item is free; release items that are not finished if the run stops."""
        await self.read_criteria()
        self.month_is_limited = await self.database.call(
            functools.partial(limits_money, self.run.project)
        )
        self.first_items = await self.database.call(
            functools.partial(first_items_of, self.run, self.settings)
        )
        self.has_answered = await self.database.call(
            self.run.items.filter(reply__isnull=False).exists
        )
        self.permits = await self.database.call(self._permits)
        await self._share_calls()
        await self.pacer.look_up()
        writer = asyncio.create_task(self._write())
        ending: asyncio.Task[None] | None = None
        try:
            async with asyncio.TaskGroup() as group:
                self.group = group
                feeder = group.create_task(self._feed())
                for _ in range(self.slots):
                    self._judge_apart(self._judge_items())
                ending = asyncio.create_task(self._end_calls(feeder, writer))
        finally:
            if ending:
                ending.cancel()
            self.all_judged.set()
            await writer
        await self.leave()

    def stop(
        self,
        message: str = "",
        *,
        after: EndpointError | None = None,
        until: datetime.datetime | None = None,
        gives_way: bool = False,
    ) -> None:
        super().stop(message, after=after, until=until, gives_way=gives_way)
        self.wants_more.set()
        # A run that is not served any more has no part of the calls: what waits would wait forever.
        self.in_flight.close(StoppedError)

    def _judge_apart(self, work: Coroutine[Any, Any, object]) -> None:
        task = self.group.create_task(work)
        self.judging.add(task)
        task.add_done_callback(self.judging.discard)

    async def _end_calls(self, feeder: asyncio.Task[None], writer: asyncio.Task[None]) -> None:
        """Give up calls that are still in flight some moments after the worker was asked to stop.

        A writer that failed ends everything at once: nothing that is asked from then on would be
        kept.
        """
        told = asyncio.create_task(self.told_to_stop.wait())
        await asyncio.wait({told, writer}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if not writer.done():
            await asyncio.wait({feeder, *self.judging}, timeout=GRACE_SECONDS)
        for task in (feeder, *self.judging):
            task.cancel()

    def _permits(self) -> Permits | None:
        """What keeps this worker within the endpoint's limits, if it has any."""
        endpoint = self.run.judge.endpoint
        assert endpoint is not None
        limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        if not limits.any:
            return None
        account = endpoint.account

        async def ask(handful: int) -> Grant:
            return await self.database.call(
                functools.partial(
                    take, account, limits, wanted=handful, tokens_each=self._tokens_each
                )
            )

        return Permits(ask, handful=max(1, self.slots // 4), sleep=self.rest)

    def _pacer(self) -> Pacer:
        """What keeps this worker, with all others, at the pace that the endpoint allows."""
        endpoint, model = self.run.judge.endpoint, self.frozen.model
        assert endpoint is not None
        account = endpoint.account

        async def tell(seen: Seen, wanted: int) -> Turn:
            return await self.database.call(
                functools.partial(exchange, account, model, seen, wanted=wanted)
            )

        async def look() -> Pace:
            return await self.database.call(functools.partial(known_pace, account, model))

        return Pacer(tell, look, tokens_each=self._tokens_each, most=self.slots, sleep=self.rest)

    @property
    def _tokens_each(self) -> int:
        """About how many tokens a call takes."""
        return estimated_tokens(self.frozen.characters_each) + self.settings.max_tokens

    async def _feed(self) -> None:
        """Claim before slots run dry; end when nothing is free, or when the budget allows no
        more."""
        while not self.stopped.is_set():
            claimed = await self.database.call(self._claim)
            if self.too_dear:
                if not await self._wait_for_money():
                    break
                continue
            if not claimed:
                break
            for waiting in claimed:
                self.waiting.put_nowait(waiting)
            while self.waiting.qsize() > self.slots and not self.stopped.is_set():
                self.wants_more.clear()
                await self.wants_more.wait()
        self.waiting.put_nowait(None)  # the end, which everybody who reads it leaves for the next

    async def _wait_for_money(self) -> bool:
        """Wait while items in hand may cost less than was set aside for them; False if there are
        none any more."""
        if await self.database.call(functools.partial(leases.is_being_worked_on, self.run.pk)):
            await asyncio.sleep(FLUSH_SECONDS)
            return True
        if self.month_is_limited and (said := await self.database.call(self._month_is_spent)):
            self.stop(said, until=next_month())
            return False
        self.stop(
            f"{BUDGET_REACHED} {self.run.budget:f} would be exceeded by the next item. Raise it to"
            " resume the run."
        )
        return False

    def _month_is_spent(self) -> str:
        """Why the month's money allows no further item; empty if the budget is what does not."""
        run = EvaluationRun.objects.get(pk=self.run.pk)
        each, spent = run.frozen.most_each or 0, run.cost or 0
        if run.budget is not None and run.budget - spent < each:
            return ""
        return money_reached(run.project)

    def _claim(self) -> list[Waiting]:
        waiting = [self._as_waiting(item) for item in self.next_items(self._claim_behind)]
        replies = self.stored_replies([entry.key for entry in waiting if entry.key])
        return [replace(entry, stored=replies.get(entry.key)) for entry in waiting]

    def _claim_behind(self, last_id: int) -> list[leases.ClaimedItem]:
        """Items behind the last one; `too_dear` if there are some, but the budget allows none."""
        most = max(2 * self.slots, 20)
        if self.run.budget is None and not self.month_is_limited:
            return leases.claim(self.run.pk, self.worker, most=most, after_id=last_id)
        items, self.too_dear = leases.claim_within_budget(
            self.run.pk, self.worker, most=most, after_id=last_id
        )
        return items

    def _as_waiting(self, item: leases.ClaimedItem) -> Waiting:
        question = self.question_of(item)
        if isinstance(question, Failure):
            return Waiting(item, question)
        return Waiting(item, question, self.key_of(self.requests_of(question)))

    async def _judge_items(self) -> None:
        while await self._judge_next():
            pass

    async def _judge_next(self) -> bool:
        """Judge one item; False if there is none any more."""
        waiting = await self.waiting.get()
        if waiting is None:
            self.waiting.put_nowait(None)
            return False
        await self._judge_one(waiting)
        return True

    async def _judge_one(self, waiting: Waiting) -> None:
        if self.waiting.qsize() <= self.slots:
            self.wants_more.set()
        if self.stopped.is_set():
            return
        try:
            done = await self._judge(waiting)
        except StoppedError:
            return
        except Exception as error:  # whatever one item does, the others continue
            log.exception("item failed unexpectedly", item=waiting.item.id, run=self.run.pk)
            done = results.FinishedItem(
                waiting.item, "", Failure(Reason.UNFORESEEN, results.reason_of(error))
            )
        if done:
            self.finished.append(done)
            self._count_failures(done.outcome)
            if self.first_items and (why := self.first_items.note(done.outcome)):
                self.stop(why)

    def _count_failures(self, outcome: Scored | Failure) -> None:
        """Stop if items fail one after the other for reasons outside of them."""
        if not isinstance(outcome, Failure) or outcome.reason not in (
            Reason.ENDPOINT,
            Reason.UNFORESEEN,
        ):
            self.failed_in_a_row = 0
            return
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= FAILURES_IN_A_ROW:
            self.stop(
                f"{self.failed_in_a_row} items in a row failed, the last one with: {outcome.detail}"
                " Fix the cause, then resume the run and retry the failed items."
            )

    async def _judge(self, waiting: Waiting) -> results.FinishedItem | None:
        """One item's result; None if the run stops here."""
        item, question, key = waiting.item, waiting.question, waiting.key
        if isinstance(question, Failure):
            return results.FinishedItem(item, "", question)
        if waiting.stored:
            outcome = self.evaluator.score_again(
                [results.answer_from(waiting.stored)], question, self.settings
            )
            return results.FinishedItem(item, key, outcome, stored_reply=waiting.stored.pk)
        try:
            judgement, is_ours = await self._ask_through_outages(key, question)
        except EndpointError as error:
            if error.kind.stops_run:
                self.stop(error.message, after=error)
                return None
            reason = Reason.CONTEXT if error.kind == ErrorKind.CONTEXT_LENGTH else Reason.ENDPOINT
            return results.FinishedItem(item, "", Failure(reason, f"{error.kind}: {error.message}"))
        if is_ours:
            return results.FinishedItem(item, key, judgement.outcome, judgement)
        # Of items with the same prompt (the same text, criteria that are rated together) one call
        # is made and stored; each reads its own score in the answer.
        outcome = self.evaluator.score_again(judgement.answers, question, self.settings)
        return results.FinishedItem(item, key, outcome)

    async def _ask_through_outages(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, and ask again where the endpoint was lost for a moment while others were answered.

        Raises:
            EndpointError: an outage, where it answers nobody any more; else what the question met.
        """
        rounds = 0
        while True:
            rounds, answers = rounds + 1, self.answers
            try:
                return await self._ask_once(key, question)
            except EndpointError as error:
                if error.kind not in LOST or not self.has_answered:
                    raise
                if error.kind == ErrorKind.CONNECTION and rounds == ROUNDS:
                    raise outage(error) from error  # no question keeps a server from listening
                if self.answers == answers and not await self._takes_others(error):
                    raise outage(error) from error
                if rounds == ROUNDS:
                    raise

    async def _takes_others(self, error: EndpointError) -> bool:
        """Whether the endpoint answers a question that it has answered before, so that another is
        what it cannot take. Where nobody listens, it takes none."""
        if error.kind == ErrorKind.CONNECTION:
            return False
        answered = self.answered or await self.database.call(self._answered_before)
        if answered is None:
            return False
        try:
            await self._call(replace(answered, n=1))
        except EndpointError as met:
            return met.kind not in LOST | REFUSING_FOR_NOW
        return True

    def _answered_before(self) -> Request | None:
        """What another worker, or this one at another time, asked and got an answer to."""
        item = leases.answered_item(self.run.pk)
        question = self.question_of(item) if item else None
        if question is None or isinstance(question, Failure):
            return None
        return next(iter(self.requests_of(question)), None)

    async def _ask_once(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, or share the same question that was asked a moment ago; True if the call was this
        item's own."""
        if key in self.judgements:
            return await asyncio.shield(self.judgements[key]), False
        future = self.judgements[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self.evaluator.judge(question, self.settings, self._ask)
        except BaseException as error:
            del self.judgements[key]
            future.set_exception(error)
            future.exception()  # waiting items, if any, get it; nobody waiting is fine
            del (
                future
            )  # it and the error's traceback would keep each other, and the reply, for long
            raise
        future.set_result(judgement)
        if not isinstance(judgement.outcome, Scored):
            del self.judgements[key]
        while len(self.judgements) > self.slots + REMEMBERED_QUESTIONS:
            self.judgements.pop(next(iter(self.judgements)))  # older ones are in the store by now
        return judgement, True

    async def _ask(self, request: Request) -> Answer:
        fit = self.learned.fit
        # After an outage each call is a trial.
        is_trial = self.run.outage_since is not None and not self.answers
        answer = await ask_until_answered(
            self._call,
            request,
            policy=replace(self.policy, attempts=1) if is_trial else self.policy,
            sleep=self._rest_apart,
            on_wait=self._note_wait,
            learned=self.learned,
        )
        if self.learned.fit != fit:
            log.warning("endpoint takes less of a request", **self.learned.refusals)
            endpoint = self.run.judge.endpoint
            assert endpoint is not None
            keep = functools.partial(keep_learned, endpoint, self.frozen.model, self.learned)
            await self.database.call(keep)
        return answer

    async def _rest_apart(self, seconds: float) -> None:
        """Wait for an endpoint, while another item takes the place of the one that waits."""
        if len(self.judging) < MOST_OPEN * self.slots and not self.stopped.is_set():
            self._judge_apart(self._judge_next())
        await self.rest(seconds)

    async def _call(self, request: Request) -> Reply:
        """One call, when the endpoint's limits and pace let it out; counted before its reply is
        used."""
        async with self.in_flight.call() as flight:
            if self.permits:
                await self.permits.one()
            number = await self.pacer.turn()
            try:
                await flight.leave()
                if self.stopped.is_set():
                    raise StoppedError
                reply = await ask_counted(self.client, request, self.spent)
            except BaseException as error:
                self.pacer.ended(number, error)
                if isinstance(error, EndpointError) and error.kind not in LOST:
                    self.answers += 1
                raise
        self.answers += 1
        self.answered, self.has_answered = request, True
        self.pacer.ended(number, limits=reply.limits)
        return reply

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        """Remember the longest wait, so that the run's page can say what it waits for."""
        wait = Wait.of(seconds, error.message)
        if seconds >= SHOWN_WAIT_SECONDS and wait.outlasts(self.wait):
            self.wait = wait

    async def _write(self) -> None:
        """Store finished items every moment, renew leases, and notice that the run was paused."""
        while True:
            is_last = self.all_judged.is_set()
            await self._count()
            if self.finished:
                batch, self.finished = self.finished[:FLUSH_ITEMS], self.finished[FLUSH_ITEMS:]
                await self.database.call(
                    functools.partial(results.store_each, self.run, batch, self.worker)
                )
                await self.let_go(entry.item.id for entry in batch)
                if self.finished:
                    continue
            if self.answers:
                await self.end_outage()
            if is_last:
                return
            await self.renew()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.all_judged.wait(), FLUSH_SECONDS)
            if not self.told_to_stop.is_set():
                await self.look_up()
                await self._share_calls()
            await self.pacer.look_up()
            self._log_slowness()

    def _log_slowness(self) -> None:
        """Say every minute what holds the run back, if anything does."""
        if time.monotonic() < self.logs_at:
            return
        self.logs_at = time.monotonic() + SLOWNESS_SECONDS
        reasons = {
            "endpoint asked to wait": bool(self.wait.until and self.wait.until > timezone.now()),
            "pace that the endpoint allows": self.pacer.is_held_back,
            "limits of the endpoint": self.permits is not None and self.permits.are_waited_for,
            "other runs that have all calls of the endpoint": self.in_flight.limited_to == 0,
            "server that cannot take more calls": self.in_flight.is_reduced,
            "budget": self.too_dear,
        }
        if any(reasons.values()):
            log.info(
                "run is held back",
                reasons=[reason for reason, holds in reasons.items() if holds],
                answers=self.answers,
                calls=self.in_flight.allowed,
            )

    async def _share_calls(self) -> None:
        """Leave other workers their part of the calls that the judge and the endpoint may have in
        flight."""
        # Until the new part holds here, calls may leave as the part of before allows.
        may_be_open = max(self.in_flight.open, self.in_flight.limited_to)
        calls = functools.partial(self.shift.calls, self.slots, may_be_open)
        self.in_flight.limit(await self.database.call(calls))

    async def _count(self) -> None:
        """Add what was spent, and what is waited for, to the run's row."""
        if self.spent.any:
            await self.database.call(
                functools.partial(results.count_up, self.run.pk, self.spent.taken())
            )
        if self.wait != self.wait_shown:
            self.wait_shown = self.wait
            await self.database.call(
                functools.partial(results.note_wait, self.run.pk, self.wait.until, self.wait.reason)
            )
