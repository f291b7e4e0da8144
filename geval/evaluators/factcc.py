"""FactCC (Kryściński et al., 2020): the probability that a classifier calls the output consistent
with its source."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from geval.evaluators.base import Item, Outcome, mean
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.classifying import label_index, label_probability
from geval.evaluators.neural.combining import combined, regrouped
from geval.evaluators.neural.loading import ModelClass, load_model
from geval.evaluators.sentences import sentences

USUAL_LABELS = ("correct", "consistent", "entailment", "faithful", "supported")


class FactCcSettings(NeuralSettings):
    label: str = Field(
        "", description="The classifier's label for consistent. Empty: a usual name is looked for."
    )
    by_sentence: bool = Field(
        True,
        title="Sentence by sentence",
        description="Ask about each sentence of the output; the mean counts.",
    )


class FactCc(NeuralEvaluator):
    kind = "factcc"
    title = "FactCC"
    summary = (
        "A classifier, trained to spot contradictions or to judge entailment, reads the source and"
        " the output."
    )
    paper = (
        "Kryściński et al. (2020), Evaluating the Factual Consistency of Abstractive Text"
        " Summarization"
    )
    needs: ClassVar = frozenset({"source"})
    packages: ClassVar = (*NeuralEvaluator.packages, "nltk")
    Settings: ClassVar = FactCcSettings

    def load(self) -> None:
        kind: ModelClass = "AutoModelForSequenceClassification"
        self.loaded = load_model(self.settings.model, kind, self.settings, title=self.title)
        self.label = label_index(
            self.loaded.model.config, self.settings.label, USUAL_LABELS, self.title
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        claims = [
            sentences(item.texts.output) if self.settings.by_sentence else [item.texts.output]
            for item in items
        ]
        pairs = [
            (item.texts.source, claim)
            for item, listed in zip(items, claims, strict=True)
            for claim in listed
        ]
        probabilities = label_probability(
            self.loaded, pairs, self.label, "source with the output", size=self.settings.batch_size
        )
        return [
            combined(group, mean)
            for group in regrouped(probabilities, [len(listed) for listed in claims])
        ]
