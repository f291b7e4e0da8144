"""BERTScore (Zhang et al., 2020): each token's best cosine similarity with the other text,
averaged.

recall    = sum over x_i in reference of idf(x_i) * max over y_j of cos(x_i, y_j) / sum of idf(x_i)
precision = the same with output and reference exchanged;  F = 2 P R / (P + R)
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Corpus, Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.encoding import Encoded, compared
from geval.evaluators.neural.loading import load_model
from geval.evaluators.references import Reduction

# The layer by model that, according to the paper's authors, agrees best with human ratings of
# translations.
BEST_LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "xlm-roberta-large": 17,
    "microsoft/deberta-xlarge-mnli": 40,
}


class BertScoreSettings(NeuralSettings):
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )
    measure: Literal["f", "precision", "recall"] = Field(
        "f", description="The F score, precision or recall."
    )
    against: Literal["references", "source"] = Field(
        "references", description="What the output is compared with."
    )
    layer: int | None = Field(
        None,
        ge=0,
        le=200,
        description=(
            "Whose states are compared. Empty: the best known for the model, else the last."
        ),
    )
    idf: bool = Field(
        False,
        title="Weigh by rarity",
        description="Rare tokens count more (idf over the references).",
    )
    baseline: float = Field(
        0.0,
        ge=-1,
        lt=1,
        description="Rescales x to (x - b) / (1 - b); the mean score of unrelated texts.",
    )


class BertScore(NeuralEvaluator):
    kind = "bertscore"
    title = "BERTScore"
    summary = "Similarity of the words of output and reference in their contexts, by an encoder."
    paper = "Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT"
    needs: ClassVar = frozenset({"references"})
    Settings: ClassVar = BertScoreSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def score_of_empty(self) -> float:
        # As in the release: similarity is 0, which is rescaled like every score.
        baseline = self.settings.baseline
        return float((0.0 - baseline) / (1 - baseline))

    def looks_at_now(self) -> frozenset[str]:
        texts = "references" if self.settings.against == "references" else "sources"
        return frozenset({texts} if self.settings.idf else ())

    def load(self) -> None:
        self.loaded = load_model(self.settings.model, "AutoModel", self.settings, title=self.title)
        layer = (
            self.settings.layer
            if self.settings.layer is not None
            else BEST_LAYERS.get(self.settings.model, -1)
        )
        self.layer = min(layer, self.loaded.model.config.num_hidden_layers)
        self.idf: Callable[[int], float] = lambda _token: 1.0

    def look(self, corpus: Corpus) -> None:
        texts = corpus.references if self.settings.against == "references" else corpus.sources
        self.idf = inverse_document_frequency(
            [self.loaded.tokenizer(text)["input_ids"] for text in texts]
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return compared(
            self.loaded,
            items,
            self.settings.against,
            self._pair,
            layers=[self.layer],
            size=self.settings.batch_size,
            references=self.settings.references,
        )

    def _pair(self, output: Encoded, other: Encoded) -> float:
        value = bertscore(output, other, self.idf)[self.settings.measure]
        return float((value - self.settings.baseline) / (1 - self.settings.baseline))


def bertscore(output: Encoded, reference: Encoded, idf: Callable[[int], float]) -> dict[str, float]:
    """Return precision, recall and F of two encoded texts.

    Special tokens have weight 0 but can be matched, as in the release.
    """
    import torch

    similarity = torch.nn.functional.normalize(
        output.vectors[0], dim=-1
    ) @ torch.nn.functional.normalize(reference.vectors[0], dim=-1).transpose(0, 1)
    sides = {}
    for name, best, text in (
        ("precision", similarity.max(dim=1).values, output),
        ("recall", similarity.max(dim=0).values, reference),
    ):
        weights = torch.tensor(
            [
                0.0 if special else idf(token)
                for token, special in zip(text.ids, text.special, strict=True)
            ]
        )
        total = weights.sum()
        sides[name] = float((best * weights).sum() / total) if total > 0 else 0.0
    total = sides["precision"] + sides["recall"]
    return sides | {"f": 2 * sides["precision"] * sides["recall"] / total if total else 0.0}


def inverse_document_frequency(documents: Sequence[Sequence[int]]) -> Callable[[int], float]:
    """idf(w) = log((N + 1) / (df(w) + 1)) over N texts as token ids."""
    count = len(documents)
    frequency = Counter(token for ids in documents for token in set(ids))
    return lambda token: math.log((count + 1) / (frequency[token] + 1))
