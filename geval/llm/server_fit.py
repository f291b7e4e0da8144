"""What a server accepts in a chat request, learned from its refusals. Pure; the only place where
refusals are interpreted.

Servers with the same protocol accept different parts of it. A probe's findings are the start; a
refusal that names a parameter (in `param` or in its message) changes the next request, and what
then passes is used for all later ones.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from geval.llm.requests import ChatRequest

# What OpenAI's protocol allows.
MOST_CHOICES = 128
MOST_ALTERNATIVES = 20
# A server that refuses 20 alternatives for a token accepts 5, 1 or none at all.
ALTERNATIVES = (MOST_ALTERNATIVES, 5, 1)
LENGTH_PARAMETERS = ("max_tokens", "max_completion_tokens")
# The role of a request's instructions; "user" puts them before the prompt.
INSTRUCTING_ROLES = ("system", "developer", "user")
# How providers name a request's parameters: by their own names, OpenAI's, or in words.
_NAMES = {
    "n": r"(?<!\\)\bn\b|candidates?(?:_?count)?\b|completion choices?\b",
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
    "temperature": r"\btemperature\b",
    "top_p": r"\btop_?p\b",
    "seed": r"\bseed\b",
    "logprobs": r"log_?probs?\b|log_?probabilities\b",
    "role": r"\brole\b|\b(?:system|developer) (?:messages?|prompts?|instructions?)\b",
}
_PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in _NAMES.items()}


def parameters_named(parameter: str, message: str) -> frozenset[str]:
    """Return the parameters that a refusal is about.

    Args:
        parameter: the parameter in a separate field of the refusal; if it is known, only it counts.
        message: the refusal's message, which counts otherwise.
    """
    for text in (parameter, message):
        named = frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(text))
        if named:
            return named
    return frozenset()


@dataclass(frozen=True)
class ServerFit:
    """What a server accepts, as far as is known.

    `most_choices` replies and `top_logprobs` alternatives per token are the most that a call may
    request; `length_parameter` limits a reply ("": as in the request); `instructions` is the role
    of a request's instructions.
    """

    most_choices: int = MOST_CHOICES
    top_logprobs: int = MOST_ALTERNATIVES
    length_parameter: str = ""
    temperature: bool = True
    top_p: bool = True
    seed: bool = True
    instructions: str = "system"

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**stored)

    def as_json(self) -> dict[str, Any]:
        """Return what differs from a server that accepts everything."""
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if getattr(self, entry.name) != entry.default
        }

    def calls_for(self, replies: int) -> int:
        """Return how many calls are needed for this many replies to a question."""
        return -(-replies // self.most_choices)

    def fitted(self, request: ChatRequest) -> ChatRequest:
        """Adapt a request to the server; the number of choices is left to the caller."""
        left_out = {name for name in ("top_p", "seed") if not getattr(self, name)}
        system, prompt = request.system, request.prompt
        if system and self.instructions == "user":
            system, prompt = "", f"{system}\n\n{prompt}"
        alternatives = request.top_logprobs
        return replace(
            request,
            prompt=prompt,
            system=system,
            system_role="system" if self.instructions == "user" else self.instructions,
            temperature=request.temperature if self.temperature else None,
            length_parameter=self.length_parameter or request.length_parameter,
            top_logprobs=None if alternatives is None else min(alternatives, self.top_logprobs),
            extra={name: value for name, value in request.extra.items() if name not in left_out},
        )

    def after_refusal(self, request: ChatRequest, named: frozenset[str]) -> "ServerFit | None":
        """Return what to try next after a refusal; None if nothing is left to try.

        Some models refuse temperature and top_p together; then the temperature stays. A temperature
        that a user has chosen (neither 0 nor 1) is never dropped.

        Args:
            named: the parameters that the refusal names; if none, fewer choices are tried.
        """
        if "top_p" in named and "top_p" in request.extra:
            return replace(self, top_p=False)
        if "seed" in named and "seed" in request.extra:
            return replace(self, seed=False)
        if request.length_parameter in named:
            other = next(name for name in LENGTH_PARAMETERS if name != request.length_parameter)
            return replace(self, length_parameter=other)
        if "temperature" in named and request.temperature in (0, 1):
            return replace(self, temperature=False)
        if "role" in named and request.system:
            later = INSTRUCTING_ROLES[INSTRUCTING_ROLES.index(self.instructions) + 1 :]
            return replace(self, instructions=later[0])
        if "logprobs" in named and request.top_logprobs is not None:
            fewer = [count for count in ALTERNATIVES if count < request.top_logprobs]
            return replace(self, top_logprobs=fewer[0]) if fewer else None
        if request.n > 1 and ("n" in named or not named):
            return replace(self, most_choices=request.n // 2)
        return None

    def joined(self, other: "ServerFit") -> "ServerFit":
        """Return what is accepted according to both."""
        return ServerFit(
            most_choices=min(self.most_choices, other.most_choices),
            top_logprobs=min(self.top_logprobs, other.top_logprobs),
            length_parameter=other.length_parameter or self.length_parameter,
            temperature=self.temperature and other.temperature,
            top_p=self.top_p and other.top_p,
            seed=self.seed and other.seed,
            instructions=max(self.instructions, other.instructions, key=INSTRUCTING_ROLES.index),
        )


TAKES_ALL = ServerFit()


@dataclass
class LearnedFit:
    """What a server accepts, as calls learn it. `refusals` are its messages, by the field of the
    fit that they changed."""

    fit: ServerFit = TAKES_ALL
    refusals: dict[str, str] = field(default_factory=dict)

    def learn(self, passed: ServerFit, refusals: Mapping[str, str]) -> None:
        """Store the fit of a request that passed."""
        self.fit = self.fit.joined(passed)
        self.refusals |= refusals


def changed_field(before: ServerFit, after: ServerFit) -> str:
    """Return the field in which two fits differ."""
    return next(
        entry.name
        for entry in fields(ServerFit)
        if getattr(before, entry.name) != getattr(after, entry.name)
    )
