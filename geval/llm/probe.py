"""Find out what a model on an endpoint can do: with a few calls of a few tokens each, then a real
prompt in the scoring mode that they suggest."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Self, TypeVar

from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.judge_settings import default_of
from geval.llm.judgement import Judgement, JudgeQuestion, judge
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
    MOST_CHOICES,
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
# A thought counts as part of the reply, and may have thousands of tokens.
TOKENS_WITH_THOUGHT = 4_096
TOKENS_OF_REASONS = 512
# Room for a rating in JSON that a server spreads over several lines.
JSON_TOKENS = 64
ONE_TO_FIVE = Scale(1, 5)
# Enough to see that sampled replies can be read.
SAMPLES = 2
_UNABLE = (
    ErrorKind.BAD_REQUEST,
    ErrorKind.MALFORMED,
    ErrorKind.MODEL_NOT_FOUND,
    ErrorKind.SERVER,
    ErrorKind.OVERLOADED,
)
_POLICY = RetryPolicy(attempts=4, first_wait=0.5, longest_wait=5)
# Failures because of the text, not of the mode.
_OF_THE_TEXT = (Reason.REFUSAL, Reason.PROMPT, Reason.CONTEXT)
# Failures that every item would have, so that the mode is ruled out; others depend on the model's
# reply, which may be better for other texts.
_OF_THE_SERVER = (Reason.NO_LOGPROBS, Reason.ENDPOINT, Reason.EMPTY)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Findings:
    """What a probe has learned about a model. `logprobs` is how many alternatives are returned per
    token, 0 for no log-probabilities at all; `top_logprobs` is how many may be requested, and
    `most_choices` how many replies per call. `instructions` is the role that may give instructions;
    `thinks` says whether the model thinks before it answers; `schema` whether replies follow a JSON
    schema.

    `modes` says for each scoring mode that was tried on a real prompt why the reply could not be
    read, "" where it could. `notes` are sentences for what the flags cannot express, by the flag's
    name.
    """

    answered_model: str
    length_parameter: str = "max_tokens"
    temperature: bool = True
    logprobs: int = 0
    top_logprobs: int = MOST_ALTERNATIVES
    most_choices: int = MOST_CHOICES
    top_p: bool = True
    seed: bool = True
    instructions: str = "system"
    thinks: bool = False
    echo: bool = False
    schema: bool = False
    modes: dict[str, str] = field(default_factory=dict)
    unusable: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Load stored findings; what earlier versions did not test counts as accepted."""
        names = {entry.name for entry in fields(cls)}
        given = {
            name: value for name, value in stored.items() if name in names and value is not None
        }
        if stored.get("several_choices") is False:
            given["most_choices"] = 1
        given["unusable"] = tuple(given.get("unusable", ()))
        return cls(**{"answered_model": ""} | given)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "several_choices": self.most_choices > 1,
            "system_role": self.instructions == "system",
            "best_mode": self.best_mode,
        }

    @property
    def fit(self) -> ServerFit:
        """What the server accepts in a request."""
        return ServerFit(
            most_choices=self.most_choices,
            # 0 where it returned none, so that the limit is not known.
            top_logprobs=self.top_logprobs or MOST_ALTERNATIVES,
            length_parameter=self.length_parameter,
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            instructions=self.instructions,
        )

    def with_fit(self, fit: ServerFit, refusals: Mapping[str, str]) -> Self:
        """Return the findings updated with what calls have learned since, and the server's messages
        about it."""
        learned = asdict(fit)
        learned["length_parameter"] = fit.length_parameter or self.length_parameter
        learned["top_logprobs"] = min(fit.top_logprobs, self.top_logprobs)
        return replace(self, **learned, notes=self.notes | dict(refusals))

    @property
    def likely_modes(self) -> list[Mode]:
        """The scoring modes that the server allows, best first: probabilities where it returns
        them, samples where they can differ."""
        samples_first: list[Mode] = ["samples", "direct"]
        rest = samples_first if self.temperature else samples_first[::-1]
        return ["logprobs", *rest] if self.logprobs else rest

    @property
    def best_mode(self) -> str:
        """The scoring mode to suggest: the best one whose reply to a real prompt could be read; ""
        if there was none."""
        if not self.modes:
            return self.likely_modes[0]
        return next((mode for mode in self.likely_modes if self.modes.get(mode) == ""), "")

    def room_for_replies(self, max_tokens: int) -> int:
        """Return the length limit for a judge's replies, in tokens: the default leaves no room for
        a thought, so that every reply of a reasoning model would be cut within it."""
        is_default = max_tokens == default_of("max_tokens")
        return TOKENS_WITH_THOUGHT if self.thinks and is_default else max_tokens

    def why_not(self, mode: str) -> str:
        """Return why a scoring mode cannot be used, as a sentence; empty if it can.

        Without a mode: why none can be suggested.
        """
        if not mode:
            tried = " ".join(f"{name}: {reason}" for name, reason in self.modes.items() if reason)
            return f"No scoring mode could be read on a real prompt. {tried}"
        if mode == "logprobs" and not self.logprobs:
            return (
                "This endpoint returns no log-probabilities for this model; use the mode samples "
                "or direct."
            )
        if mode in self.unusable:
            other = f" Use the mode {self.best_mode}." if self.best_mode else ""
            return f"A real prompt was tried in this mode. {self.modes[mode]}{other}"
        return ""


async def probe_model(
    client: Client,
    model: str,
    question: JudgeQuestion,
    *,
    max_tokens: int,
    min_coverage: float,
    options: Mapping[str, Any] | None = None,
) -> Findings:
    """Find out with calls what the endpoint and the model can do.

    Args:
        question: a real question, which is asked in the suggested mode.
        max_tokens: the limit of a reply to it, if the model does not think first.
        min_coverage: the least coverage with log-probabilities, as a share.
        options: sent with each request (request_options.py).

    Raises:
        EndpointError: it does not answer at all: wrong key, unknown model, unreachable.
    """
    findings = await _find_abilities(client, model, options or {})
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
    return await _with_tried_modes(findings, client, question, settings)


async def _find_abilities(client: Client, model: str, options: Mapping[str, Any]) -> Findings:
    """Find out what the server accepts, with questions of a few tokens."""
    notes: dict[str, str] = {}
    learned = LearnedFit()
    plain, reply, thinks = await _plain_request(client, model, options, learned)
    text = reply.choices[0].text.strip()
    if thinks:
        notes["thinks"] = "Replies need room for the thought; its length is limited with them."
    elif not text:
        notes["answer"] = "The reply was empty."
    elif "3" not in text:
        notes["answer"] = f"Asked for the sides of a triangle it said “{text[:60]}”."
    # Some servers refuse several replies at temperature 0, where they would be identical.
    warm = replace(plain, temperature=None if plain.temperature is None else 1.0)
    await _find_rest(client, warm, learned)
    most_choices = await _most_choices(client, warm, notes)
    echoed = await _try(lambda: client.echo(EchoRequest(model, "A short text.")), notes, "echo")
    logprobs, top_logprobs = await _most_alternatives(client, plain, notes)
    schema = await _follows_schema(client, plain, notes)
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
        echo=bool(
            echoed and any(token.logprob is not None for token in echoed.choices[0].echoed or ())
        ),
        notes=notes,
    )


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


async def _find_rest(client: Client, warm: ChatRequest, learned: LearnedFit) -> None:
    """Find out whether top_p, a seed and instructions are accepted: all at once, then separately if
    they are refused without a parameter's name."""
    alone = {
        "top_p": replace(warm, extra={"top_p": 1.0}),
        "seed": replace(warm, extra={"seed": 1}),
        "instructions": replace(warm, system="You rate texts."),
    }
    together = replace(warm, extra={"top_p": 1.0, "seed": 1}, system="You rate texts.")
    if await _passes(client, together, learned) is None:
        return
    for name, request in alone.items():
        refusal = await _passes(client, request, learned)
        if refusal is not None:
            without: Any = {name: INSTRUCTING_ROLES[-1] if name == "instructions" else False}
            learned.learn(replace(TAKES_ALL, **without), {name: refusal})


async def _passes(client: Client, request: ChatRequest, learned: LearnedFit) -> str | None:
    """Return why a request is refused even after adapting it; None if it passes."""
    try:
        await _ask(client, request, learned)
    except EndpointError as error:
        if error.kind not in _UNABLE and not error.kind.is_passing:
            raise
        return error.message
    return None


async def _ask(client: Client, request: ChatRequest, learned: LearnedFit) -> Answer:
    return await ask_until_answered(client.chat, request, policy=_POLICY, learned=learned)


async def _most_choices(client: Client, warm: ChatRequest, notes: dict[str, str]) -> int:
    """Find the largest tried number of choices that a call returns."""
    if route_at(client.base_url) == RESPONSES:
        notes["most_choices"] = "The Responses API gives one reply a call; each sample takes one."
        return 1
    for wanted in CHOICES:
        reply = await _try(partial(client.chat, replace(warm, n=wanted)), notes, "most_choices")
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
    client: Client, plain: ChatRequest, notes: dict[str, str]
) -> tuple[int, int]:
    """Find how many alternatives are returned per token, and how many may be requested."""
    for wanted in ALTERNATIVES:
        reply = await _try(
            partial(client.chat, replace(plain, top_logprobs=wanted)), notes, "logprobs"
        )
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


async def _follows_schema(client: Client, plain: ChatRequest, notes: dict[str, str]) -> bool:
    """Find out whether replies follow a JSON schema; some servers accept a schema and ignore it."""
    asked = replace(
        plain,
        schema=schema_of(ONE_TO_FIVE, "rating"),
        max_tokens=max(plain.max_tokens, JSON_TOKENS),
    )
    reply = await _try(partial(client.chat, asked), notes, "schema")
    if reply is None:
        return False
    rating = read_rating(reply.choices[0], scale=ONE_TO_FIVE, criterion="", form="rating")
    if isinstance(rating, Failure):
        notes["schema"] = rating.detail
    return not isinstance(rating, Failure)


async def _try(
    call: Callable[[], Awaitable[Result]], notes: dict[str, str], name: str
) -> Result | None:
    """Make a call that the endpoint may not support; then return None, with the endpoint's message
    as a note."""
    for _attempt in range(3):
        try:
            return await call()
        except EndpointError as error:
            if error.kind not in _UNABLE and not error.kind.is_passing:
                raise
            notes[name] = error.message
            if not error.kind.is_passing:
                return None
    return None


async def _with_tried_modes(
    findings: Findings, client: Client, question: JudgeQuestion, settings: RequestSettings
) -> Findings:
    """Add the results of a real prompt in the suggested mode, and in the next ones until a reply
    can be read."""
    modes: dict[str, str] = {}
    unusable: list[str] = []
    thinks = findings.thinks
    for mode in findings.likely_modes:
        if mode == "logprobs" and why_not_by_logprobs(question.scale):
            continue
        temperature = 1.0 if mode == "samples" else 0.0
        settings = replace(
            settings, mode=mode, temperature=temperature if findings.temperature else None
        )
        judgement = await _judged(question, settings, client)
        if _is_cut(judgement) and not thinks:
            # A thought is long; a reason before a rating is a few sentences.
            room = TOKENS_WITH_THOUGHT if _has_thought(judgement) else TOKENS_OF_REASONS
            judgement = await _judged(question, replace(settings, max_tokens=room), client)
            thinks = isinstance(judgement.outcome, Scored)
        failure = judgement.outcome
        if isinstance(failure, Scored) or failure.reason in _OF_THE_TEXT:
            modes[mode] = ""
            break
        modes[mode] = f"{failure.reason.explanation} {failure.detail}".strip()
        if failure.reason in _OF_THE_SERVER:
            unusable.append(mode)
    notes = findings.notes
    if thinks and not findings.thinks:
        notes = notes | {"thinks": "It gives reasons before a rating; replies need room for them."}
    return replace(findings, modes=modes, unusable=tuple(unusable), thinks=thinks, notes=notes)


def _is_cut(judgement: Judgement) -> bool:
    return isinstance(judgement.outcome, Failure) and judgement.outcome.reason == Reason.CUT


def _has_thought(judgement: Judgement) -> bool:
    choices = [choice for answer in judgement.answers for choice in answer.choices]
    return any(choice.thought or not choice.text.strip() for choice in choices)


async def _judged(question: JudgeQuestion, settings: RequestSettings, client: Client) -> Judgement:
    """Judge a question; a server's refusal becomes a failure."""
    learned = LearnedFit(settings.fit)
    try:
        return await judge(question, settings, lambda request: _ask(client, request, learned))
    except EndpointError as error:
        if error.kind == ErrorKind.CONTEXT_LENGTH:
            return Judgement(Failure(Reason.CONTEXT, error.message), ())
        if error.kind not in _UNABLE:
            raise
        return Judgement(Failure(Reason.ENDPOINT, error.message), ())
