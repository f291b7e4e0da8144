"""Word mover's and sentence mover's similarity: how far the words or sentences of a text have to be
moved to become those of the other.

Kusner et al. (2015), "From Word Embeddings To Document Distances": the earth mover's distance
between bags of words. Clark et al. (2019), "Sentence Mover's Similarity": the same between
sentences, whose vectors are the means of their words' and whose weights are their numbers of words,
or between words and sentences together; similarity = exp(-distance), as in its release.
"""

import gzip
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from geval.evaluators.base import Corpus, EvaluatorError, Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.combining import combined
from geval.evaluators.neural.encoding import encode
from geval.evaluators.neural.loading import Loaded, load_model
from geval.evaluators.neural.transport import earth_movers_distance
from geval.evaluators.references import Reduction, reduced
from geval.evaluators.sentences import sentences
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

Unit = Literal["words", "sentences", "both"]
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


class WordMoverSettings(NeuralSettings):
    model: str = Field(
        description=(
            "An encoder (hub name or folder of the worker), or a file of word vectors: a word and"
            " its numbers a line, as GloVe and word2vec write them, also as .gz."
        )
    )
    unit: Unit = Field("words", description="What is moved: words, sentences, or both together.")
    vectors: Literal["static", "contextual"] = Field(
        "static",
        description=(
            "Of an encoder: one vector per word, from its table; or of each token in its sentence,"
            " from the last layer. A file has one per word."
        ),
    )
    against: Literal["references", "source"] = Field(
        "references", description="What the output is compared with."
    )
    references: Reduction = Field(
        "max", title="Several references", description="Take the best or the mean."
    )
    left_out: str = Field(
        "",
        title="Words left out",
        description=(
            "Words that do not count, divided by blanks; both papers leave out stop words."
            " Contextual tokens all count."
        ),
    )


@dataclass(frozen=True)
class Bag:
    """A text's words as vectors per sentence, each of shape (words, size); `note` says which words
    have no vector."""

    sentences: tuple[np.ndarray, ...]
    note: str = ""


class WordMover(NeuralEvaluator):
    kind = "wordmover"
    title = "Word mover's similarity"
    summary = "Least cost of moving the output's words or sentences onto the reference's."
    paper = "Kusner et al. (2015), From Word Embeddings To Document Distances"
    needs: ClassVar = frozenset({"references"})
    chunk: ClassVar = 64
    packages: ClassVar = (*NeuralEvaluator.packages, "nltk")
    Settings: ClassVar = WordMoverSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.against})

    def looks_at_now(self) -> frozenset[str]:
        # Only words that occur in texts are kept: files contain millions.
        texts = "references" if self.settings.against == "references" else "sources"
        return frozenset({"outputs", texts} if self._file else ())

    @property
    def _file(self) -> Path | None:
        """Return the file of word vectors, if the model is a file."""
        path = Path(self.settings.model)
        return path if path.is_file() else None

    def load(self) -> None:
        self.left_out = frozenset(self.settings.left_out.lower().split())
        self.by_word: dict[str, np.ndarray | None] = {}
        self.loaded: Loaded | None = None
        if not self._file:
            self.loaded = load_model(
                self.settings.model, "AutoModel", self.settings, title=self.title
            )
        elif self.settings.vectors == "contextual":
            raise EvaluatorError(
                f"{self.title}: a file of word vectors has none of words in their contexts. Choose"
                " static vectors, or an encoder."
            )

    def look(self, corpus: Corpus) -> None:
        assert self._file is not None
        texts = corpus.references if self.settings.against == "references" else corpus.sources
        wanted = {
            spelling
            for text in (*corpus.outputs, *texts)
            for word in _WORD.findall(text)
            for spelling in (word, word.lower())
        }
        self.by_word |= read_vectors(self._file, wanted, title=self.title)
        if not self.by_word:
            raise EvaluatorError(
                f"{self.title}: {self.settings.model} has a vector for no word of these texts. Is"
                " it a file of word vectors, in this language?"
            )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        others = [
            [item.texts.source]
            if self.settings.against == "source"
            else [text for text in item.texts.references if text.strip()]
            for item in items
        ]
        what = "source" if self.settings.against == "source" else "reference"
        outputs = self._bags([item.texts.output for item in items], "output")
        flat = iter(self._bags([text for listed in others for text in listed], what))
        return [
            combined(
                [self._pair(output, next(flat)) for _ in listed],
                lambda values: reduced(values, self.settings.references),
            )
            for output, listed in zip(outputs, others, strict=True)
        ]

    def _pair(self, output: Bag | Failure, other: Bag | Failure) -> Outcome:
        if isinstance(output, Failure):
            return output
        if isinstance(other, Failure):
            return other
        distance = earth_movers_distance(
            *moved(output.sentences, self.settings.unit),
            *moved(other.sentences, self.settings.unit),
        )
        note = " ".join(filter(None, [output.note, other.note]))
        return Scored.plain(math.exp(-distance), note)

    def _bags(self, texts: Sequence[str], what: str) -> list[Bag | Failure]:
        if self.settings.vectors == "contextual":
            return self._contextual(texts, what)
        return [self._static(text, what) for text in texts]

    def _contextual(self, texts: Sequence[str], what: str) -> list[Bag | Failure]:
        """Return each sentence's token vectors, without special tokens."""
        assert self.loaded is not None
        split = [sentences(text) for text in texts]
        encoded = iter(
            encode(
                self.loaded,
                [sentence for listed in split for sentence in listed],
                f"sentence of the {what}",
                layers=[-1],
                size=self.settings.batch_size,
            )
        )
        bags: list[Bag | Failure] = []
        for listed in split:
            rows = [next(encoded) for _ in listed]
            failure = next((row for row in rows if isinstance(row, Failure)), None)
            encoded_rows = [row for row in rows if not isinstance(row, Failure)]
            vectors = [
                row.vectors[0].numpy()[[not special for special in row.special]]
                for row in encoded_rows
            ]
            note = " ".join(dict.fromkeys(row.note for row in encoded_rows if row.note))
            bags.append(failure or _bag(vectors, what, note))
        return bags

    def _static(self, text: str, what: str) -> Bag | Failure:
        """Return each sentence's word vectors."""
        rows: list[list[np.ndarray]] = []
        missing = counted = 0
        for sentence in sentences(text):
            words = [word for word in _WORD.findall(sentence) if word.lower() not in self.left_out]
            vectors = [vector for word in words if (vector := self._vector(word)) is not None]
            counted += len(words)
            missing += len(words) - len(vectors)
            rows.append(vectors)
        note = f"{missing} of {counted} words of the {what} have no vector." if missing else ""
        return _bag([np.array(row) for row in rows], what, note)

    def _vector(self, word: str) -> np.ndarray | None:
        """Return a word's vector; for an encoder the mean of its pieces' embeddings."""
        if self.loaded is None:
            vector = self.by_word.get(word)
            return self.by_word.get(word.lower()) if vector is None else vector
        if word not in self.by_word:
            ids = self.loaded.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            known_ids = [
                token_id for token_id in ids if token_id != self.loaded.tokenizer.unk_token_id
            ]
            table = self.loaded.model.get_input_embeddings().weight
            self.by_word[word] = (
                table[known_ids].detach().float().mean(dim=0).cpu().numpy() if known_ids else None
            )
        return self.by_word[word]


def _bag(rows: Iterable[np.ndarray], what: str, note: str) -> Bag | Failure:
    sentences_with_vectors = tuple(row for row in rows if len(row))
    if not sentences_with_vectors:
        return Failure(
            Reason.UNDEFINED, f"No word of the {what} has a vector, so nothing can be moved."
        )
    return Bag(sentences_with_vectors, note)


def moved(rows: Sequence[np.ndarray], unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors to be moved, shape (units, size), and their weights, shape (units,), which
    sum to 1.

    A word's weight is its frequency, a sentence's its number of words; words and sentences together
    weigh half each.

    Args:
        rows: each sentence's word vectors, of shape (words, size).
    """
    words, counts = np.unique(np.concatenate(rows), axis=0, return_counts=True)
    means = np.array([row.mean(axis=0) for row in rows])
    lengths = np.array([len(row) for row in rows])
    chosen: Callable[[np.ndarray, np.ndarray], np.ndarray] = {
        "words": lambda first, _second: first,
        "sentences": lambda _first, second: second,
        "both": lambda first, second: np.concatenate([first, second]),
    }[unit]
    weights = chosen(counts, lengths).astype(float)
    return chosen(words, means).astype(float), weights / weights.sum()


def read_vectors(path: Path, wanted: set[str], *, title: str) -> Mapping[str, np.ndarray]:
    """Read the vectors of words from a file in the text format of GloVe or word2vec, with or
    without a first line of two numbers.

    Raises:
        EvaluatorError: a line is not a word with as many numbers as the others; the message names
            it.
    """
    vectors: dict[str, np.ndarray] = {}
    size = 0
    try:
        for number, line in enumerate(_lines(path), start=1):
            if number == 1 and re.fullmatch(r"\d+ \d+", line):
                continue
            size = size or line.count(" ")
            word, *numbers = line.rsplit(" ", size)
            if word not in wanted or word in vectors:
                continue
            if not size or len(numbers) != size:
                raise ValueError(f"line {number} does not have {size} numbers")
            try:
                vectors[word] = np.array(numbers, dtype=float)
            except ValueError:
                raise ValueError(f"line {number} is no word with {size} numbers") from None
            if not np.isfinite(vectors[word]).all():
                raise ValueError(f"line {number} has a number that is not finite")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise EvaluatorError(
            f"{title} cannot read word vectors from {path}: {error}. Each line needs a word and its"
            " numbers, divided by single blanks, in UTF-8."
        ) from error
    return vectors


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip()
