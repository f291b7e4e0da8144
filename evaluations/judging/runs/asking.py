"""A run's questions, put to an endpoint: each once, and again where the endpoint was lost for a
moment."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import structlog

from evaluations.judging.judges.findings import keep_learned
from evaluations.judging.runs import leases
from evaluations.judging.runs.outages import ROUNDS, outage
from evaluations.judging.runs.outgoing import OutgoingCalls
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import Share
from evaluations.judging.runs.waits import SHOWN_WAIT_SECONDS, Wait
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.errors import LOST, REFUSING_FOR_NOW, EndpointError, ErrorKind
from geval.llm.judgement import Judgement
from geval.llm.parsing import Failure
from geval.llm.requests import Request
from geval.llm.server_fit import LearnedFit

# Answers that are kept for items with the same prompt, besides those that are being asked for.
REMEMBERED_QUESTIONS = 1000
log = structlog.stdlib.get_logger(__name__)


class Asking:
    """`wait` is the longest wait for the endpoint so far.

    Args:
        rest: waits for the endpoint before a question is tried again.
    """

    def __init__(
        self,
        share: Share,
        questions: RunQuestions,
        calls: OutgoingCalls,
        policy: RetryPolicy,
        *,
        rest: Callable[[float], Awaitable[None]],
    ) -> None:
        self.wait = Wait()
        self._share = share
        self._questions = questions
        self._calls = calls
        self._policy = policy
        self._rest = rest
        self._learned = LearnedFit(questions.settings.fit)
        self._judgements: dict[str, asyncio.Future[Judgement]] = {}
        self._answered_earlier = False

    async def begin(self) -> None:
        """Look whether the endpoint answered this run before."""
        replied = self._share.run.items.filter(reply__isnull=False)
        self._answered_earlier = await self._share.database.call(replied.exists)

    async def ask(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, and ask again where the endpoint was lost for a moment while others were answered.

        Returns:
            What came of it, and whether the call was this question's own: of several with the same
            key one is asked.

        Raises:
            EndpointError: an outage, where it answers nobody any more; else what the question met.
        """
        rounds = 0
        while True:
            rounds, answers = rounds + 1, self._calls.answers
            try:
                return await self._ask_once(key, question)
            except EndpointError as error:
                if error.kind not in LOST or not self._has_answered:
                    raise
                if error.kind == ErrorKind.CONNECTION and rounds == ROUNDS:
                    raise outage(error) from error  # no question keeps a server from listening
                if self._calls.answers == answers and not await self._takes_others(error):
                    raise outage(error) from error
                if rounds == ROUNDS:
                    raise

    @property
    def _has_answered(self) -> bool:
        return self._answered_earlier or self._calls.answered is not None

    async def _takes_others(self, error: EndpointError) -> bool:
        """Whether the endpoint answers a question that it has answered before, so that another is
        what it cannot take. Where nobody listens, it takes none."""
        if error.kind == ErrorKind.CONNECTION:
            return False
        answered = self._calls.answered or await self._share.database.call(self._answered_before)
        if answered is None:
            return False
        try:
            await self._calls.call(replace(answered, n=1))
        except EndpointError as met:
            return met.kind not in LOST | REFUSING_FOR_NOW
        return True

    def _answered_before(self) -> Request | None:
        """What another worker, or this one at another time, asked and got an answer to."""
        item = leases.answered_item(self._share.run.pk)
        question = self._questions.question_of(item) if item else None
        if question is None or isinstance(question, Failure):
            return None
        return next(iter(self._questions.requests_of(question)), None)

    async def _ask_once(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, or share the same question that was asked a moment ago; True if the call was this
        item's own."""
        if key in self._judgements:
            return await asyncio.shield(self._judgements[key]), False
        future = self._judgements[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self._questions.evaluator.judge(
                question, self._questions.settings, self._ask
            )
        except BaseException as error:
            del self._judgements[key]
            future.set_exception(error)
            future.exception()  # waiting items, if any, get it; nobody waiting is fine
            del (
                future
            )  # it and the error's traceback would keep each other, and the reply, for long
            raise
        future.set_result(judgement)
        if not judgement.is_kept:
            del self._judgements[key]
        while len(self._judgements) > self._questions.frozen.concurrency + REMEMBERED_QUESTIONS:
            self._judgements.pop(next(iter(self._judgements)))  # older ones are in the store by now
        return judgement, True

    async def _ask(self, request: Request) -> Answer:
        fit = self._learned.fit
        # After an outage each call is a trial.
        is_trial = self._share.run.outage_since is not None and not self._calls.answers
        answer = await ask_until_answered(
            self._calls.call,
            request,
            policy=replace(self._policy, attempts=1) if is_trial else self._policy,
            sleep=self._rest,
            on_wait=self._note_wait,
            learned=self._learned,
        )
        if self._learned.fit != fit:
            log.warning("endpoint takes less of a request", **self._learned.refusals)
            endpoint, asked = self._share.run.judge.endpoint, self._questions.settings
            assert endpoint is not None
            keep = functools.partial(
                keep_learned, endpoint, asked.model, asked.options, self._learned
            )
            await self._share.database.call(keep)
        return answer

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        """Remember the longest wait, so that the run's page can say what it waits for."""
        wait = Wait.of(seconds, error.message)
        if seconds >= SHOWN_WAIT_SECONDS and wait.outlasts(self.wait):
            self.wait = wait
