"""The settings of a judge's requests; in a separate module, so that reading a run loads no
client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from geval.llm.server_fit import TAKES_ALL, ServerFit

Mode = Literal["logprobs", "samples", "direct"]


@dataclass(frozen=True)
class RequestSettings:
    """The settings of a judge's requests; `fit` is what its endpoint accepts of them; `options` are
    sent unchanged (request_options.py)."""

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
        """How many replies to request per question."""
        return self.samples if self.mode == "samples" else 1

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest reply is requested, so that asking again seldom gives a different
        one."""
        return self.temperature == 0
