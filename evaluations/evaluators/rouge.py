"""ROUGE (Lin, 2004) by the package rouge-score: shared n-grams or the longest common subsequence
with a reference."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import Field

from evaluations.evaluators.base import Item, LocalEvaluator, Outcome
from evaluations.evaluators.references import ReferenceSettings, reduced
from evaluations.evaluators.sentences import sentences
from evaluations.llm.scoring import Scored

REMEMBERED_TEXTS = 2000


class RougeSettings(ReferenceSettings):
    variant: Literal["rouge1", "rouge2", "rougeL", "rougeLsum"] = Field(
        "rougeL",
        description=(
            "Single words, pairs of words, or the longest common subsequence: of the whole text, or"
            " by sentences (rougeLsum), which is what ROUGE-1.5.5 calls ROUGE-L."
        ),
    )
    measure: Literal["f", "precision", "recall"] = Field(
        "f", description="The F score, precision or recall."
    )
    stem: bool = Field(
        True, description="Compare word stems (Porter), so that “sails” matches “sailed”."
    )


class Rouge(LocalEvaluator):
    kind = "rouge"
    title = "ROUGE"
    summary = "Overlap of words, pairs of words or the longest common subsequence with references."
    family = "Lexical"
    paper = "Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries"
    packages = ("rouge_score",)
    install = "pip install rouge-score"
    needs = frozenset({"references"})
    Settings: ClassVar = RougeSettings

    def load(self) -> None:
        from rouge_score import rouge_scorer, tokenizers

        tokenize = tokenizers.DefaultTokenizer(self.settings.stem).tokenize
        self.scorer = rouge_scorer.RougeScorer(
            [self.settings.variant], tokenizer=_Remembering(tokenize)
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        field = {"f": "fmeasure", "precision": "precision", "recall": "recall"}[
            self.settings.measure
        ]
        outcomes: list[Outcome] = []
        for item in items:
            output = self._prepared(item.texts.output)
            found = (
                getattr(
                    self.scorer.score(self._prepared(reference), output)[self.settings.variant],
                    field,
                )
                for reference in item.texts.references
                if reference.strip()
            )
            outcomes.append(Scored.plain(float(reduced(found, self.settings.references))))
        return outcomes

    def _prepared(self, text: str) -> str:
        """The text, for `rougeLsum` with one sentence per line."""
        return _by_line(text) if self.settings.variant == "rougeLsum" else text


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _by_line(text: str) -> str:
    return "\n".join(sentences(text))


class _Remembering:
    """A tokenizer that keeps what it made of recent texts: one reference meets the outputs of every
    system."""

    def __init__(self, tokenize: Any) -> None:
        self.tokenize = lru_cache(maxsize=REMEMBERED_TEXTS)(tokenize)
