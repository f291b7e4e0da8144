"""ROUGE (Lin, 2004) with the package rouge-score: shared n-grams or the longest common subsequence
with a reference."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import SCORED_EMPTY, Item, LocalEvaluator, Outcome
from geval.evaluators.references import INSTALL, ReferenceSettings, reduced
from geval.evaluators.sentences import sentences
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

# A reference is compared with the outputs of all systems, and split only once.
REMEMBERED_TEXTS = 2000
# The table of a longest common subsequence has a cell for each pair of words: about 200 MB at most.
MOST_CELLS = 25_000_000
# Letters of non-Latin scripts, which rouge-score ignores: for it a Chinese text has no words.
_OTHER_SCRIPTS = re.compile(
    "[\u0370-\u1dff\u1f00-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufefc\uff66-\uffdc"
    "\U00010000-\U0001f000\U00020000-\U0003ffff]"
)
_WITHOUT_BLANKS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


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
    packages = ("rouge_score", "nltk")
    install = INSTALL
    needs = frozenset({"references"})
    Settings: ClassVar = RougeSettings

    def score_of_empty(self) -> float:
        return 0.0  # no n-gram is recalled

    def load(self) -> None:
        from rouge_score import rouge_scorer, tokenizers

        of_latin = tokenizers.DefaultTokenizer(self.settings.stem).tokenize
        self.tokenizer = _Remembering(
            lambda text: words_of(text) if _OTHER_SCRIPTS.search(text) else of_latin(text)
        )
        self.scorer = rouge_scorer.RougeScorer([self.settings.variant], tokenizer=self.tokenizer)

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        field = {"f": "fmeasure", "precision": "precision", "recall": "recall"}[
            self.settings.measure
        ]
        outcomes: list[Outcome] = []
        for item in items:
            if outcome := self._beforehand_by_words(item):
                outcomes.append(outcome)
                continue
            output = self._prepared(item.texts.output)
            scores = (
                getattr(
                    self.scorer.score(self._prepared(reference), output)[self.settings.variant],
                    field,
                )
                for reference in item.texts.references
                if reference.strip()
            )
            outcomes.append(Scored.plain(float(reduced(scores, self.settings.references))))
        return outcomes

    def _beforehand_by_words(self, item: Item) -> Outcome | None:
        """Return the outcome of texts that are without words or too long; None if they can be
        compared."""
        output = self.tokenizer.tokenize(item.texts.output)
        longest = max(len(self.tokenizer.tokenize(text)) for text in item.texts.references)
        if not longest:
            return Failure(
                Reason.UNDEFINED, "No reference has a word: ROUGE compares letters and digits."
            )
        if not output:
            return Scored.plain(self.score_of_empty(), SCORED_EMPTY)
        if self.settings.variant != "rougeL":
            return None
        if len(output) * longest > MOST_CELLS:
            return Failure(
                Reason.TOO_LONG,
                f"ROUGE-L of {len(output):,} and {longest:,} words takes too much memory; use"
                " rouge1, rouge2 or rougeLsum.",
            )
        return None

    def _prepared(self, text: str) -> str:
        """Return the text, for `rougeLsum` with one sentence per line."""
        return _by_line(text) if self.settings.variant == "rougeLsum" else text


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _by_line(text: str) -> str:
    return "\n".join(sentences(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text in non-Latin scripts: runs of letters, marks and digits; in
    scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) each letter with
    its marks."""
    words: list[str] = []
    is_open = False  # whether the next letter continues the last word
    for letter in unicodedata.normalize("NFKC", text).lower():
        kind = unicodedata.category(letter)[0]
        if kind == "M" and words:
            words[-1] += letter
        elif kind not in "LN":
            is_open = False
        elif unicodedata.name(letter, "").startswith(_WITHOUT_BLANKS):
            words.append(letter)
            is_open = False
        elif is_open:
            words[-1] += letter
        else:
            words.append(letter)
            is_open = True
    return words


class _Remembering:
    """A tokenizer with a cache of recent texts, as a reference is compared with the outputs of
    every system."""

    def __init__(self, tokenize: Any) -> None:
        self.tokenize = lru_cache(maxsize=REMEMBERED_TEXTS)(tokenize)
