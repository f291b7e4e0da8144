"""A model's replies with the few fields that a judge needs, and their compact JSON form. Pure
data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluations.llm.rate_headers import RateHeaders


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
    echo was asked."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    tokens: tuple[Token, ...] | None = None
    echoed: tuple[EchoedToken, ...] | None = None


@dataclass(frozen=True)
class Reply:
    """One answer of an endpoint: its choices, the tokens that it says the call took, and what it
    says about rate limits (None: it does not say)."""

    choices: tuple[ReplyChoice, ...]
    model: str = ""
    request_id: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    limits: RateHeaders | None = None


def choices_to_json(choices: Sequence[ReplyChoice]) -> list[dict[str, Any]]:
    """The stored form; `choices_from_json` is its inverse."""
    return [
        {
            "text": choice.text,
            "finish_reason": choice.finish_reason,
            **({"refusal": choice.refusal} if choice.refusal else {}),
            **(
                {
                    "tokens": [
                        [token.text, token.logprob, [list(a) for a in token.alternatives]]
                        for token in choice.tokens
                    ]
                }
                if choice.tokens is not None
                else {}
            ),
            **(
                {"echoed": [[token.text, token.logprob] for token in choice.echoed]}
                if choice.echoed is not None
                else {}
            ),
        }
        for choice in choices
    ]


def choices_from_json(stored: Sequence[dict[str, Any]]) -> tuple[ReplyChoice, ...]:
    return tuple(
        ReplyChoice(
            text=choice["text"],
            finish_reason=choice["finish_reason"],
            refusal=choice.get("refusal", ""),
            tokens=(
                tuple(
                    Token(text, logprob, tuple((other, value) for other, value in alternatives))
                    for text, logprob, alternatives in choice["tokens"]
                )
                if "tokens" in choice
                else None
            ),
            echoed=(
                tuple(EchoedToken(*pair) for pair in choice["echoed"])
                if "echoed" in choice
                else None
            ),
        )
        for choice in stored
    )
