"""chrF (Popović, 2015) with the package sacrebleu: an F score of shared character n-grams."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from geval.evaluators.base import Item, LocalEvaluator, Outcome
from geval.evaluators.references import INSTALL, ReferenceSettings, reduced
from geval.llm.scoring import Scored


class ChrfSettings(ReferenceSettings):
    word_order: int = Field(
        0, ge=0, le=4, title="Longest n-gram of words", description="0 for chrF, 2 for chrF++."
    )
    beta: int = Field(2, ge=1, le=5, description="How much more recall weighs than precision.")


class Chrf(LocalEvaluator):
    kind = "chrf"
    title = "chrF"
    summary = (
        "Overlap of character sequences with references; kind to languages with many word forms; 0"
        " to 100."
    )
    family = "Lexical"
    paper = "Popović (2015), chrF: character n-gram F-score for automatic MT evaluation"
    packages = ("sacrebleu",)
    install = INSTALL
    needs = frozenset({"references"})
    Settings: ClassVar = ChrfSettings

    def score_of_empty(self) -> float:
        return 0.0  # no n-gram is recalled

    def load(self) -> None:
        from sacrebleu.metrics.chrf import CHRF

        self.metric = CHRF(word_order=self.settings.word_order, beta=self.settings.beta)

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return [Scored.plain(self._one(item.texts.output, item.texts.references)) for item in items]

    def _one(self, output: str, references: Sequence[str]) -> float:
        scores = (
            float(self.metric.sentence_score(output, [reference]).score) for reference in references
        )
        return reduced(scores, self.settings.references)
