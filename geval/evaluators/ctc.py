"""CTC (Deng et al., 2021): how far each token of one text is aligned with, or supported by, another
text.

With align(a -> b) the vector of the alignment of each token of a with b:

    consistency  = mean align(output -> source) relevance    = mean align(reference -> output) *
    mean align(output -> source) preservation = harmonic mean of both directions between output and
    source engagingness = sum align(output -> source and context);  groundedness = sum align(output
    -> context)
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import EvaluatorError, Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings, by_length
from geval.evaluators.neural.classifying import label_index
from geval.evaluators.neural.combining import regrouped
from geval.evaluators.neural.encoding import Encoded, encode, padded
from geval.evaluators.neural.loading import ModelClass, load_model
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

Aspect = Literal["consistency", "relevance", "preservation", "engagingness", "groundedness"]


class CtcSettings(NeuralSettings):
    aspect: Aspect = Field(
        "consistency", description="Which quality the alignments are put together for."
    )
    align: Literal["embedding", "discriminator"] = Field(
        "embedding",
        description=(
            "By the best cosine similarity of an encoder's vectors, or by a trained classifier of"
            " tokens."
        ),
    )
    label: str = Field("", description="For the discriminator: its label for a supported token.")


# The texts of each aspect by name: (aligned text, text to align with).
ALIGNMENTS: dict[Aspect, tuple[tuple[str, str], ...]] = {
    "consistency": (("output", "source"),),
    "relevance": (("reference", "output"), ("output", "source")),
    "preservation": (("output", "source"), ("source", "output")),
    "engagingness": (("output", "source and context"),),
    "groundedness": (("output", "context"),),
}


class Ctc(NeuralEvaluator):
    kind = "ctc"
    title = "CTC"
    summary = "Token by token, how far the output is aligned with what it was made from."
    paper = (
        "Deng et al. (2021), Compression, Transduction, and Creation: A Unified Framework for"
        " Evaluating NLG"
    )
    Settings: ClassVar = CtcSettings

    def needed(self) -> frozenset[Text]:
        named: dict[str, frozenset[Text]] = {
            "relevance": frozenset({"source", "references"}),
            "groundedness": frozenset({"context"}),
            "engagingness": frozenset({"source", "context"}),
        }
        return named.get(self.settings.aspect, frozenset({"source"}))

    def load(self) -> None:
        by_vectors = self.settings.align == "embedding"
        kind: ModelClass = "AutoModel" if by_vectors else "AutoModelForTokenClassification"
        self.loaded = load_model(self.settings.model, kind, self.settings, title=self.title)
        if not by_vectors:
            if self.loaded.model.config.num_labels < 2:
                raise EvaluatorError(
                    f"{self.title}: {self.settings.model!r} does not have two distinguishable "
                    "labels."
                )
            usual = ("consistent", "correct", "entailment", "aligned", "label_1")
            self.label = label_index(
                self.loaded.model.config, self.settings.label, usual, self.title
            )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        pairs = [pair for item in items for pair in _pairs(item, self.settings.aspect)]
        scores = (
            self._by_vectors(pairs)
            if self.settings.align == "embedding"
            else self._by_labels(pairs)
        )
        groups = regrouped(scores, [len(ALIGNMENTS[self.settings.aspect])] * len(items))
        return [_put_together(group, self.settings.aspect) for group in groups]

    def _by_vectors(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        size = self.settings.batch_size
        aligned = encode(self.loaded, [text for text, _ in pairs], "text", layers=[-1], size=size)
        others = encode(
            self.loaded, [other for _, other in pairs], "text it depends on", layers=[-1], size=size
        )
        return [
            _best_similarities(text, other) for text, other in zip(aligned, others, strict=True)
        ]

    def _by_labels(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        """Return the probability that each token of the first text is supported by the other text,
        which is read before it."""
        import torch

        loaded = self.loaded
        rows: list[Any] = []
        for text, other in pairs:
            tokens = loaded.tokenizer(other, text)
            fitted = loaded.limits.fitted(tokens["input_ids"], "text with the text it depends on")
            if isinstance(fitted, Failure):
                rows.append(fitted)
                continue
            own = [
                index
                for index, part in enumerate(tokens.sequence_ids())
                if part == 1 and index < len(fitted[0]) - 1
            ]
            nothing = Failure(
                Reason.TOO_LONG,
                "The text it depends on leaves no room for the output; shorten that text first.",
            )
            rows.append((fitted[0], own, fitted[1]) if own else nothing)
        readable = [row for row in rows if not isinstance(row, Failure)]

        def run(batch: list[Any]) -> list[Any]:
            ids, mask = padded([row[0] for row in batch], loaded)
            with torch.inference_mode():
                shares = torch.softmax(
                    loaded.model(input_ids=ids, attention_mask=mask).logits.float(), dim=-1
                )
            return [
                (shares[index, own, self.label].cpu().numpy(), note)
                for index, (_, own, note) in enumerate(batch)
            ]

        values = iter(
            by_length(readable, self.settings.batch_size, length=lambda row: len(row[0]), work=run)
        )
        return [row if isinstance(row, Failure) else next(values) for row in rows]


def _pairs(item: Item, aspect: Aspect) -> list[tuple[str, str]]:
    texts = item.texts
    named = {
        "output": texts.output,
        "source": texts.source,
        "context": texts.context,
        "reference": texts.reference,
        "source and context": f"{texts.source}\n{texts.context}",
    }
    return [(named[text], named[other]) for text, other in ALIGNMENTS[aspect]]


def _best_similarities(text: Encoded | Failure, other: Encoded | Failure) -> Any:
    """Return for each token of a text the best cosine with any token of the other, without special
    tokens."""
    import torch

    for side in (text, other):
        if isinstance(side, Failure):
            return side
    assert isinstance(text, Encoded)
    assert isinstance(other, Encoded)
    left, right = (
        torch.nn.functional.normalize(
            side.vectors[0][[not special for special in side.special]], dim=-1
        )
        for side in (text, other)
    )
    if not len(left) or not len(right):
        return Failure(Reason.UNDEFINED, "A text has no token of its own.")
    return (left @ right.transpose(0, 1)).max(dim=1).values.numpy(), " ".join(
        note for note in (text.note, other.note) if note
    )


def _put_together(alignments: Sequence[Any], aspect: Aspect) -> Outcome:
    failure = next((alignment for alignment in alignments if isinstance(alignment, Failure)), None)
    if failure:
        return failure
    means = [float(values.mean()) for values, _ in alignments]
    notes = " ".join(dict.fromkeys(note for _, note in alignments if note))
    if aspect in ("engagingness", "groundedness"):
        return Scored.plain(float(alignments[0][0].sum()), notes)
    if aspect == "relevance":
        return Scored.plain(means[0] * means[1], notes)
    if aspect == "preservation":
        total = means[0] + means[1]
        return Scored.plain(2 * means[0] * means[1] / total if total > 0 else 0.0, notes)
    return Scored.plain(means[0], notes)
