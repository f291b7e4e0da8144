"""Put a run's questions to an endpoint: each once, and again after the endpoint was briefly
unreachable."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import structlog

from evaluations.judging.judges.clients import keep_learned
from evaluations.judging.runs import leases
from evaluations.judging.runs.outgoing import OutgoingCalls
from evaluations.judging.runs.quota import SHOWN_WAIT_SECONDS, Wait
from evaluations.judging.runs.resuming import QUESTION_ROUNDS, outage
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.errors import LOST, REFUSING_FOR_NOW, EndpointError, ErrorKind
from geval.llm.judgement import Judgement
from geval.llm.parsing import Failure
from geval.llm.requests import Request
from geval.llm.server_fit import LearnedFit

# Judgements that are kept for items with the same prompt, besides those in progress.
REMEMBERED_QUESTIONS = 1000
log = structlog.stdlib.get_logger(__name__)


class Asking:
    """Asks a run's questions. `wait` is the longest current wait for the endpoint.

    Args:
        rest: waits before a question is tried again.
    """

    def __init__(
        self,
        share: RunShare,
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
        """Check whether the endpoint has answered this run before."""
        replied = self._share.run.items.filter(reply__isnull=False)
        self._answered_earlier = await self._share.database.call(replied.exists)

    async def ask(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask a question, and repeat it if the endpoint was briefly unreachable while other calls
        got answers.

        Returns:
            The judgement, and whether this call paid for it: of several questions with the same
            key, one is asked.

        Raises:
            EndpointError: an outage if the endpoint answers no call any more; otherwise the
                question's own error.
        """
        rounds = 0
        while True:
            rounds, answers, had_answered = rounds + 1, self._calls.answers, self._has_answered
            try:
                return await self._ask_once(key, question)
            except EndpointError as error:
                if not self._has_answered:
                    await self.begin()  # another worker may have had an answer since
                if self._has_answered > had_answered and error.kind in LOST:
                    continue  # with the attempts for an endpoint that is away
                is_away = self._has_answered or error.kind == ErrorKind.NO_REPLY
                if error.kind not in LOST or not is_away:
                    raise
                if error.kind == ErrorKind.CONNECTION and rounds == QUESTION_ROUNDS:
                    # no question stops a server from accepting connections
                    raise outage(error) from error
                if self._calls.answers == answers and not await self._answers_earlier_request(
                    error
                ):
                    raise outage(error, has_answered=self._has_answered) from error
                if rounds == QUESTION_ROUNDS:
                    if error.kind.stops_run:
                        # Others are answered, so it is this question that is refused.
                        raise EndpointError(ErrorKind.BAD_REQUEST, error.message) from error
                    raise

    @property
    def _has_answered(self) -> bool:
        return self._answered_earlier or self._calls.answered is not None

    async def _answers_earlier_request(self, error: EndpointError) -> bool:
        """Whether the endpoint still answers a request that it has answered before, so that this
        question is what it cannot handle. False if the connection fails."""
        if error.kind == ErrorKind.CONNECTION:
            return False
        answered = self._calls.answered or await self._share.database.call(self._earlier_request)
        if answered is None:
            return False
        try:
            await self._calls.call(replace(answered, n=1))
        except EndpointError as met:
            return met.kind not in LOST | REFUSING_FOR_NOW
        return True

    def _earlier_request(self) -> Request | None:
        """Return a request of this run that was answered before, by this worker or another; None if
        there is none."""
        item = leases.answered_item(self._share.run.pk)
        question = self._questions.question_of(item) if item else None
        if question is None or isinstance(question, Failure):
            return None
        return next(iter(self._questions.requests_of(question)), None)

    async def _ask_once(self, key: str, question: Any) -> tuple[Judgement, bool]:
        """Ask, or share the judgement of a recent question with the same key. The flag is True if
        this item made the call."""
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
            # waiting items get the exception; mark it as retrieved in case none waits
            future.exception()
            del (
                future
            )  # the future and the error's traceback would keep each other and the reply alive
            raise
        future.set_result(judgement)
        if not judgement.is_kept:
            del self._judgements[key]
        while len(self._judgements) > self._questions.frozen.concurrency + REMEMBERED_QUESTIONS:
            self._judgements.pop(next(iter(self._judgements)))  # older ones are stored by now
        return judgement, True

    async def _ask(self, request: Request) -> Answer:
        fit = self._learned.fit
        # During an outage each call is a single attempt.
        is_trial = self._share.run.outage_since is not None and not self._calls.answers
        attempts = 1 if is_trial else self._policy.attempts
        answer = await ask_until_answered(
            self._calls.call,
            request,
            policy=replace(self._policy, attempts=attempts, has_answered=self._has_answered),
            sleep=self._rest,
            on_wait=self._note_wait,
            learned=self._learned,
        )
        if self._learned.fit != fit:
            log.warning("endpoint takes less of a request", **self._learned.refusals)
            endpoint, asked = self._share.run.judge.endpoint, self._questions.settings
            assert endpoint is not None
            await self._share.database.call(
                keep_learned, endpoint, asked.model, asked.options, self._learned
            )
        return answer

    def _note_wait(self, seconds: float, error: EndpointError) -> None:
        """Remember the longest wait, so that the run's page can say what it waits for."""
        wait = Wait.of(seconds, error.message)
        if seconds >= SHOWN_WAIT_SECONDS and wait.outlasts(self.wait):
            self.wait = wait
