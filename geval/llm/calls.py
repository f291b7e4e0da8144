"""Ask an endpoint until it answers: retry transient errors by kind, with backoff and a budget."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from geval.llm.errors import LONGEST_WAIT_SECONDS, LOST, EndpointError, ErrorKind
from geval.llm.replies import Reply, ReplyChoice
from geval.llm.requests import ChatRequest, Request
from geval.llm.server_fit import LearnedFit, changed_field

# The least wait where the server names a time, as a share of the wait without one.
NAMED_SHARE = 0.1
Ask = Callable[[Any], Awaitable[Reply]]
Sleep = Callable[[float], Awaitable[None]]
# Called before each wait with its seconds and the error.
OnWait = Callable[[float, EndpointError], None]


def _tell_nobody(_seconds: float, _error: EndpointError) -> None: ...


@dataclass(frozen=True)
class RetryPolicy:
    """How often and for how long a call is retried; times are in seconds.

    A rate limit is sure to pass, so it does not count as an attempt until waiting has used up
    `rate_limit_patience`; then the run is paused instead of the item failing. If the endpoint
    `has_answered` before, whatever is not about one question passes by itself.
    """

    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 30.0
    rate_limit_patience: float = 0.0
    has_answered: bool = False

    def wait(self, attempt: int, retry_after: float | None, *, jitter: float) -> float:
        """Return the pause after failed attempt number `attempt` (from 1): what the server asked
        for, otherwise doubling each time.

        `jitter` from 0 to 1 spreads callers over half the pause, so that they do not all return at
        once.
        """
        grown = min(self.longest_wait, self.first_wait * 2 ** (min(attempt, 60) - 1))
        if retry_after is not None:
            # A server that repeatedly names very short waits still gets a pause.
            named = max(min(retry_after, LONGEST_WAIT_SECONDS), NAMED_SHARE * grown)
            return float(named * (1 + 0.1 * jitter))
        return float(grown * (0.5 + 0.5 * jitter))


@dataclass(frozen=True)
class Answer:
    """All choices that were requested, and what they cost."""

    choices: tuple[ReplyChoice, ...]
    model: str
    request_id: str
    prompt_tokens: int
    completion_tokens: int
    calls: int
    seconds: float


class Retries:
    """The failed calls of one question, and how long it has waited for rate limits."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failed = 0
        self._limited = 0
        self._waited = 0.0

    def pause(self, error: EndpointError) -> float:
        """Return how long to wait before the call is repeated.

        Raises:
            EndpointError: it is not repeated; if waiting for rate limits has used up the patience,
                of the kind that pauses a run for a long wait.
        """
        policy = self._policy
        if error.kind == ErrorKind.RATE_LIMIT and policy.rate_limit_patience > 0:
            return self._pause_for_limit(error)
        self._failed += 1
        is_lost = policy.has_answered and error.kind in LOST
        most = policy.attempts if is_lost else min(policy.attempts, error.kind.attempts)
        if not (is_lost or error.kind.is_passing) or self._failed >= most:
            raise error
        return policy.wait(self._failed, error.retry_after, jitter=random.random())  # noqa: S311

    def _pause_for_limit(self, error: EndpointError) -> float:
        if self._waited >= self._policy.rate_limit_patience:
            raise EndpointError(
                ErrorKind.LONG_WAIT,
                f"{error.message} It has not let this question pass for"
                f" {self._waited / 60:.0f} minutes.",
            ) from error
        self._limited += 1
        pause = self._policy.wait(self._limited, error.retry_after, jitter=random.random())  # noqa: S311
        self._waited += pause
        return pause


async def ask_until_answered(
    ask: Ask,
    request: Request,
    *,
    policy: RetryPolicy,
    sleep: Sleep = asyncio.sleep,
    on_wait: OnWait = _tell_nobody,
    learned: LearnedFit | None = None,
) -> Answer:
    """Ask for `request.n` choices in as few calls as the endpoint allows; choices are counted, as
    some endpoints ignore `n`. A refused call is repeated in a form that the server may accept; what
    it accepts is `learned` for later questions.

    Raises:
        EndpointError: an error that is not transient, or a transient one that outlasted the policy.
    """
    began = time.monotonic()
    replies: list[Reply] = []
    choices: list[ReplyChoice] = []
    calls = 0
    retries = Retries(policy)
    learned = learned or LearnedFit()
    fit, refusals = learned.fit, dict[str, str]()
    tried = {fit}
    while len(choices) < request.n:
        missing = request.n - len(choices)
        portion = replace(request, n=min(missing, fit.most_choices))
        if isinstance(portion, ChatRequest):
            portion = fit.fitted(portion)
        try:
            reply = await ask(portion)
            calls += 1
        except EndpointError as error:
            calls += error.kind != ErrorKind.CONNECTION
            if error.kind == ErrorKind.BAD_REQUEST and isinstance(portion, ChatRequest):
                other = fit.after_refusal(portion, error.named)
                if other and other not in tried:
                    tried.add(other)
                    refusals[changed_field(fit, other)] = error.message
                    fit = other
                    continue
            pause = retries.pause(error)
            on_wait(pause, error)
            await sleep(pause)
            continue
        if not reply.choices:
            raise EndpointError(
                ErrorKind.MALFORMED, "The endpoint answered without a single choice."
            )
        if refusals:
            learned.learn(fit, refusals)
            refusals = {}
        replies.append(reply)
        choices.extend(reply.choices)
    return Answer(
        choices=tuple(choices[: request.n]),
        model=replies[-1].model,
        request_id=replies[-1].request_id,
        prompt_tokens=sum(reply.prompt_tokens or 0 for reply in replies),
        completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
        calls=calls,
        seconds=time.monotonic() - began,
    )
