"""Similarity of sentence embeddings: the cosine between the output and the source, or a
reference."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.encoding import Encoded, compared
from geval.evaluators.neural.loading import load_model
from geval.evaluators.references import Reduction


class EmbeddingSettings(NeuralSettings):
    against: Literal["source", "references"] = Field(
        "source", description="What the output is compared with."
    )
    pooling: Literal["mean", "first"] = Field(
        "mean",
        description=(
            "The mean of the tokens' vectors, or the first token's, as the model was trained."
        ),
    )
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )


class EmbeddingSimilarity(NeuralEvaluator):
    kind = "embedding"
    title = "Embedding similarity"
    summary = "Cosine between sentence embeddings of the output and the source, or a reference."
    paper = (
        "Reimers and Gurevych (2019), Sentence-BERT: Sentence Embeddings using Siamese"
        " BERT-Networks"
    )
    Settings: ClassVar = EmbeddingSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def load(self) -> None:
        self.loaded = load_model(self.settings.model, "AutoModel", self.settings, title=self.title)

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return compared(
            self.loaded,
            items,
            self.settings.against,
            self._pair,
            layers=[-1],
            size=self.settings.batch_size,
            references=self.settings.references,
        )

    def _pair(self, output: Encoded, other: Encoded) -> float:
        import torch

        return float(
            torch.nn.functional.cosine_similarity(self._pooled(output), self._pooled(other), dim=0)
        )

    def _pooled(self, text: Encoded) -> Any:
        states = text.vectors[0]
        return states[0] if self.settings.pooling == "first" else states.mean(dim=0)
