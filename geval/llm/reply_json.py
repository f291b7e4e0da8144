"""The compact JSON form in which replies are stored. Pure."""

from collections.abc import Sequence
from typing import Any

from geval.llm.replies import EchoedToken, ReplyChoice, Token
from geval.llm.thoughts import without_thoughts


def choices_to_json(choices: Sequence[ReplyChoice]) -> list[dict[str, Any]]:
    """Convert choices to the stored form; `choices_from_json` is the inverse."""
    return [_stored(choice) for choice in choices]


def choices_from_json(stored: Sequence[dict[str, Any]]) -> tuple[ReplyChoice, ...]:
    """Read the choices of a stored reply; thoughts that were stored within them are removed."""
    return tuple(_read(choice) for choice in stored)


def _stored(choice: ReplyChoice) -> dict[str, Any]:
    stored: dict[str, Any] = {"text": choice.text, "finish_reason": choice.finish_reason}
    texts = {"refusal": choice.refusal, "thought": choice.thought}
    stored |= {name: text for name, text in texts.items() if text}
    if choice.tokens is not None:
        stored["tokens"] = [
            [token.text, token.logprob, [*map(list, token.alternatives)]] for token in choice.tokens
        ]
    if choice.echoed is not None:
        stored["echoed"] = [[token.text, token.logprob] for token in choice.echoed]
    return stored


def _read(choice: dict[str, Any]) -> ReplyChoice:
    tokens, echoed = choice.get("tokens"), choice.get("echoed")
    return without_thoughts(
        ReplyChoice(
            choice["text"],
            choice["finish_reason"],
            refusal=choice.get("refusal", ""),
            thought=choice.get("thought", ""),
            tokens=None if tokens is None else tuple(_token(*token) for token in tokens),
            echoed=None if echoed is None else tuple(EchoedToken(*pair) for pair in echoed),
        )
    )


def _token(text: str, logprob: float, alternatives: Sequence[Sequence[Any]]) -> Token:
    return Token(text, logprob, tuple((other, value) for other, value in alternatives))
