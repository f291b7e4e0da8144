"""A model's replies with the fields that a judge needs. Pure data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from geval.llm.rate_headers import RateHeaders

# The names of OpenAI and most others, Mistral, Anthropic, and Gemini.
_CUT = ("length", "model_length", "max_tokens")
TOOL_CALL = "tool_calls"


@dataclass(frozen=True)
class Token:
    """A token of a reply, its log-probability, and the likeliest alternatives at its position as
    (text, logprob)."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()

    @cached_property
    def probabilities(self) -> Mapping[str, float]:
        """The probability of each text at this position. The chosen one counts even if the list of
        alternatives omits it."""
        of_texts: dict[str, float] = {}
        for text, logprob in self.alternatives:
            of_texts[text] = of_texts.get(text, 0.0) + _probability(logprob)
        if self.text not in of_texts:
            of_texts[self.text] = _probability(self.logprob)
        return of_texts


def _probability(logprob: float) -> float:
    # Servers send -9999 or -inf for "practically never", and rounding may push a certain token
    # slightly above 0; NaN is none.
    return 0.0 if math.isnan(logprob) else math.exp(min(logprob, 0.0))


@dataclass(frozen=True)
class EchoedToken:
    """A token of an echoed text; the first has no log-probability."""

    text: str
    logprob: float | None


@dataclass(frozen=True)
class ReplyChoice:
    """One reply. `tokens` is None where the endpoint gave no log-probabilities; `echoed` is None
    where no echo was requested. `thought` is what the model thought before its answer
    (thoughts.py)."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    thought: str = ""
    tokens: tuple[Token, ...] | None = None
    echoed: tuple[EchoedToken, ...] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the reply reached its length limit, so that it may end within a number."""
        return self.finish_reason.lower() in _CUT

    @property
    def why_empty(self) -> str:
        """Why a complete reply has no text; "" if that is not known."""
        if self.finish_reason == TOOL_CALL:
            return "The reply is a call of a tool. Switch the server's parser of tool calls off."
        if self.thought:
            return (
                "The server put the answer into its reasoning. Switch the server's reasoning parser"
                " off."
            )
        return ""


@dataclass(frozen=True)
class Reply:
    """An endpoint's answer: its choices, the token counts that it states (of the input tokens how
    many were cached; of the output tokens how many were reasoning), and its rate limits (None: not
    stated)."""

    choices: tuple[ReplyChoice, ...]
    model: str = ""
    request_id: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    limits: RateHeaders | None = None
