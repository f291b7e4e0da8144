"""PRISM (Thompson and Post, 2020): a multilingual model as a paraphraser, asked in both directions."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from evaluations.evaluators.bartscore import directed
from evaluations.evaluators.base import EvaluatorError, Item, Outcome, Text, mean
from evaluations.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from evaluations.evaluators.neural.combining import combined, regrouped
from evaluations.evaluators.neural.likelihood import conditional_log_likelihood
from evaluations.evaluators.neural.loading import load_model
from evaluations.evaluators.references import Reduction, reduced


class PrismSettings(NeuralSettings):
    references: Reduction = Field("max", title="Several references", description="Take the best or the mean.")
    against: Literal["references", "source"] = Field(
        "references", description="Both directions with a reference, or the output given the source."
    )
    language: str = Field(
        "", description="The code by which a multilingual model knows the texts' language, such as en."
    )


class Prism(NeuralEvaluator):
    kind = "prism"
    title = "PRISM"
    summary = "How readily a multilingual model restates the reference as the output, and the output as the reference."
    paper = "Thompson and Post (2020), Automatic MT Evaluation in Many Languages via Zero-Shot Paraphrasing"
    Settings: ClassVar = PrismSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def load(self) -> None:
        self.loaded = load_model(self.settings.model, "AutoModelForSeq2SeqLM", self.settings, title=self.title)
        language, tokenizer = self.settings.language, self.loaded.tokenizer
        if language:
            if not hasattr(tokenizer, "src_lang"):
                raise EvaluatorError(f"{self.title}: {self.settings.model!r} knows no languages; leave that empty.")
            try:
                tokenizer.src_lang = tokenizer.tgt_lang = language
            except KeyError:
                raise EvaluatorError(f"{self.title}: the model does not know the language {language!r}.") from None

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        direction = "both" if self.settings.against == "references" else "source_to_output"
        groups = [group for item in items for group in directed(item, direction)]  # type: ignore[arg-type]
        flat = [pair for group in groups for pair in group]
        found = conditional_log_likelihood(self.loaded, flat, size=self.settings.batch_size)
        each = [
            combined(group, lambda values: reduced(values, self.settings.references))
            for group in regrouped(found, [len(group) for group in groups])
        ]
        sides = 2 if direction == "both" else 1
        return [combined(part, mean) for part in regrouped(each, [sides] * len(items))]
