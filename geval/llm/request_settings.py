"""What a judge asks with; apart from how it asks, so that reading a run loads no client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from geval.llm.server_fit import TAKES_ALL, ServerFit

Mode = Literal["logprobs", "samples", "direct"]


@dataclass(frozen=True)
class RequestSettings:
    """What a judge asks with; `fit` is what its endpoint was found to take of that;
    `options` are sent as they are (request_options.py)."""

    model: str
    mode: Mode
    samples: int = 20
    temperature: float | None = 0.0
    max_tokens: int = 32
    length_parameter: str = "max_tokens"
    min_coverage: float = 0.0
    fit: ServerFit = TAKES_ALL
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replies_each(self) -> int:
        """How many replies a question is to get."""
        return self.samples if self.mode == "samples" else 1

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest reply is asked for, so that asking again seldom gets another."""
        return self.temperature == 0
