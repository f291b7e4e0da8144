"""The compact JSON form in which replies are stored. Pure."""

from collections.abc import Sequence
from typing import Any

from geval.llm.replies import EchoedToken, ReplyChoice, Token
from geval.llm.thoughts import without_thoughts


def choices_to_json(choices: Sequence[ReplyChoice]) -> list[dict[str, Any]]:
    """Convert choices to the stored form; `choices_from_json` is the inverse."""
    return [
        {
            "text": choice.text,
            "finish_reason": choice.finish_reason,
            **({"refusal": choice.refusal} if choice.refusal else {}),
            **({"thought": choice.thought} if choice.thought else {}),
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
    """Read the choices of a stored reply; thoughts that were stored within them are removed."""
    return tuple(_read(choice) for choice in stored)


def _read(choice: dict[str, Any]) -> ReplyChoice:
    return without_thoughts(
        ReplyChoice(
            text=choice["text"],
            finish_reason=choice["finish_reason"],
            refusal=choice.get("refusal", ""),
            thought=choice.get("thought", ""),
            tokens=(
                tuple(
                    Token(text, logprob, tuple((other, value) for other, value in alternatives))
                    for text, logprob, alternatives in choice["tokens"]
                )
                if choice.get("tokens") is not None
                else None
            ),
            echoed=(
                tuple(EchoedToken(*pair) for pair in choice["echoed"])
                if choice.get("echoed") is not None
                else None
            ),
        )
    )
