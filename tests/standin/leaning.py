"""Planted defects of the stand-in's ratings (`--leaning`)."""

import random
import re

from geval.standin.features import unit
from geval.standin.judging import StandInReading, distribution
from geval.standin.replies import Rate, usual_rate

# Names of families of models, and sentences that address the judge (prompt injection).
_FAMILY = re.compile(r"\b(?:gpt|claude|gemini|llama|qwen|mistral|stand-in)", re.I)
_SPEAKS = re.compile(r"\bhighest (?:rating|score)\b", re.I)
LEANINGS = ("", "position", "length", "family", "instruction", "strict", "squeezed", "noisy")
_LEAN = 0.15
_LONG_OUTPUT_WORDS = 120


def rate_with(leaning: str) -> Rate:
    """Return how a judge with a defect rates; as usual for an empty one."""

    def rate(reading: StandInReading, source: random.Random) -> dict[int, float]:
        luck = source.uniform(-1, 1)
        return distribution(
            reading,
            lambda share: leaned(
                share, leaning, output=reading.output, output_first=reading.output_first, luck=luck
            ),
        )

    return rate if leaning else usual_rate


def leaned(share: float, leaning: str, *, output: str, output_first: bool, luck: float) -> float:
    """Return the quality as seen by a judge with a defect.

    Args:
        share: the quality, from 0 to 1.
        leaning: of `LEANINGS`, empty for none.
        output_first: whether the prompt shows the output before its source.
        luck: a new random draw each time; from -1 to 1.
    """
    if leaning == "length":
        share += 2 * _LEAN * min(1.0, len(output.split()) / _LONG_OUTPUT_WORDS)
    elif leaning == "squeezed":
        share = 0.5 + 0.3 * (share - 0.5)
    elif leaning == "noisy":
        share += 3 * _LEAN * luck
    elif leaning == "strict":
        share -= _LEAN
    elif (
        (leaning == "position" and output_first)
        or (leaning == "family" and _FAMILY.search(output))
        or (leaning == "instruction" and _SPEAKS.search(output))
    ):
        share += _LEAN
    return unit(share)
