"""Planted defects: how the stand-in's ratings lean if it is started with `--leaning`."""

import re

# A name of a family of models, and the kind of sentence that speaks to a judge.
_FAMILY = re.compile(r"\b(?:gpt|claude|gemini|llama|qwen|mistral|stand-in)", re.I)
_SPEAKS = re.compile(r"\bhighest (?:rating|score)\b", re.I)
LEANINGS = ("", "position", "length", "family", "instruction", "strict", "squeezed", "noisy")
_LEAN = 0.15
_MOST_WORDS = 120


def leaned(share: float, leaning: str, *, output: str, output_first: bool, luck: float) -> float:
    """A quality as a judge with a defect sees it.

    Args:
        share: the quality, from 0 to 1.
        leaning: of `LEANINGS`, empty for none.
        output_first: whether the prompt shows the output before its source.
        luck: a draw that is another one each time; from -1 to 1.
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
