"""What a judge asks with; apart from how it asks, so that reading a run loads no client."""

from dataclasses import dataclass
from typing import Literal

# What OpenAI's protocol allows.
MOST_CHOICES = 128
MOST_ALTERNATIVES = 20

Mode = Literal["logprobs", "samples", "direct"]


@dataclass(frozen=True)
class RequestSettings:
    """What a judge asks with.

    What its endpoint was found to take: `most_choices` in a call, `top_logprobs` alternatives for a
    token, and whether `top_p` may be sent.
    """

    model: str
    mode: Mode
    samples: int = 20
    temperature: float | None = 0.0
    max_tokens: int = 32
    length_parameter: str = "max_tokens"
    min_coverage: float = 0.0
    most_choices: int = MOST_CHOICES
    top_logprobs: int = MOST_ALTERNATIVES
    sends_top_p: bool = True

    @property
    def replies_each(self) -> int:
        """How many replies a question is to get."""
        return self.samples if self.mode == "samples" else 1

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest reply is asked for, so that asking again seldom gets another."""
        return self.temperature == 0
