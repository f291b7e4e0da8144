"""Find out what a model on an endpoint can do, with a few calls of a few tokens each."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from evaluations.llm.calls import RetryPolicy, ask_until_answered
from evaluations.llm.endpoints import Client
from evaluations.llm.errors import EndpointError, ErrorKind
from evaluations.llm.replies import Reply
from evaluations.llm.requests import ChatRequest, EchoRequest

QUESTION = "Answer with one digit only. How many sides does a triangle have?"
TRIED_ALTERNATIVES = (20, 5, 1)
TRIED_CHOICES = (20, 8, 2)
# A usual model stops after one token; one that thinks first needs more.
TOKENS = 16
TOKENS_WITH_THOUGHT = 4_096
_UNABLE = (ErrorKind.BAD_REQUEST, ErrorKind.MALFORMED, ErrorKind.MODEL_NOT_FOUND, ErrorKind.SERVER)
Found = TypeVar("Found")


@dataclass(frozen=True)
class Findings:
    """What a probe found. `logprobs` is how many alternatives come for a token, 0 for no
    log-probabilities at all; `top_logprobs` how many may be asked for, and `most_choices` how many
    replies in a call (None: found by a version that did not look). `thinks` says whether the model
    thinks before it answers.

    `notes` are sentences for what the flags cannot say, by the flag's name.
    """

    answered_model: str
    length_parameter: str
    temperature: bool
    logprobs: int
    several_choices: bool
    system_role: bool
    echo: bool
    top_logprobs: int | None = None
    most_choices: int | None = None
    top_p: bool | None = None
    thinks: bool = False
    notes: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def best_mode(self) -> str:
        """The scoring mode to suggest: probabilities where they come, samples where they can
        differ."""
        if self.logprobs:
            return "logprobs"
        return "samples" if self.temperature else "direct"

    def why_not(self, mode: str) -> str:
        """Why a scoring mode cannot be used here, as a sentence; empty if it can."""
        if mode == "logprobs" and not self.logprobs:
            return (
                "This endpoint returns no log-probabilities for this model; use the mode samples "
                "or direct."
            )
        return ""


async def probe_model(client: Client, model: str) -> Findings:
    """Make calls until it is known what the endpoint and the model can do.

    Raises:
        EndpointError: it does not answer at all: wrong key, unknown model, nobody there.
    """
    notes: dict[str, str] = {}
    plain, reply = await _plain_request(client, model, notes)
    text = reply.choices[0].text.strip()
    thinks = bool(reply.choices[0].thought) or (not text and reply.choices[0].is_cut)
    if thinks:
        notes["thinks"] = "Replies need room for the thought; its length is limited with them."
        plain = replace(plain, max_tokens=TOKENS_WITH_THOUGHT)
    elif not text:
        notes["answer"] = "The reply was empty."
    elif "3" not in text:
        notes["answer"] = f"Asked for the sides of a triangle it said “{text[:60]}”."
    most_choices = await _most_choices(client, plain, notes)
    own_nucleus = replace(plain, temperature=plain.temperature and 1.0, extra={"top_p": 1.0})
    top_p = await _try(lambda: client.chat(own_nucleus), notes, "top_p")
    system = await _try(
        lambda: client.chat(replace(plain, system="You rate texts.")), notes, "system_role"
    )
    echoed = await _try(lambda: client.echo(EchoRequest(model, "A short text.")), notes, "echo")
    logprobs, top_logprobs = await _most_alternatives(client, plain, notes)
    return Findings(
        answered_model=reply.model or model,
        length_parameter=plain.length_parameter,
        temperature=plain.temperature is not None,
        logprobs=logprobs,
        top_logprobs=top_logprobs,
        several_choices=most_choices > 1,
        most_choices=most_choices,
        top_p=top_p is not None,
        thinks=thinks,
        system_role=system is not None,
        echo=bool(
            echoed and any(token.logprob is not None for token in echoed.choices[0].echoed or ())
        ),
        notes=notes,
    )


async def _plain_request(
    client: Client, model: str, notes: dict[str, str]
) -> tuple[ChatRequest, Reply]:
    """The plainest request the model answers, and its answer."""
    request = ChatRequest(model=model, prompt=QUESTION, temperature=0.0, max_tokens=TOKENS)
    variants = [
        request,
        replace(request, length_parameter="max_completion_tokens"),
        replace(request, temperature=None),
        replace(request, length_parameter="max_completion_tokens", temperature=None),
    ]
    refused = EndpointError(ErrorKind.BAD_REQUEST, "")
    for variant in variants:
        try:
            reply = await _patiently(client, variant)
        except EndpointError as error:
            if error.kind != ErrorKind.BAD_REQUEST:
                raise
            refused = error
            continue
        if variant.temperature is None:
            notes["temperature"] = f"It accepts only its own temperature: {refused.message}"
        return variant, reply
    raise refused


async def _patiently(client: Client, request: ChatRequest) -> Reply:
    policy = RetryPolicy(attempts=4, first_wait=0.5, longest_wait=5)
    answer = await ask_until_answered(client.chat, request, policy=policy)
    return Reply(answer.choices, model=answer.model)


async def _most_choices(client: Client, plain: ChatRequest, notes: dict[str, str]) -> int:
    """How many choices come in a call, of those that are tried."""
    for wanted in TRIED_CHOICES:
        reply = await _try(partial(client.chat, replace(plain, n=wanted)), notes, "several_choices")
        if reply is None:
            continue
        if len(reply.choices) == 1:
            notes["several_choices"] = (
                "It accepts n but returns only one choice; each sample takes one call."
            )
        elif wanted < TRIED_CHOICES[0]:
            notes["several_choices"] = f"It takes n up to {wanted}; samples are split into calls."
        return len(reply.choices)
    return 1


async def _most_alternatives(
    client: Client, plain: ChatRequest, notes: dict[str, str]
) -> tuple[int, int]:
    """How many alternatives come for a token, and how many may be asked for."""
    for wanted in TRIED_ALTERNATIVES:
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
        if wanted < TRIED_ALTERNATIVES[0]:
            notes["logprobs"] = f"It takes top_logprobs up to {wanted}."
        return max((len(token.alternatives) for token in tokens), default=0), wanted
    return 0, 0


async def _try(
    call: Callable[[], Awaitable[Found]], notes: dict[str, str], name: str
) -> Found | None:
    """A call that may be beyond the endpoint: None, with the endpoint's words as a note."""
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
