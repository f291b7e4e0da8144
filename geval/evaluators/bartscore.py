"""BARTScore (Yuan et al., 2021): mean log-probability of a text given another, by an
encoder-decoder model."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Item, Outcome, Text, mean
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.combining import combined, regrouped
from geval.evaluators.neural.likelihood import ConditionedText, conditional_log_likelihood
from geval.evaluators.neural.loading import Loaded, load_model
from geval.evaluators.references import Reduction, reduced

Direction = Literal["source_to_output", "reference_to_output", "output_to_reference", "both"]


class BartScoreSettings(NeuralSettings):
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )
    direction: Direction = Field(
        "source_to_output",
        description=(
            "Faithfulness (source to output), precision (reference to output), recall (output to "
            "reference), or the mean of the latter two."
        ),
    )


class BartScore(NeuralEvaluator):
    kind = "bartscore"
    title = "BARTScore"
    summary = (
        "How likely an encoder-decoder model is to write the output from the source, or from a"
        " reference."
    )
    paper = "Yuan et al. (2021), BARTScore: Evaluating Generated Text as Text Generation"
    Settings: ClassVar = BartScoreSettings

    def needed(self) -> frozenset[Text]:
        return frozenset(
            {"source" if self.settings.direction == "source_to_output" else "references"}
        )

    def load(self) -> None:
        self.loaded = load_model(
            self.settings.model, "AutoModelForSeq2SeqLM", self.settings, title=self.title
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        size, references = self.settings.batch_size, self.settings.references
        return score_directed(
            self.loaded, items, self.settings.direction, size=size, references=references
        )


def score_directed(
    loaded: Loaded, items: Sequence[Item], direction: Direction, *, size: int, references: Reduction
) -> list[Outcome]:
    """Return the mean log-probability in a direction, or the mean of both."""
    groups = [group for item in items for group in directed(item, direction)]
    flat = [pair for group in groups for pair in group]
    likelihoods = conditional_log_likelihood(loaded, flat, size=size)
    each = [
        combined(group, lambda values: reduced(values, references))
        for group in regrouped(likelihoods, [len(group) for group in groups])
    ]
    sides = 2 if direction == "both" else 1
    return [combined(part, mean) for part in regrouped(each, [sides] * len(items))]


def directed(item: Item, direction: Direction) -> list[list[ConditionedText]]:
    """Return what is scored given what: one list per direction, with a pair for each reference."""
    texts = item.texts
    references = [reference for reference in texts.references if reference.strip()]
    precision = [
        ConditionedText(reference, texts.output, "reference", "output") for reference in references
    ]
    recall = [
        ConditionedText(texts.output, reference, "output", "reference") for reference in references
    ]
    return {
        "source_to_output": [[ConditionedText(texts.source, texts.output)]],
        "reference_to_output": [precision],
        "output_to_reference": [recall],
        "both": [precision, recall],
    }[direction]
