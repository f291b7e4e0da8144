"""The tokens of a reply with their likeliest alternatives, as a page shows them. Pure."""

import math
from dataclasses import dataclass

from geval.llm.replies import ReplyChoice, Token

# Each token has a diagram of its alternatives; more would fill the page.
SHOWN_ALTERNATIVES = 10
SHOWN_TOKENS = 60


@dataclass(frozen=True)
class ProbabilityBar:
    """A bar: its label and a probability from 0 to 1."""

    label: str
    share: float

    @property
    def percent(self) -> float:
        return round(100 * self.share, 1)


@dataclass(frozen=True)
class TokenView:
    """A token of the reply with its likeliest alternatives."""

    text: str
    alternatives: tuple[ProbabilityBar, ...]


def shown_tokens(choice: ReplyChoice) -> tuple[TokenView, ...]:
    """Return the tokens of a reply, or the last tokens of an echoed text."""
    if choice.echoed is not None:
        tokens = [token for token in choice.echoed if token.logprob is not None]
        return tuple(
            TokenView(
                _visible(token.text),
                (ProbabilityBar("p", math.exp(min(0.0, token.logprob or 0.0))),),
            )
            for token in tokens[-SHOWN_TOKENS:]
        )
    return tuple(_token_view(token) for token in (choice.tokens or ())[:SHOWN_TOKENS])


def _token_view(token: Token) -> TokenView:
    ranked = sorted(token.alternatives or ((token.text, token.logprob),), key=lambda pair: -pair[1])
    shares = (
        ProbabilityBar(_visible(text), math.exp(min(0.0, value)))
        for text, value in ranked[:SHOWN_ALTERNATIVES]
    )
    return TokenView(_visible(token.text), tuple(shares))


def _visible(text: str) -> str:
    """Return a token with spaces and line ends made visible."""
    return text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥") or "(empty)"
