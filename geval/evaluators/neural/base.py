"""An evaluator with a model of `transformers`: its device, batch size and treatment of long
texts."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import LocalEvaluator, Settings
from geval.llm.parsing import Failure, Reason

INSTALL = "pip install 'geval-site[neural]'"
PACKAGES = ("torch", "transformers")


class NeuralSettings(Settings):
    """Settings of every evaluator with a local model."""

    model: str = Field(
        description="Name of a model on the Hugging Face hub, or a folder of the worker."
    )
    device: str = Field("auto", description="auto (a GPU if there is one), cpu, cuda, cuda:1, mps.")
    batch_size: int = Field(
        32, ge=1, le=4096, title="Texts at a time", description="Fewer need less memory."
    )
    over_limit: Literal["fail", "cut"] = Field(
        "fail",
        title="Texts over the limit",
        description=(
            "What to do with a text that is longer than the model accepts: fail the item, or cut "
            "the text and note it with the score."
        ),
    )
    max_tokens: int | None = Field(
        None,
        ge=8,
        le=1_000_000,
        title="Longest input",
        description="In tokens. Empty: what the model says of itself.",
    )


class NeuralEvaluator(LocalEvaluator):
    """Loads `self.model` and `self.tokenizer`; subclasses score."""

    family: ClassVar = "Neural"
    packages: ClassVar[tuple[str, ...]] = PACKAGES
    install: ClassVar = INSTALL
    many_processes: ClassVar = False  # a model uses all cores, or a GPU, by itself
    chunk: ClassVar = 256
    Settings: ClassVar[Any] = NeuralSettings

    @abstractmethod
    def load(self) -> None: ...


@dataclass(frozen=True)
class LengthLimits:
    """How many tokens a model accepts, and what to do with longer texts."""

    model: str
    most: int
    cut: bool

    def fitted(self, ids: Sequence[int], what: str) -> tuple[list[int], str] | Failure:
        """Return the token ids that fit, with a note if some were cut; the last one, which ends the
        text, is kept."""
        return self._fitted(ids, [*ids[: self.most - 1], *ids[-1:]], what)

    def fitted_end(self, ids: Sequence[int], what: str) -> tuple[list[int], str] | Failure:
        """Return the last token ids that fit, so that the end of a conversation is kept."""
        return self._fitted(ids, list(ids[-self.most :]), what)

    def _fitted(
        self, ids: Sequence[int], kept: list[int], what: str
    ) -> tuple[list[int], str] | Failure:
        if len(ids) <= self.most:
            return list(ids), ""
        if not self.cut:
            return Failure(
                Reason.TOO_LONG,
                f"The {what} has {len(ids)} tokens and {self.model} takes {self.most}. Set"
                " over_limit to cut, or choose a model with a longer input.",
            )
        return kept, f"The {what} was cut from {len(ids)} to {self.most} tokens."


def by_length(
    rows: Sequence[Any],
    size: int,
    *,
    length: Callable[[Any], int],
    work: Callable[[list[Any]], Iterable[Any]],
) -> list[Any]:
    """Call `work` on batches of rows of similar length, the longest first; return results in the
    order of the rows.

    Rows of similar length need little padding, and if memory does not suffice the first batch
    fails.
    """
    order = sorted(range(len(rows)), key=lambda index: -length(rows[index]))
    by_length: list[Any] = [None] * len(rows)
    for begin in range(0, len(order), size):
        batch = order[begin : begin + size]
        for index, result in zip(batch, work([rows[index] for index in batch]), strict=True):
            by_length[index] = result
    return by_length
