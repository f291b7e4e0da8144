"""Runs of evaluators that compute on this machine: chunks of items go to processes, results are
stored as they come.

Work is claimed, leased, stored and given back as for calls to an endpoint (leases.py); only what
happens to an item in between differs.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Mapping

from django.conf import settings

from evaluations.evaluators.base import Corpus, EvaluatorError, LocalEvaluator, Outcome
from evaluations.evaluators.processes import ScoringProcess
from evaluations.models import EvaluationRun, RunState
from evaluations.runs import leases
from evaluations.runs.corpus_view import corpus_for
from evaluations.runs.database import Database
from evaluations.runs.item_questions import Asked, criteria_asked, item_of
from evaluations.runs.lifecycle import close_if_finished, pause_run
from evaluations.runs.shift import Shift

LOOK_SECONDS = 0.5


async def evaluate_items(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, shift: Shift
) -> None:
    """Score a run's items until none is free, and close it if that was the last."""
    why_not = evaluator.why_not()
    if why_not:
        text = f"{evaluator.title} is {why_not}"
        await database.call(lambda: pause_run(run.pk, text))
        return
    asked = await database.call(lambda: criteria_asked(run))
    wanted = evaluator.looks_at_now()
    corpus = await database.call(lambda: corpus_for(run, wanted)) if wanted else None
    await _LocalWork(run, evaluator, asked, corpus, worker, database, shift).compute()


class _LocalWork:
    """One worker's share of one run."""

    def __init__(
        self,
        run: EvaluationRun,
        evaluator: LocalEvaluator,
        asked: Mapping[int, Asked],
        corpus: Corpus | None,
        worker: str,
        database: Database,
        shift: Shift,
    ) -> None:
        self.run = run
        self.evaluator = evaluator
        self.asked = asked
        self.corpus = corpus
        self.worker = worker
        self.database = database
        self.shift = shift
        self.in_hand: set[int] = set()
        self.stopped = asyncio.Event()
        self.stop_message = ""
        self.last_id = 0

    async def compute(self) -> None:
        watch = asyncio.create_task(self._watch())
        processes = settings.EVALUATOR_PROCESSES if self.evaluator.many_processes else 1
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(processes):
                    group.create_task(self._keep_one_busy())
        finally:
            self.stopped.set()
            await watch
        if self.stop_message:
            await self.database.call(lambda: pause_run(self.run.pk, self.stop_message))
        await self.database.call(self._leave)

    async def _keep_one_busy(self) -> None:
        """One process: while it scores a chunk the next is claimed and the one before stored."""
        chunk = await self._claim()
        if not chunk:
            return
        process = await ScoringProcess.start(self.evaluator, self.corpus)
        try:
            scoring = asyncio.create_task(self._score(process, chunk))
            while chunk:
                following = await self._claim()
                outcomes = await self._unless_stopped(scoring)
                if outcomes is None:
                    return
                if following:
                    scoring = asyncio.create_task(self._score(process, following))
                await self._store(chunk, outcomes)
                chunk = following
        except EvaluatorError as error:
            self.stop_message = self.stop_message or str(error)
            self.stopped.set()
        finally:
            await process.stop()

    async def _unless_stopped(self, scoring: asyncio.Task[list[Outcome]]) -> list[Outcome] | None:
        """What came of a chunk; None if the run was stopped in the meantime, however long the chunk
        would take."""
        stopped = asyncio.create_task(self.stopped.wait())
        try:
            await asyncio.wait({scoring, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if scoring.done():
            return scoring.result()
        scoring.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await scoring
        return None

    async def _claim(self) -> list[leases.ClaimedItem]:
        if self.stopped.is_set():
            return []
        items = await self.database.call(self._claim_once)
        self.in_hand.update(item.id for item in items)
        return items

    def _claim_once(self) -> list[leases.ClaimedItem]:
        claim = functools.partial(leases.claim, self.run.pk, self.worker, most=self.evaluator.chunk)
        # Once more from the beginning where nothing follows: leases of lost workers may have run
        # out.
        items = claim(after_id=self.last_id) or (claim(after_id=0) if self.last_id else [])
        self.last_id = items[-1].id if items else 0
        return items

    async def _score(
        self, process: ScoringProcess, chunk: list[leases.ClaimedItem]
    ) -> list[Outcome]:
        return await process.score([item_of(item, self.asked)[0] for item in chunk])

    async def _store(self, chunk: list[leases.ClaimedItem], outcomes: list[Outcome]) -> None:
        finished = [
            leases.FinishedItem(item, "", outcome)
            for item, outcome in zip(chunk, outcomes, strict=True)
        ]
        await self.database.call(functools.partial(leases.store, self.run, finished, self.worker))
        self.in_hand.difference_update(item.id for item in chunk)

    async def _watch(self) -> None:
        """Renew leases, and notice that the run was paused or that the worker is to leave."""
        renewed = time.monotonic()
        while not self.stopped.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopped.wait(), LOOK_SECONDS)
            if time.monotonic() - renewed > leases.LEASE_SECONDS / 4:
                renewed = time.monotonic()
                held = list(self.in_hand)
                await self.database.call(functools.partial(leases.renew_leases, held, self.worker))
            if not self.stopped.is_set() and not await self.database.call(self._may_go_on):
                self.stopped.set()

    def _may_go_on(self) -> bool:
        return (
            not self.shift.is_over
            and EvaluationRun.objects.filter(pk=self.run.pk, state=RunState.RUNNING).exists()
        )

    def _leave(self) -> None:
        leases.give_back(self.run.pk, self.worker)
        close_if_finished(self.run.pk)
