"""Claim a run's items before they are needed, each with its question."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from evaluations.judging.runs import leases
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.lifecycle import BUDGET_REACHED, lay_out_rest
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare
from evaluations.models import EvaluationRun, ModelReply
from evaluations.models.runs import PARTLY_LAID_OUT
from evaluations.people.limits import limits_money, money_reached, next_month
from geval.llm.parsing import Failure

MONEY_SECONDS = 0.25
# How soon items of another part are claimed.
PART_SECONDS = 0.25


@dataclass(frozen=True)
class Waiting:
    """A claimed item with its question (or why there is none) and its stored reply, if it was asked
    before."""

    item: leases.ClaimedItem
    question: Any | Failure
    key: str = ""
    stored: ModelReply | None = None


class Feeder:
    """Claims items ahead of the slots. `too_dear` means that the budget, or the month's money,
    currently allows no further item.

    Args:
        slots: how many items are judged at once; more than that are claimed ahead.
    """

    def __init__(self, share: RunShare, questions: RunQuestions, slots: int) -> None:
        self.too_dear = False
        self._share = share
        self._questions = questions
        self._slots = slots
        self._month_is_limited = False
        self._ready: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self._wants_more = asyncio.Event()
        share.when_stopped(self._wants_more.set)

    async def next(self) -> Waiting | None:
        """Return the next item; None if none is left."""
        waiting = await self._ready.get()
        if waiting is None:
            self._ready.put_nowait(None)
        elif self._ready.qsize() <= self._slots:
            self._wants_more.set()
        return waiting

    async def feed(self) -> None:
        """Claim items before slots run dry; end when nothing is free, or when the budget allows no
        more."""
        share = self._share
        self._month_is_limited = await share.database.call(limits_money, share.run.project)
        async with asyncio.TaskGroup() as group:
            await self._claim_all(group)
            self._ready.put_nowait(None)  # the end mark: each reader puts it back for the next

    async def _claim_all(self, group: asyncio.TaskGroup) -> None:
        share, claims = self._share, 0
        laying_out: asyncio.Task[None] | None = None
        while not share.stopped.is_set():
            # Before the claim, which then sees the last part.
            is_laid_out = laying_out is not None and laying_out.done()
            claimed = await share.database.call(self._claim)
            if self.too_dear:
                if not await self._wait_for_money():
                    break
                continue
            for waiting in claimed:
                self._ready.put_nowait(waiting)
            claims += 1
            if is_laid_out and not claimed:
                break
            if laying_out is None and (not claimed or claims == leases.FIRST_CLAIMS):
                # One claim's calls are in flight, and another claim is ready.
                laying_out = group.create_task(self._lay_out_rest())
            if laying_out is not None and not claimed:
                await asyncio.wait([laying_out], timeout=PART_SECONDS)
            while self._ready.qsize() > self._slots and not share.stopped.is_set():
                self._wants_more.clear()
                await self._wants_more.wait()

    async def _lay_out_rest(self) -> None:
        """Lay out the remaining items in a separate thread, while results are stored and leases
        renewed."""
        share = self._share
        partly = EvaluationRun.objects.filter(PARTLY_LAID_OUT, pk=share.run.pk)
        if not await share.database.call(partly.exists):
            return
        database = Database()
        try:
            await database.call(lay_out_rest, share.run.pk, stopped=share.stopped.is_set)
        finally:
            await database.close()

    async def _wait_for_money(self) -> bool:
        """Wait while items in progress may cost less than was reserved for them; return False if
        none is in progress."""
        share = self._share
        if await share.database.call(leases.is_being_worked_on, share.run.pk):
            await asyncio.sleep(MONEY_SECONDS)
            return True
        if await share.database.call(leases.release_lost, share.run.pk):
            return True
        if self._month_is_limited and (reason := await share.database.call(self._month_is_spent)):
            share.stop(reason, until=next_month())
            return False
        share.stop(
            f"{BUDGET_REACHED} {share.run.budget:f} would be exceeded by the next item. Raise it to"
            " resume the run."
        )
        return False

    def _month_is_spent(self) -> str:
        """Return why the month's money allows no further item; empty if the run's budget is the
        limit."""
        run = EvaluationRun.objects.get(pk=self._share.run.pk)
        each, spent = run.frozen.most_each or 0, run.cost or 0
        if run.budget is not None and run.budget - spent < each:
            return ""
        return money_reached(run.project)

    def _claim(self) -> list[Waiting]:
        waiting = [self._as_waiting(item) for item in self._share.next_items(self._claim_behind)]
        replies = self._questions.stored_replies([entry.key for entry in waiting if entry.key])
        return [replace(entry, stored=replies.get(entry.key)) for entry in waiting]

    def _claim_behind(self, last_id: int) -> list[leases.ClaimedItem]:
        """Claim items after the last one; set `too_dear` if there are some but the budget allows
        none."""
        run, worker = self._share.run, self._share.worker
        most = leases.claimed_at_once(self._slots)
        if run.budget is None and not self._month_is_limited:
            return leases.claim(run.pk, worker, most=most, after_id=last_id)
        items, self.too_dear = leases.claim_within_budget(
            run.pk, worker, most=most, after_id=last_id
        )
        return items

    def _as_waiting(self, item: leases.ClaimedItem) -> Waiting:
        question = self._questions.question_of(item)
        if isinstance(question, Failure):
            return Waiting(item, question)
        return Waiting(
            item, question, self._questions.key_of(self._questions.requests_of(question))
        )
