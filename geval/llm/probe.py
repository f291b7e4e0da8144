"""Find out what a model on an endpoint can do: with a few calls of a few tokens each, then real
prompts in the scoring mode that they suggest, at last an echo.

An ability is there, missing, or not known: an error that may pass says nothing about it.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from geval.llm.calls import Answer, Retries, RetryPolicy, ask_until_answered
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import TOKENS_WITH_THOUGHT, Findings
from geval.llm.judgement import Judgement, JudgeQuestion, score_choices
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import Reply
from geval.llm.request_settings import Mode, RequestSettings
from geval.llm.requests import ChatRequest, EchoRequest
from geval.llm.responses import RESPONSES, route_at
from geval.llm.scoring import Scored, why_not_by_logprobs
from geval.llm.server_fit import (
    ALTERNATIVES,
    INSTRUCTING_ROLES,
    MOST_ALTERNATIVES,
    TAKES_ALL,
    LearnedFit,
    ServerFit,
)
from geval.llm.structured import read_rating, schema_of
from geval.statistics.scales import Scale

QUESTION = "Answer with one digit only. How many sides does a triangle have?"
CHOICES = (20, 8, 2)
# Most models stop after one token; a reasoning model needs more.
TOKENS = 16
TOKENS_OF_REASONS = 512
# Room for a rating in JSON that a server spreads over several lines.
JSON_TOKENS = 64
ONE_TO_FIVE = Scale(1, 5)
# Enough to see that sampled replies can be read.
SAMPLES = 2
# Prompts that show whether a scoring mode can be read: most of them have to be.
REAL_PROMPTS = 3
# Errors that say that the server lacks an ability.
_LACKS = (
    ErrorKind.BAD_REQUEST, ErrorKind.MALFORMED, ErrorKind.NO_REPLY, ErrorKind.MODEL_NOT_FOUND
)  # fmt: skip
_POLICY = RetryPolicy(attempts=4, first_wait=0.5, longest_wait=5, rate_limit_patience=60)
# Failures because of the text, not of the mode.
_OF_THE_TEXT = (Reason.REFUSAL, Reason.PROMPT, Reason.CONTEXT)
# Failures that every item would have, so that the mode is ruled out; others depend on the model's
# reply, which may be better for other texts.
_OF_THE_SERVER = (Reason.NO_LOGPROBS, Reason.ENDPOINT, Reason.EMPTY)
Result = TypeVar("Result")


@dataclass
class _Notebook:
    """The server's messages about abilities, and the abilities that are not known."""

    notes: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def note(self, ability: str, error: EndpointError) -> None:
        """Note that a question about an ability was not answered.

        Raises:
            EndpointError: it concerns every question, such as a wrong key.
        """
        if error.kind in _LACKS:
            self.unknown.discard(ability)
        elif error.kind.is_passing or error.kind == ErrorKind.LONG_WAIT:
            self.unknown.add(ability)
        else:
            raise error
        self.notes[ability] = error.message


async def probe_model(
    client: Client,
    model: str,
    questions: Sequence[JudgeQuestion],
    *,
    max_tokens: int,
    min_coverage: float,
    options: Mapping[str, Any] | None = None,
) -> Findings:
    """Find out with calls what the endpoint and the model can do.

    Args:
        questions: real questions on one scale, which are asked in the suggested mode.
        max_tokens: the limit of a reply to them, if the model does not think first.
        min_coverage: the least coverage with log-probabilities, as a share.
        options: sent with each request (request_options.py).

    Raises:
        EndpointError: it does not answer at all: wrong key, unknown model, unreachable.
    """
    notebook = _Notebook()
    findings = await _find_abilities(client, model, options or {}, notebook)
    settings = RequestSettings(
        model=model,
        mode="direct",
        samples=SAMPLES,
        max_tokens=TOKENS_WITH_THOUGHT if findings.thinks else max_tokens,
        length_parameter=findings.length_parameter,
        min_coverage=min_coverage,
        fit=findings.fit,
        options=options or {},
    )
    findings = await _with_tried_modes(findings, client, questions, settings, notebook)
    # Last, because a gateway may answer nothing for a while after a route that is not there.
    echo = await _echoes(client, model, notebook)
    unknown = tuple(sorted(notebook.unknown))
    return replace(findings, echo=echo, unknown=unknown, notes=dict(notebook.notes))


async def _find_abilities(
    client: Client, model: str, options: Mapping[str, Any], notebook: _Notebook
) -> Findings:
    """Find out what the server accepts, with questions of a few tokens."""
    notes = notebook.notes
    learned = LearnedFit()
    plain, reply, thinks = await _plain_request(client, model, options, learned)
    text = reply.choices[0].text.strip()
    if thinks:
        notes["thinks"] = "Replies need room for the thought; its length is limited with them."
    elif not text:
        notes["answer"] = reply.choices[0].why_empty or "The reply was empty."
    elif "3" not in text:
        notes["answer"] = f"Asked for the sides of a triangle it said “{text[:60]}”."
    # Some servers refuse several replies at temperature 0, where they would be identical.
    warm = replace(plain, temperature=None if plain.temperature is None else 1.0)
    await _find_rest(client, warm, learned, notebook)
    most_choices = await _most_choices(client, warm, notebook)
    logprobs, top_logprobs = await _most_alternatives(client, plain, notebook)
    schema = await _follows_schema(client, plain, notebook)
    fit = learned.fit
    notes |= learned.refusals
    if not fit.temperature:
        notes["temperature"] = (
            f"It accepts only its own temperature: {learned.refusals.get('temperature', '')}"
        )
    return Findings(
        answered_model=reply.model or model,
        length_parameter=plain.length_parameter,
        temperature=fit.temperature,
        logprobs=logprobs,
        top_logprobs=top_logprobs,
        most_choices=most_choices,
        top_p=fit.top_p,
        seed=fit.seed,
        instructions=fit.instructions,
        thinks=thinks,
        schema=schema,
        unknown=tuple(notebook.unknown),
    )


async def _echoes(client: Client, model: str, notebook: _Notebook) -> bool:
    """Find out whether a text comes back with the log-probabilities of its tokens."""
    request = EchoRequest(model, "A short text.")
    echoed = await _try(lambda: client.echo(request), notebook, "echo")
    if echoed is None:
        return False
    return any(token.logprob is not None for token in echoed.choices[0].echoed or ())


async def _plain_request(
    client: Client, model: str, options: Mapping[str, Any], learned: LearnedFit
) -> tuple[ChatRequest, Reply, bool]:
    """Return the simplest request that the model answers, its answer, and whether it thinks
    first."""
    request = ChatRequest(
        model=model, prompt=QUESTION, temperature=0.0, max_tokens=TOKENS, options=options
    )
    renamed = replace(request, length_parameter="max_completion_tokens")
    # `learned` handles refusals that name a parameter; these variants are for those that do not.
    variants = [
        request,
        replace(request, max_tokens=TOKENS_WITH_THOUGHT),
        renamed,
        replace(request, temperature=None),
        replace(renamed, temperature=None),
    ]
    refused = EndpointError(ErrorKind.BAD_REQUEST, "")
    for variant in variants:
        try:
            answer = await _ask(client, variant, learned)
        except EndpointError as error:
            if error.kind != ErrorKind.BAD_REQUEST:
                raise
            refused = refused if refused.message else error
            continue
        if variant.temperature is None and learned.fit.temperature:
            passed = ServerFit(temperature=False)
            learned.learn(passed, {"temperature": refused.message})
        plain = learned.fit.fitted(variant)
        choice = answer.choices[0]
        thinks = (
            variant.max_tokens > TOKENS
            or bool(choice.thought)
            or (not choice.text.strip() and choice.is_cut)
        )
        if thinks:
            plain = replace(plain, max_tokens=TOKENS_WITH_THOUGHT)
        return plain, Reply(answer.choices, model=answer.model), thinks
    raise refused


async def _find_rest(
    client: Client, warm: ChatRequest, learned: LearnedFit, notebook: _Notebook
) -> None:
    """Find out whether top_p, a seed and instructions are accepted: all at once, then separately if
    they are refused without a parameter's name."""
    alone = {
        "top_p": replace(warm, extra={"top_p": 1.0}),
        "seed": replace(warm, extra={"seed": 1}),
        "instructions": replace(warm, system="You rate texts."),
    }
    together = replace(warm, extra={"top_p": 1.0, "seed": 1}, system="You rate texts.")
    if await _passes(client, together, learned, _Notebook(), "all"):
        return
    for name, request in alone.items():
        if await _passes(client, request, learned, notebook, name) or name in notebook.unknown:
            continue
        without: Any = {name: INSTRUCTING_ROLES[-1] if name == "instructions" else False}
        learned.learn(replace(TAKES_ALL, **without), {name: notebook.notes[name]})


async def _passes(
    client: Client, request: ChatRequest, learned: LearnedFit, notebook: _Notebook, name: str
) -> bool:
    """Return whether a request is accepted, perhaps after adapting it."""
    try:
        await _ask(client, request, learned)
    except EndpointError as error:
        notebook.note(name, error)
        return False
    return True


async def _ask(client: Client, request: ChatRequest, learned: LearnedFit) -> Answer:
    return await ask_until_answered(client.chat, request, policy=_POLICY, learned=learned)


async def _most_choices(client: Client, warm: ChatRequest, notebook: _Notebook) -> int:
    """Find the largest tried number of choices that a call returns; 1 if it is not known."""
    notes = notebook.notes
    if route_at(client.base_url) == RESPONSES:
        notes["most_choices"] = "The Responses API gives one reply a call; each sample takes one."
        return 1
    for wanted in CHOICES:
        reply = await _try(partial(client.chat, replace(warm, n=wanted)), notebook, "most_choices")
        if "most_choices" in notebook.unknown:
            return 1
        if reply is None:
            continue
        if len(reply.choices) == 1:
            notes["most_choices"] = (
                "It accepts n but returns only one choice; each sample takes one call."
            )
        elif wanted < CHOICES[0]:
            notes["most_choices"] = f"It takes n up to {wanted}; samples are split into calls."
        return len(reply.choices)
    return 1


async def _most_alternatives(
    client: Client, plain: ChatRequest, notebook: _Notebook
) -> tuple[int, int]:
    """Find how many alternatives are returned per token, and how many may be requested."""
    notes = notebook.notes
    for wanted in ALTERNATIVES:
        reply = await _try(
            partial(client.chat, replace(plain, top_logprobs=wanted)), notebook, "logprobs"
        )
        if "logprobs" in notebook.unknown:
            return 0, MOST_ALTERNATIVES
        if reply is None:
            continue
        tokens = reply.choices[0].tokens
        if not tokens:
            notes["logprobs"] = "It accepts the request for log-probabilities but returns none."
            return 0, wanted
        notes.pop("logprobs", None)
        if wanted < ALTERNATIVES[0]:
            notes["logprobs"] = f"It takes top_logprobs up to {wanted}."
        return max((len(token.alternatives) for token in tokens), default=0), wanted
    return 0, 0


async def _follows_schema(client: Client, plain: ChatRequest, notebook: _Notebook) -> bool:
    """Find out whether replies follow a JSON schema; some servers accept a schema and ignore it."""
    asked = replace(
        plain,
        schema=schema_of(ONE_TO_FIVE, "rating"),
        max_tokens=max(plain.max_tokens, JSON_TOKENS),
    )
    reply = await _try(partial(client.chat, asked), notebook, "schema")
    if reply is None:
        return False
    rating = read_rating(reply.choices[0], scale=ONE_TO_FIVE, criterion="", form="rating")
    if isinstance(rating, Failure):
        notebook.notes["schema"] = rating.detail
    return not isinstance(rating, Failure)


async def _try(
    call: Callable[[], Awaitable[Result]], notebook: _Notebook, ability: str
) -> Result | None:
    """Make a call that the endpoint may not support; None if it has no answer, which is noted."""
    retries = Retries(_POLICY)
    while True:
        try:
            return await call()
        except EndpointError as error:
            try:
                pause = retries.pause(error)
            except EndpointError as last:
                notebook.note(ability, last)
                return None
            await asyncio.sleep(pause)


async def _with_tried_modes(
    findings: Findings,
    client: Client,
    questions: Sequence[JudgeQuestion],
    settings: RequestSettings,
    notebook: _Notebook,
) -> Findings:
    """Add the results of real prompts in the suggested mode, and in the next ones until most
    replies can be read."""
    modes: dict[str, str] = {}
    unusable: list[str] = []
    thinks, logprobs = findings.thinks, findings.logprobs
    for mode in findings.likely_modes:
        if mode == "logprobs" and why_not_by_logprobs(questions[0].scale):
            continue
        temperature = 1.0 if mode == "samples" else 0.0
        settings = replace(
            settings, mode=mode, temperature=temperature if findings.temperature else None
        )
        tried, thinks = await _tried(questions, settings, client, notebook, thinks=thinks)
        if mode == "logprobs" and not logprobs:
            logprobs = _alternatives(tried, notebook)
        notebook.notes["mode"] = _why(mode, tried, modes, findings)
        failures = _failures(tried)
        if 2 * len(failures) < len(questions):
            modes[mode] = ""
            break
        reason = Counter(failure.reason for failure in failures).most_common(1)[0][0]
        failure = next(each for each in failures if each.reason == reason)
        modes[mode] = f"{reason.explanation} {failure.detail}".strip()
        if reason in _OF_THE_SERVER and mode not in notebook.unknown:
            unusable.append(mode)
    return replace(
        findings, logprobs=logprobs, modes=modes, unusable=tuple(unusable), thinks=thinks
    )


async def _tried(
    questions: Sequence[JudgeQuestion],
    settings: RequestSettings,
    client: Client,
    notebook: _Notebook,
    *,
    thinks: bool,
) -> tuple[list[Judgement], bool]:
    """Return judgements of real prompts until most cannot be read, and whether replies need
    room."""
    tried: list[Judgement] = []
    was_longer = thinks
    for question in questions:
        judgement = await _judged(question, settings, client, notebook)
        if _is_cut(judgement) and not was_longer:
            was_longer = True
            # A thought is long; a reason before a rating is a few sentences.
            room = TOKENS_WITH_THOUGHT if _has_thought(judgement) else TOKENS_OF_REASONS
            longer = replace(settings, max_tokens=room)
            judgement = await _judged(question, longer, client, notebook)
            if isinstance(judgement.outcome, Scored):
                settings, thinks = longer, True
                notebook.notes["thinks"] = (
                    "It gives reasons before a rating; replies need room for them."
                )
        tried.append(judgement)
        if 2 * len(_failures(tried)) >= len(questions):
            break
    return tried, thinks


def _failures(tried: Sequence[Judgement]) -> list[Failure]:
    """Return why replies cannot be read, except where that is because of the text."""
    outcomes = [each.outcome for each in tried]
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    return [failure for failure in failures if failure.reason not in _OF_THE_TEXT]


def _why(
    mode: Mode, tried: Sequence[Judgement], passed_over: Collection[str], findings: Findings
) -> str:
    """Return why a mode is suggested, as sentences."""
    scored = [each.outcome for each in tried if isinstance(each.outcome, Scored)]
    words = [f"{len(scored)} of {len(tried)} real prompts were read in this mode."]
    coverage = min((each.coverage or 0.0 for each in scored), default=0.0)
    if mode == "logprobs" and scored:
        words.append(f"At least {coverage:.0%} of the probability was on the scale.")
    if "logprobs" not in findings.likely_modes:
        words.append("The endpoint returns no log-probabilities.")
    if passed_over:
        words.append(f"Not read: {', '.join(passed_over)}.")
    return " ".join(words)


def _alternatives(tried: Sequence[Judgement], notebook: _Notebook) -> int:
    """Return how many alternatives real prompts had, where the short question did not show it."""
    answers = [answer for judgement in tried for answer in judgement.answers]
    choices = [choice for answer in answers for choice in answer.choices]
    tokens = [token for choice in choices for token in choice.tokens or ()]
    if answers:
        notebook.unknown.discard("logprobs")
    return max((len(token.alternatives) for token in tokens), default=0)


def _is_cut(judgement: Judgement) -> bool:
    return isinstance(judgement.outcome, Failure) and judgement.outcome.reason == Reason.CUT


def _has_thought(judgement: Judgement) -> bool:
    choices = [choice for answer in judgement.answers for choice in answer.choices]
    return any(choice.thought or not choice.text.strip() for choice in choices)


async def _judged(
    question: JudgeQuestion, settings: RequestSettings, client: Client, notebook: _Notebook
) -> Judgement:
    """Judge a question, asked once; a server's refusal becomes a failure."""
    try:
        answer = await _ask(client, question.request(settings), LearnedFit(settings.fit))
        return Judgement(score_choices([answer], question, settings), (answer,))
    except EndpointError as error:
        if error.kind == ErrorKind.CONTEXT_LENGTH:
            return Judgement(Failure(Reason.CONTEXT, error.message), ())
        notebook.note(settings.mode, error)
        return Judgement(Failure(Reason.ENDPOINT, error.message), ())
