"""One worker's work on one run: prepare it, do a share of it, and pause it on unexpected errors."""

import asyncio

import structlog

from evaluations.judging.judges.clients import client_for
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.accounts import read_account
from evaluations.judging.runs.batches import BatchShare
from evaluations.judging.runs.calling import EndpointWork
from evaluations.judging.runs.database import Database, DatabaseAwayError, DiskFullError
from evaluations.judging.runs.lifecycle import (
    evaluator_of,
    pause_run,
)
from evaluations.judging.runs.preparing import lay_out_and_compute, prepare
from evaluations.judging.runs.resuming import pause_until_space
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare
from evaluations.judging.runs.shift import Shift
from evaluations.models import EvaluationRun, RunState, Transport
from geval.evaluators.base import EvaluatorError, LocalEvaluator, SettingsError
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import make_evaluator
from geval.llm.calls import RetryPolicy
from geval.llm.errors import EndpointError
from geval.llm.time_limit import TimeLimit

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
    database = Database()
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
