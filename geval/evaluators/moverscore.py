"""MoverScore (Zhao et al., 2019): how far the words of one text have to be moved to become the
other's.

The earth mover's distance between the tokens' vectors, weighted by idf; score = 1 - distance. The
exact optimum is computed by linear programming.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from geval.evaluators.base import Corpus, Item, Outcome
from geval.evaluators.bertscore import inverse_document_frequency
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.encoding import Encoded, compared
from geval.evaluators.neural.loading import load_model
from geval.evaluators.neural.transport import earth_movers_distance
from geval.evaluators.references import Reduction
from geval.llm.parsing import Failure, Reason


class MoverScoreSettings(NeuralSettings):
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )
    layers: int = Field(
        5,
        ge=1,
        le=50,
        title="Layers",
        description="How many of the last layers are put together by power means.",
    )
    idf: bool = Field(
        True, title="Weigh by rarity", description="Rare tokens count more (idf over the corpus)."
    )


class MoverScore(NeuralEvaluator):
    kind = "moverscore"
    title = "MoverScore"
    summary = "Least cost of moving the output's words, in their contexts, onto the reference's."
    paper = (
        "Zhao et al. (2019), MoverScore: Text Generation Evaluating with Contextualized Embeddings"
    )
    needs: ClassVar = frozenset({"references"})
    chunk: ClassVar = 64
    Settings: ClassVar = MoverScoreSettings

    def looks_at_now(self) -> frozenset[str]:
        return frozenset({"references", "outputs"} if self.settings.idf else ())

    def load(self) -> None:
        self.loaded = load_model(self.settings.model, "AutoModel", self.settings, title=self.title)
        self.idf_of_outputs: Callable[[int], float] = lambda _token: 1.0
        self.idf_of_references: Callable[[int], float] = lambda _token: 1.0

    def look(self, corpus: Corpus) -> None:
        tokenizer = self.loaded.tokenizer
        self.idf_of_outputs = inverse_document_frequency(
            [tokenizer(text)["input_ids"] for text in corpus.outputs]
        )
        self.idf_of_references = inverse_document_frequency(
            [tokenizer(text)["input_ids"] for text in corpus.references]
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return compared(
            self.loaded,
            items,
            "references",
            self._pair,
            layers=range(-min(self.settings.layers, self.loaded.model.config.num_hidden_layers), 0),
            size=self.settings.batch_size,
            references=self.settings.references,
            what="reference",
        )

    def _pair(self, output: Encoded, other: Encoded) -> float | Failure:
        left, right = weighed(output, self.idf_of_outputs), weighed(other, self.idf_of_references)
        if left is None or right is None:
            return Failure(
                Reason.UNDEFINED, "A text has no token that weighs anything; try without idf."
            )
        return 1 - earth_movers_distance(*left, *right)


def weighed(text: Encoded, idf: Callable[[int], float]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return unit vectors (tokens, size) and weights (tokens,) that sum to 1; None if all weights
    are 0.

    The layers of a token are combined by their power means for p = 1, minus and plus infinity
    (mean, minimum, maximum), concatenated.
    """
    kept = [index for index, special in enumerate(text.special) if not special]
    weights = np.array([idf(text.ids[index]) for index in kept])
    if not kept or weights.sum() <= 0:
        return None
    layers = text.vectors[:, kept].numpy()
    vectors = np.concatenate([layers.mean(axis=0), layers.min(axis=0), layers.max(axis=0)], axis=1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), weights / weights.sum()
