"""Similarity of sentence embeddings: the cosine between the output and the source, or a reference."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from evaluations.evaluators.base import Item, Outcome, Text
from evaluations.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from evaluations.evaluators.neural.combining import combined, regrouped
from evaluations.evaluators.neural.encoding import Encoded, encode
from evaluations.evaluators.neural.loading import load_model
from evaluations.evaluators.references import Reduction, reduced
from evaluations.judging.parsing import Failure
from evaluations.judging.scoring import Scored


class EmbeddingSettings(NeuralSettings):
    against: Literal["source", "references"] = Field("source", description="What the output is compared with.")
    pooling: Literal["mean", "first"] = Field(
        "mean",
        description="The mean of the tokens' vectors, or the first token's, as the model was trained.",
    )
    references: Reduction = Field("max", title="Several references", description="Take the best or the mean.")


class EmbeddingSimilarity(NeuralEvaluator):
    kind = "embedding"
    title = "Embedding similarity"
    summary = "Cosine between sentence embeddings of the output and the source, or a reference."
    paper = "Reimers and Gurevych (2019), Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks"
    Settings: ClassVar = EmbeddingSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def load(self) -> None:
        self.loaded = load_model(self.settings.model, "AutoModel", self.settings, title=self.title)

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        against = [
            [item.texts.source]
            if self.settings.against == "source"
            else [one for one in item.texts.references if one.strip()]
            for item in items
        ]
        outputs = self._encode([item.texts.output for item in items], "output")
        others = self._encode([text for listed in against for text in listed], self.settings.against)
        groups = regrouped(others, [len(listed) for listed in against])  # type: ignore[arg-type]
        return [
            combined(
                [self._pair(output, other) for other in group],
                lambda values: reduced(values, self.settings.references),
            )
            for output, group in zip(outputs, groups, strict=True)
        ]

    def _encode(self, texts: Sequence[str], what: str) -> list[Encoded | Failure]:
        return encode(self.loaded, texts, what, layers=[-1], size=self.settings.batch_size)

    def _pair(self, output: Encoded | Failure, other: Any) -> Outcome:
        import torch

        for side in (output, other):
            if isinstance(side, Failure):
                return side
        assert isinstance(output, Encoded)
        left, right = (self._pooled(side) for side in (output, other))
        note = " ".join(note for note in (output.note, other.note) if note)
        return Scored.plain(float(torch.nn.functional.cosine_similarity(left, right, dim=0)), note)

    def _pooled(self, text: Encoded) -> Any:
        states = text.vectors[0]
        return states[0] if self.settings.pooling == "first" else states.mean(dim=0)
