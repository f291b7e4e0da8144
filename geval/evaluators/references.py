"""One score out of several references, and the settings that say how."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from geval.evaluators.base import Settings, mean

INSTALL = "pip install 'geval-site[evaluators]'"
Reduction = Literal["max", "mean"]


class ReferenceSettings(Settings):
    """For evaluators that compare an output with one reference at a time."""

    references: Reduction = Field(
        "max",
        title="Several references",
        description="Take the best or the mean over a document's references.",
    )


def reduced(values: Iterable[float], how: Reduction) -> float:
    """The best or the mean of one score per reference."""
    return max(values) if how == "max" else mean(values)
