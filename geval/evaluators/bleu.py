"""BLEU (Papineni et al., 2002) of single outputs, with the package sacrebleu."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Item, LocalEvaluator, Outcome, Settings
from geval.evaluators.references import INSTALL, Reduction, reduced
from geval.llm.scoring import Scored


class BleuSettings(Settings):
    references: Literal["together", "max", "mean"] = Field(
        "together",
        title="Several references",
        description=(
            "Count matches with any of them, as BLEU was designed; or score each separately and "
            "use the best or the mean."
        ),
    )
    order: int = Field(4, ge=1, le=8, title="Longest n-gram", description="4 for BLEU-4.")
    tokenize: Literal["13a", "none", "intl", "char", "zh"] = Field(
        "13a", title="Tokens", description="sacrebleu's tokenizer; “none” splits at blanks."
    )
    lowercase: bool = Field(False, description="Ignore case.")


class Bleu(LocalEvaluator):
    kind = "bleu"
    title = "BLEU"
    summary = "Precision of n-grams against references, with a penalty for short outputs; 0 to 100."
    family = "Lexical"
    paper = "Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation"
    packages = ("sacrebleu",)
    install = INSTALL
    needs = frozenset({"references"})
    Settings: ClassVar = BleuSettings

    def score_of_empty(self) -> float:
        return 0.0  # the brevity penalty of an empty text

    def load(self) -> None:
        from sacrebleu.metrics.bleu import BLEU

        # Single sentences often share no 4-gram; sacrebleu recommends effective order for them.
        self.metric = BLEU(
            effective_order=True,
            max_ngram_order=self.settings.order,
            tokenize=self.settings.tokenize,
            lowercase=self.settings.lowercase,
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        how = self.settings.references
        return [
            Scored.plain(self._one(item.texts.output, item.texts.references, how)) for item in items
        ]

    def _one(
        self, output: str, references: Sequence[str], how: Literal["together"] | Reduction
    ) -> float:
        if how == "together":
            return float(self.metric.sentence_score(output, list(references)).score)
        return reduced(
            (self.metric.sentence_score(output, [reference]).score for reference in references), how
        )
