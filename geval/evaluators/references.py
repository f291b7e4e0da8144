"""Combine the scores against several references, and the settings for it."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from geval.evaluators.base import Settings, mean

INSTALL = "pip install 'geval-site[evaluators]'"
Reduction = Literal["max", "mean"]


class ReferenceSettings(Settings):
    """Settings of evaluators that compare an output with one reference at a time."""

    references: Reduction = Field(
        "max",
        title="Several references",
        description="Take the best or the mean over a document's references.",
    )


def reduced(values: Iterable[float], how: Reduction) -> float:
    """Return the best or the mean of the scores per reference."""
    return max(values) if how == "max" else mean(values)
