"""Judge outputs: probe the model, generate evaluation steps, then ask each prompt once. It uses the
same prompts, parsers, scoring and pacing as a site's workers."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from geval.evaluating.kept_answers import KeptAnswers
from geval.evaluating.outputs import JudgedOutput
from geval.evaluators.base import Item
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.advice import FailuresInARow, FirstItems
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import Findings
from geval.llm.in_flight import InFlight
from geval.llm.judge_settings import JudgeSettings, usual_temperature
from geval.llm.judgement import JudgeQuestion
from geval.llm.metering import CallUsage, ask_counted
from geval.llm.pacer import Pacer
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from geval.llm.parsing import Failure, Reason
from geval.llm.probe import REAL_PROMPTS, probe_model
from geval.llm.prompts import PromptParts, needs_steps, steps_request
from geval.llm.replies import Reply
from geval.llm.request_settings import Mode, RequestSettings
from geval.llm.requests import Request, request_key
from geval.llm.scoring import Scored
from geval.llm.server_fit import LearnedFit
from geval.llm.written_steps import StepsError, read_steps

# Rate limits are waited for; the user can stop the program and continue later.
PATIENT = RetryPolicy(rate_limit_patience=1800)
Outcome = Scored | Failure


class EvaluationError(Exception):
    """A judge could not continue; the message says why and what to do. Answers are kept."""


@dataclass(frozen=True)
class JudgingTask:
    """The judge's task.

    `steps` are evaluation steps, "" for none, None for those that the model writes.
    """

    parts: PromptParts
    model: str
    base_url: str
    settings: JudgeSettings
    evaluator: LlmEvaluator
    steps: str | None = None


@dataclass(frozen=True)
class JudgingResult:
    """The results: an outcome for each output, in order; the settings, steps and template that were
    used."""

    outcomes: tuple[Outcome, ...]
    settings: RequestSettings
    steps: str
    template: str


class Judging:
    """Asks an endpoint about outputs.

    Args:
        kept: stored answers, which are not requested again.
        note: called with each outcome.
    """

    def __init__(
        self,
        asked: JudgingTask,
        client: Client,
        kept: KeptAnswers,
        outputs: Sequence[JudgedOutput],
        note: Callable[[Outcome], None],
    ) -> None:
        self._asked = asked
        self._client = client
        self._kept = kept
        self._outputs = outputs
        self._note = note
        characters = sum(len(each.texts.source) + len(each.texts.output) for each in outputs)
        self.caller = Caller(
            client,
            most=asked.settings.concurrency,
            characters_each=characters // max(1, len(outputs)),
        )

    async def judge(self) -> JudgingResult:
        """Judge all outputs.

        Raises:
            EvaluationError: the endpoint cannot be used, or most items fail for one reason.
        """
        try:
            settings = await self._fitted()
            steps = await self._steps(settings)
            template = self._asked.evaluator.template(self._asked.parts, steps or None)
            outcomes = await self._outcomes(template, settings)
        except EndpointError as error:
            raise EvaluationError(error.message) from error
        except StepsError as error:
            raise EvaluationError(str(error)) from error
        return JudgingResult(outcomes, settings, steps, template)

    async def _fitted(self) -> RequestSettings:
        """Return the settings that the model accepts, which is probed once."""
        asked, chosen = self._asked, self._asked.settings
        if not asked.evaluator.is_probed:
            self._check_scale("")
            unprobed = RequestSettings(asked.model, cast(Mode, ""))
            return replace(unprobed, min_coverage=chosen.min_coverage)
        options = chosen.request_options
        name = f"{asked.model} {json.dumps(options, sort_keys=True)}" if options else asked.model
        findings = self._kept.findings(asked.base_url, name)
        if findings is None:
            findings = await probe_model(
                self._client,
                asked.model,
                self._samples(),
                max_tokens=chosen.max_tokens,
                min_coverage=chosen.min_coverage,
                options=options,
            )
            self._kept.keep_findings(asked.base_url, name, findings.as_json())
        mode = chosen.mode or findings.best_mode
        if why := asked.evaluator.why_not_with(findings) or findings.why_not(mode):
            raise EvaluationError(why)
        self._check_scale(mode)
        return _settings(chosen, findings, asked.model, cast(Mode, mode))

    def _check_scale(self, mode: str) -> None:
        if why := self._asked.evaluator.why_not_on(self._asked.parts.scale, mode):
            raise EvaluationError(why)

    def _samples(self) -> list[JudgeQuestion]:
        """Return questions about the first possible outputs, for the probe; in text form, so that
        the findings apply to every form of replies, and without steps, which cannot be requested
        before the probe."""
        template = self._asked.evaluator.template(self._asked.parts, self._asked.steps or None)
        settings = RequestSettings(self._asked.model, "direct")
        questions: list[JudgeQuestion] = []
        failure = None
        for output in self._outputs:
            question = self._question(template, output, settings)
            if isinstance(question, JudgeQuestion):
                questions.append(replace(question, form="text"))
            else:
                failure = failure or question
            if len(questions) == REAL_PROMPTS:
                break
        if not questions:
            raise EvaluationError(failure.detail if failure else "There is nothing to judge.")
        return questions

    async def _steps(self, settings: RequestSettings) -> str:
        asked = self._asked
        wants_steps = asked.evaluator.writes_steps and needs_steps(asked.parts)
        if asked.steps is not None or not wants_steps:
            return asked.steps or ""
        request = steps_request(asked.parts, settings)
        key = request_key(asked.base_url, request)
        answer = self._kept.answer(key)
        if answer is None:
            answer = await self._ask(request, LearnedFit(settings.fit))
            steps = read_steps(answer.choices[0])
            self._kept.keep(key, answer.choices[:1], answer.model)
            return steps
        return read_steps(answer.choices[0])

    def _question(self, template: str, output: JudgedOutput, settings: RequestSettings) -> Any:
        parts = self._asked.parts
        item = Item(output.texts, parts.criterion, template)
        return self._asked.evaluator.question(item, parts.scale, settings)

    async def _outcomes(self, template: str, settings: RequestSettings) -> tuple[Outcome, ...]:
        """Return outcomes; outputs with the same prompt are asked about once in each repeat."""
        questions = [self._question(template, output, settings) for output in self._outputs]
        outcomes: dict[int, Outcome] = {}
        alike: dict[str, list[int]] = {}
        for index, question in enumerate(questions):
            if isinstance(question, Failure):
                outcomes[index] = question
                self._note(question)
                continue
            requests = self._asked.evaluator.requests(question, settings)
            key = request_key(self._asked.base_url, *requests)
            # The first repeat is answered by what was asked without any.
            if (repeat := self._outputs[index].repeat) not in ("", "1"):
                key = f"{key} {repeat}"
            alike.setdefault(key, []).append(index)
        waiting = iter(alike.items())
        stopping = _Stopping(settings)
        learned = LearnedFit(settings.fit)

        async def judge_next() -> None:
            for key, places in waiting:
                outcome = await self._outcome(key, questions[places[0]], settings, learned)
                for index in places:
                    outcomes[index] = _noted(outcome, self._outputs[index])
                    self._note(outcome)
                stopping.note(outcome)

        await _all(judge_next() for _ in range(self._asked.settings.concurrency))
        return tuple(outcomes[index] for index in range(len(self._outputs)))

    async def _outcome(
        self, key: str, question: Any, settings: RequestSettings, learned: LearnedFit
    ) -> Outcome:
        evaluator = self._asked.evaluator
        answer = self._kept.answer(key)
        if answer is not None:
            return evaluator.score_again([answer], question, settings)

        async def ask(request: Any) -> Answer:
            return await self._ask(request, learned)

        try:
            judgement = await evaluator.judge(question, settings, ask)
        except EndpointError as error:
            if error.kind.stops_run:
                raise
            reason = Reason.CONTEXT if error.kind == ErrorKind.CONTEXT_LENGTH else Reason.ENDPOINT
            return Failure(reason, f"{error.kind}: {error.message}")
        if judgement.is_kept:
            choices = [choice for answer in judgement.answers for choice in answer.choices]
            self._kept.keep(key, choices, judgement.answers[-1].model)
        return judgement.outcome

    async def _ask(self, request: Request, learned: LearnedFit) -> Answer:
        policy = replace(PATIENT, has_answered=self.caller.has_answered)
        return await ask_until_answered(self.caller.call, request, policy=policy, learned=learned)


class _Stopping:
    """Stops judging early, before all items are paid for, if all would fail."""

    def __init__(self, settings: RequestSettings) -> None:
        self._rules = (FirstItems(settings), FailuresInARow())

    def note(self, outcome: Outcome) -> None:
        """Count an item.

        Raises:
            EvaluationError: the others would fail for the same reason.
        """
        for rule in self._rules:
            if why := rule.note(outcome):
                raise EvaluationError(f"{why} Fix the cause and run it again.")


class Caller:
    """A program's calls to an endpoint, within its limits of concurrency and rate; `spent` counts
    what they used.

    A site's workers share a pace in their database; here there is a single caller with its own.

    Args:
        most: the limit of concurrent calls.
        characters_each: estimated length of a prompt, for limits on tokens.
    """

    def __init__(self, client: Client, *, most: int, characters_each: int) -> None:
        self.spent = CallUsage()
        self.has_answered = False
        self._client = client
        self._pace = Pace()
        self._in_flight = InFlight(most)
        self._pacer = Pacer(
            self._exchange, self._look, tokens_each=estimated_tokens(characters_each), most=most
        )

    async def call(self, request: Request) -> Reply:
        """Make a call as soon as it may be sent.

        Raises:
            EndpointError: the endpoint answered with an error, or not at all.
        """
        async with self._in_flight.call() as flight:
            number = await self._pacer.turn()
            try:
                await flight.leave()
                reply = await ask_counted(self._client, request, self.spent)
            except BaseException as error:
                self._pacer.ended(number, error)
                raise
        self.has_answered = True
        self._pacer.ended(number, limits=reply.limits)
        return reply

    async def _exchange(self, seen: WorkerReport, wanted: int) -> PacingTurn:
        now = time.monotonic()
        self._pace, slots = self._pace.learned(seen, now).reserved(wanted, now)
        return PacingTurn(self._pace, slots, now)

    async def _look(self) -> Pace:
        return self._pace


def _noted(outcome: Outcome, output: JudgedOutput) -> Outcome:
    return outcome.noting(output.texts.not_shown) if isinstance(outcome, Scored) else outcome


async def _all(work: Iterator[Any]) -> None:
    """Run tasks concurrently; the first error cancels all."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _settings(chosen: JudgeSettings, findings: Findings, model: str, mode: Mode) -> RequestSettings:
    temperature = usual_temperature(mode) if chosen.temperature is None else chosen.temperature
    return RequestSettings(
        model,
        mode,
        samples=chosen.samples,
        temperature=temperature if findings.temperature else None,
        max_tokens=findings.room_for_replies(chosen.max_tokens),
        length_parameter=findings.length_parameter,
        min_coverage=chosen.min_coverage,
        fit=findings.fit,
        options=chosen.request_options,
    )
