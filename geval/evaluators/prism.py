"""PRISM (Thompson and Post, 2020): a multilingual model as a paraphraser, used in both
directions."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.bartscore import Direction, score_directed
from geval.evaluators.base import EvaluatorError, Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.loading import load_model
from geval.evaluators.references import Reduction


class PrismSettings(NeuralSettings):
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )
    against: Literal["references", "source"] = Field(
        "references",
        description="Both directions with a reference, or the output given the source.",
    )
    language: str = Field(
        "",
        description="The code by which a multilingual model knows the texts' language, such as en.",
    )


class Prism(NeuralEvaluator):
    kind = "prism"
    title = "PRISM"
    summary = (
        "How readily a multilingual model restates the reference as the output, and the output as"
        " the reference."
    )
    paper = (
        "Thompson and Post (2020), Automatic MT Evaluation in Many Languages via Zero-Shot"
        " Paraphrasing"
    )
    Settings: ClassVar = PrismSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def load(self) -> None:
        self.loaded = load_model(
            self.settings.model, "AutoModelForSeq2SeqLM", self.settings, title=self.title
        )
        language, tokenizer = self.settings.language, self.loaded.tokenizer
        if language:
            if not hasattr(tokenizer, "src_lang"):
                raise EvaluatorError(
                    f"{self.title}: {self.settings.model!r} knows no languages; leave that empty."
                )
            try:
                tokenizer.src_lang = tokenizer.tgt_lang = language
            except KeyError:
                raise EvaluatorError(
                    f"{self.title}: the model does not know the language {language!r}."
                ) from None

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        direction: Direction = (
            "both" if self.settings.against == "references" else "source_to_output"
        )
        size, references = self.settings.batch_size, self.settings.references
        return score_directed(self.loaded, items, direction, size=size, references=references)
