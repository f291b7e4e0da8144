"""One worker's work on one run: have missing evaluation steps written, lay out its items, do a
share of them, and pause it on unexpected errors.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import structlog

from evaluations.judging.judges.clients import client_for
from evaluations.judging.judges.criteria import store_steps
from evaluations.judging.runs import calling, leases, results
from evaluations.judging.runs.accounts import read_account
from evaluations.judging.runs.batches import BatchShare
from evaluations.judging.runs.calling import EndpointWork
from evaluations.judging.runs.database import FULL, Database, DatabaseAwayError, DiskFullError
from evaluations.judging.runs.lifecycle import (
    PREPARE_LEASE,
    claim_preparation,
    evaluator_of,
    lay_out_run,
    leave_preparation,
    missing_steps,
    note_steps,
    pause_run,
    renew_preparation,
)
from evaluations.judging.runs.local import evaluate_items
from evaluations.judging.runs.quota import SHOWN_WAIT_SECONDS, Wait, allowed_rate
from evaluations.judging.runs.resuming import outage_if_lost, pause_after, pause_until_space
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare, StoppedError
from evaluations.judging.runs.shift import Shift
from evaluations.models import Criterion, EvaluationRun, RunState, Transport
from geval.evaluators.base import EvaluatorError, LocalEvaluator, SettingsError
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import make_evaluator
from geval.llm.calls import RetryPolicy, ask_until_answered
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.metering import CallUsage, ask_counted
from geval.llm.replies import Reply
from geval.llm.requests import Request
from geval.llm.time_limit import TimeLimit
from geval.llm.written_steps import StepsError, read_steps

# How soon a paused run stops, at a query per look.
LOOK_SECONDS = 0.25
log = structlog.stdlib.get_logger(__name__)
PATIENT = RetryPolicy(rate_limit_patience=1800)


def work_on_run(
    run_id: int,
    worker: str,
    *,
    policy: RetryPolicy | None = None,
    shift: Shift | None = None,
) -> None:
    """Prepare a run if no worker does, judge its items until none is free, and close it if those
    were the last.

    Args:
        worker: a name no other worker has.
        shift: when to release held items and end.

    May be called for the same run by many workers, and twice by one, without harm. Endpoint errors
    that every item would meet pause the run with their message, and so do unexpected errors: no run
    continues for ever.

    Raises:
        DatabaseAwayError: the database was unavailable or full for too long; another call will
            follow.
    """
    asyncio.run(_work_guarded(run_id, worker, policy or PATIENT, shift or Shift()))


async def _work_guarded(run_id: int, worker: str, policy: RetryPolicy, shift: Shift) -> None:
    structlog.contextvars.bind_contextvars(run=run_id, worker=worker)
    database = Database(lambda until: results.note_wait(run_id, until, FULL))
    try:
        await _work(run_id, worker, policy, shift, database)
    except Exception as error:
        if full := _holds(error, DiskFullError):
            # If even this write does not fit, the run is unchanged, and another call tries again.
            await database.call(lambda: pause_until_space(run_id, str(full)))
            await database.call(lambda: leases.give_back(run_id, worker))
            return
        if _holds(error, DatabaseAwayError):
            raise
        log.exception("run failed unexpectedly")
        text = (
            f"An unexpected error occurred ({results.reason_of(error)}). Resume the run to try"
            " again; if it happens again, report it."
        )
        await _pause_with(database, run_id, worker, text)
    finally:
        await database.close()


def _holds(error: BaseException, kind: type[Exception]) -> BaseException | None:
    """Return the error itself if it is of a kind, or the first such error in a group."""
    if isinstance(error, BaseExceptionGroup):
        return next((holds for inner in error.exceptions if (holds := _holds(inner, kind))), None)
    return error if isinstance(error, kind) else None


async def _pause_with(database: Database, run_id: int, worker: str, text: str) -> None:
    """Pause a run with a message, and release the items that this worker holds."""
    await database.call(lambda: pause_run(run_id, text))
    await database.call(lambda: leases.give_back(run_id, worker))


async def _work(
    run_id: int, worker: str, policy: RetryPolicy, shift: Shift, database: Database
) -> None:
    run = await database.call(
        lambda: (
            EvaluationRun.objects.select_related("judge__endpoint", "project")
            .filter(pk=run_id)
            .first()
        )
    )
    if run is None or not run.is_active:
        return
    structlog.contextvars.bind_contextvars(project=run.project.slug, judge=run.judge_id)
    try:
        evaluator = make_evaluator(*evaluator_of(run))
        if isinstance(evaluator, LocalEvaluator):
            await lay_out_and_compute(run, evaluator, worker, database, shift)
            return
        assert isinstance(evaluator, LlmEvaluator)
        endpoint, limit = run.judge.endpoint, TimeLimit(run.frozen.timeout_seconds)
        assert endpoint is not None, "judges that ask have an endpoint"
        client = await database.call(lambda: client_for(endpoint, timeout=limit))
        await database.call(lambda: read_account(endpoint))
    except (EndpointError, EvaluatorError, SettingsError) as error:
        await _pause_with(database, run_id, worker, str(error))
        return
    async with client:
        if run.state == RunState.PREPARING and not await prepare(
            run, client, policy, database, shift
        ):
            return
        questions = RunQuestions(run, evaluator, client.base_url)
        if run.transport == Transport.BATCH:
            await BatchShare(run, worker, database, shift, questions, client).advance()
        else:
            share = RunShare(run, worker, database, shift)
            await EndpointWork(share, questions, client, policy).judge_all()


async def lay_out_and_compute(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, shift: Shift
) -> None:
    """Run an evaluator that calls no endpoint."""
    if run.state == RunState.PREPARING:
        claim = await database.call(lambda: claim_preparation(run.pk))
        if claim is None or not await _lay_out(run, claim, database, shift):
            return
    await evaluate_items(run, evaluator, worker, database, shift)


async def prepare(
    run: EvaluationRun, client: Client, policy: RetryPolicy, database: Database, shift: Shift
) -> bool:
    """Have missing steps written and lay out the run; return False if another worker does, or if
    the run had to be paused."""
    claim = await database.call(lambda: claim_preparation(run.pk))
    if claim is None:
        return False
    preparation = _Preparation(run, claim, client, policy, database, shift)
    try:
        await preparation.write_steps()
    except EndpointError as error:
        cause = outage_if_lost(error, has_answered=preparation.has_answered)
        await database.call(lambda: pause_after(run, cause.message, cause))
        return False
    except StepsError as error:
        text = str(error)
        await database.call(lambda: pause_after(run, text, None))
        return False
    except StoppedError:
        await database.call(lambda: leave_preparation(run.pk, claim))
        return False
    return await _lay_out(run, claim, database, shift)


async def _lay_out(run: EvaluationRun, claim: int, database: Database, shift: Shift) -> bool:
    """Lay out a run; return False if it was stopped, or is left to the next worker."""

    def lay_out() -> bool:
        lay_out_run(run.pk, stopped=shift.stop_requested)
        leave_preparation(run.pk, claim)
        laid_out = EvaluationRun.objects.filter(pk=run.pk, state=RunState.RUNNING).first()
        if laid_out:
            run.parameters = laid_out.parameters  # with the sizes of its prompts
        return laid_out is not None

    return await database.call(lay_out)


class _Preparation(RunShare):
    """The calls before a run has items. They are counted, and their waits shown and ended, like the
    calls for items, while the claim on the run is renewed."""

    during = RunState.PREPARING

    def __init__(
        self,
        run: EvaluationRun,
        claim: int,
        client: Client,
        policy: RetryPolicy,
        database: Database,
        shift: Shift,
    ) -> None:
        # Giving way would mean paying again for steps that are being written.
        super().__init__(run, "", database, shift.without_giving_way())
        self.claim = claim
        self.client = client
        self.policy = policy
        self.spent = CallUsage()
        # If the run is waiting for its endpoint, the endpoint has answered before.
        self.has_answered = run.outage_since is not None

    async def write_steps(self) -> None:
        """Have missing steps written, and store each as it arrives.

        The first answer is read before others are paid for, since an error usually affects all of
        them. The rest are requested concurrently, as many as the judge's calls in flight, or one at
        a time if the endpoint has a limit.

        Raises:
            EndpointError, StepsError: steps could not be obtained; those already written are kept.
            StoppedError: the run or the worker was stopped, or the claim was lost.
        """
        wanted = list((await self.database.call(lambda: missing_steps(self.run))).items())
        if not wanted:
            return
        await self.database.call(lambda: note_steps(self.run.pk, len(wanted)))
        watching = asyncio.create_task(self.watch(every=LOOK_SECONDS))
        try:
            await self._unless_stopped(self._write(*wanted[0]))
            at_once = await self.database.call(self._calls_at_once)
            for begin in range(1, len(wanted), at_once):
                together = (self._write(*each) for each in wanted[begin : begin + at_once])
                await self._unless_stopped(*together)
        finally:
            self.stop()
            await watching

    async def _unless_stopped(self, *writing: Coroutine[Any, Any, None]) -> None:
        """Run requests for steps until all are finished or cancelled. When stopped, requests in
        flight get a grace period, because they are paid for.

        Raises:
            EndpointError, StepsError: the first error.
            StoppedError: as for `write_steps`.
        """
        tasks = [asyncio.create_task(part) for part in writing]
        stop = asyncio.create_task(self.stopped.wait())
        try:
            while not all(task.done() for task in tasks):
                await asyncio.wait({*tasks, stop}, return_when=asyncio.FIRST_COMPLETED)
                if stop.done():
                    await asyncio.wait(tasks, timeout=calling.GRACE_SECONDS)
                    raise StoppedError
        finally:
            for task in (*tasks, stop):
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        failed = next((error for error in outcomes if isinstance(error, Exception)), None)
        if failed:
            raise failed

    async def _write(self, criterion: Criterion, request: Request) -> None:
        answer = await ask_until_answered(
            self._call,
            request,
            policy=self.policy,
            sleep=self._watchful_rest,
            on_wait=self._note_wait,
        )
        try:
            text = read_steps(answer.choices[0])
        except StepsError as error:
            raise StepsError(f"{criterion.name}: {error}") from None
        self.has_answered = True
        await self.end_outage()
        written_by = self.run.frozen.model
        await self.database.call(lambda: store_steps(criterion, text, written_by=written_by))

    def _calls_at_once(self) -> int:
        """Return the judge's calls in flight, or 1 if the endpoint has a limit."""
        endpoint = self.run.judge.endpoint
        assert endpoint is not None, "judges that ask have an endpoint"
        is_limited = (
            endpoint.requests_per_minute
            or endpoint.tokens_per_minute
            or endpoint.parallel_calls
            or allowed_rate(endpoint.account, self.run.frozen.model)
        )
        return 1 if is_limited else self.run.frozen.concurrency

    async def renew(self) -> None:
        """Renew the claim when a quarter of the lease has passed; stop if it was lost."""
        if time.monotonic() - self._renewed < PREPARE_LEASE.total_seconds() / 4:
            return
        self._renewed = time.monotonic()
        if not await self.database.call(lambda: renew_preparation(self.run.pk, self.claim)):
            self.stop()

    async def _call(self, request: Request) -> Reply:
        try:
            return await ask_counted(self.client, request, self.spent)
        finally:
            await self.database.call(results.count_up, self.run.pk, self.spent.taken())

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        self.wait = Wait.of(seconds, error.message)

    async def _watchful_rest(self, seconds: float) -> None:
        if seconds >= SHOWN_WAIT_SECONDS:
            await self.database.call(
                results.note_wait, self.run.pk, self.wait.until, self.wait.reason
            )
        await self.rest(seconds)
