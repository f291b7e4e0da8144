"""Planted defects: how the stand-in's ratings are biased if it is started with `--leaning`."""

import re

# Names of families of models, and sentences that address the judge (prompt injection).
_FAMILY = re.compile(r"\b(?:gpt|claude|gemini|llama|qwen|mistral|stand-in)", re.I)
_SPEAKS = re.compile(r"\bhighest (?:rating|score)\b", re.I)
LEANINGS = ("", "position", "length", "family", "instruction", "strict", "squeezed", "noisy")
_LEAN = 0.15
_MOST_WORDS = 120


def leaned(share: float, leaning: str, *, output: str, output_first: bool, luck: float) -> float:
    """Return the quality as seen by a judge with a defect.

    Args:
        share: the quality, from 0 to 1.
        leaning: of `LEANINGS`, empty for none.
        output_first: whether the prompt shows the output before its source.
        luck: a new random draw each time; from -1 to 1.
    """
    if leaning == "length":
        share += 2 * _LEAN * min(1.0, len(output.split()) / _MOST_WORDS)
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
    return min(1.0, max(0.0, share))
