"""Preparing a run: have the evaluation steps written that it lacks, then lay out its items."""

import asyncio
import functools
import time

from evaluations.evaluators.base import LocalEvaluator
from evaluations.judges.steps import StepsError, read_steps
from evaluations.llm.calls import Answer, RetryPolicy, ask_until_answered
from evaluations.llm.endpoints import Client
from evaluations.llm.errors import EndpointError
from evaluations.llm.metering import Spent, ask_counted
from evaluations.llm.replies import Reply
from evaluations.llm.requests import Request
from evaluations.models import EvaluationRun, RunState
from evaluations.runs import results
from evaluations.runs.database import Database
from evaluations.runs.lifecycle import (
    claim_preparation,
    lay_out_run,
    leave_preparation,
    missing_steps,
)
from evaluations.runs.local import evaluate_items
from evaluations.runs.resuming import pause_after
from evaluations.runs.share import Share, StoppedError
from evaluations.runs.shift import Shift
from evaluations.runs.waits import SHOWN_WAIT_SECONDS, Wait

LOOK_SECONDS = 0.25


async def lay_out_and_compute(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, shift: Shift
) -> None:
    """A run of an evaluator that asks nobody."""
    if run.state == RunState.PREPARING:
        if not await database.call(lambda: claim_preparation(run.pk)):
            return
        await database.call(lambda: lay_out_run(run.pk, {}))
    await evaluate_items(run, evaluator, worker, database, shift)


async def prepare(
    run: EvaluationRun, client: Client, policy: RetryPolicy, database: Database, shift: Shift
) -> bool:
    """Have missing steps written and lay the run out; False if another worker does, or if it had to
    be paused."""
    if not await database.call(lambda: claim_preparation(run.pk)):
        return False
    preparation = _Preparation(run, client, database, shift)
    try:
        wanted = await database.call(lambda: missing_steps(run))
        answers = {pk: await preparation.ask(request, policy) for pk, request in wanted.items()}
        texts = {criterion_id: read_steps(answer) for criterion_id, answer in answers.items()}
    except (EndpointError, StepsError) as error:
        text, cause = str(error), error if isinstance(error, EndpointError) else None
        await database.call(lambda: pause_after(run, text, cause))
        return False
    except StoppedError:
        await database.call(lambda: leave_preparation(run.pk))
        return False
    await database.call(lambda: lay_out_run(run.pk, texts))
    return True


class _Preparation(Share):
    """Calls before a run has items: counted, and their waits shown and ended, as those for items
    are."""

    during = RunState.PREPARING

    def __init__(
        self, run: EvaluationRun, client: Client, database: Database, shift: Shift
    ) -> None:
        super().__init__(run, "", database, shift)
        self.client = client
        self.spent = Spent()

    async def ask(self, request: Request, policy: RetryPolicy) -> Answer:
        """Ask until it is answered.

        Raises:
            EndpointError: it is not.
            StoppedError: the run or the worker stopped meanwhile.
        """
        return await ask_until_answered(
            self._call, request, policy=policy, sleep=self._watchful_rest, on_wait=self._note_wait
        )

    async def _call(self, request: Request) -> Reply:
        try:
            return await ask_counted(self.client, request, self.spent)
        finally:
            await self.database.call(
                functools.partial(results.count_up, self.run.pk, self.spent.taken())
            )

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        self.wait = Wait.of(seconds, error.message)

    async def _watchful_rest(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        if seconds >= SHOWN_WAIT_SECONDS:
            await self.database.call(
                functools.partial(results.note_wait, self.run.pk, self.wait.until, self.wait.reason)
            )
        while (left := ends - time.monotonic()) > 0:
            await self.look_up()
            if self.stopped.is_set():
                raise StoppedError
            await asyncio.sleep(min(left, LOOK_SECONDS))
