"""A model's replies with the few fields that a judge needs. Pure data."""

from dataclasses import dataclass

from geval.llm.rate_headers import RateHeaders

# As OpenAI and most others call it, Mistral, Anthropic, and Gemini.
_CUT = ("length", "model_length", "max_tokens")


@dataclass(frozen=True)
class Token:
    """A token of a reply, its log-probability, and the likeliest alternatives at its place as
    (text, logprob)."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class EchoedToken:
    """A token of a text that was sent and came back; the first has no log-probability."""

    text: str
    logprob: float | None


@dataclass(frozen=True)
class ReplyChoice:
    """One reply. `tokens` is None where the endpoint gave no log-probabilities; `echoed` where no
    echo was asked. `thought` is what the model thought before its answer (thoughts.py)."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    thought: str = ""
    tokens: tuple[Token, ...] | None = None
    echoed: tuple[EchoedToken, ...] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether it reached the limit of its length, so that it may end within a number."""
        return self.finish_reason.lower() in _CUT


@dataclass(frozen=True)
class Reply:
    """One answer of an endpoint: its choices, the tokens that it says the call took (of those in,
    how many were `cached`; of those out, how many were a thought), and what it says about rate
    limits (None: it does not say)."""

    choices: tuple[ReplyChoice, ...]
    model: str = ""
    request_id: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    limits: RateHeaders | None = None
