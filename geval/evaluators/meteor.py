"""METEOR (Banerjee and Lavie, 2005) with NLTK: words aligned by form, stem and WordNet's
synonyms."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from geval.evaluators.base import EvaluatorError, Item, LocalEvaluator, Outcome
from geval.evaluators.references import INSTALL, ReferenceSettings, reduced
from geval.llm.scoring import Scored

NEEDS_WORDNET = (
    "METEOR needs WordNet's data where NLTK looks for it: run “python -m nltk.downloader wordnet”"
    " on the worker, or set synonyms to no (exact words and stems only)."
)


class MeteorSettings(ReferenceSettings):
    synonyms: bool = Field(
        True,
        description="Match synonyms too; needs WordNet's data (python -m nltk.downloader wordnet).",
    )


class Meteor(LocalEvaluator):
    kind = "meteor"
    title = "METEOR"
    summary = (
        "Words aligned with a reference by form, stem and synonym, with a penalty for scattered"
        " order; 0 to 1."
    )
    family = "Lexical"
    paper = "Banerjee and Lavie (2005), METEOR: An Automatic Metric for MT Evaluation"
    packages = ("nltk",)
    install = INSTALL
    needs = frozenset({"references"})
    Settings: ClassVar = MeteorSettings

    def score_of_empty(self) -> float:
        return 0.0  # no word is aligned

    def load(self) -> None:
        from nltk.corpus import wordnet
        from nltk.stem.porter import PorterStemmer
        from nltk.tokenize import wordpunct_tokenize
        from nltk.translate import meteor_score

        self.words, self.stemmer, self.meteor = (
            wordpunct_tokenize,
            PorterStemmer(),
            meteor_score.single_meteor_score,
        )
        self.wordnet: Any = _NoSynonyms()
        if self.settings.synonyms:
            try:
                wordnet.ensure_loaded()
            except LookupError:
                raise EvaluatorError(NEEDS_WORDNET) from None
            self.wordnet = wordnet

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return [
            Scored.plain(
                reduced(
                    (
                        self._one(item.texts.output, reference)
                        for reference in item.texts.references
                    ),
                    self.settings.references,
                )
            )
            for item in items
        ]

    def _one(self, output: str, reference: str) -> float:
        words = self.words
        return float(
            self.meteor(words(reference), words(output), stemmer=self.stemmer, wordnet=self.wordnet)
        )


class _NoSynonyms:
    """A replacement for WordNet that contains no words."""

    def synsets(self, _word: str) -> list[Any]:
        return []
