"""USR (Mehri and Eskenazi, 2020): parts of a reference-free metric for dialogue.

`mlm`: the mean log-probability of the reply's tokens, each masked in turn, read after the
conversation and the fact. `retrieval`: the probability by a classifier that the reply is the true
one, given the conversation or the fact.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import EvaluatorError, Item, Outcome, Text
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings, by_length
from geval.evaluators.neural.classifying import label_index, label_probability
from geval.evaluators.neural.encoding import padded
from geval.evaluators.neural.loading import ModelClass, load_model
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

USUAL_LABELS = ("true", "correct", "entailment", "relevant", "label_1")


class UsrSettings(NeuralSettings):
    variant: Literal["mlm", "retrieval"] = Field(
        "mlm",
        description=(
            "Fluency in context by a masked language model, or fit by a classifier of replies."
        ),
    )
    given: Literal["source", "context"] = Field(
        "source", description="What the reply is read after: the conversation, or the fact."
    )
    label: str = Field("", description="For retrieval: the classifier's label for a true reply.")


class Usr(NeuralEvaluator):
    kind = "usr"
    title = "USR"
    summary = (
        "How natural a reply is in its conversation, and how well it fits, without a reference."
    )
    paper = (
        "Mehri and Eskenazi (2020), USR: An Unsupervised and Reference Free Evaluation Metric for"
        " Dialog Generation"
    )
    chunk: ClassVar = 64
    Settings: ClassVar = UsrSettings

    def needed(self) -> frozenset[Text]:
        return frozenset({self.settings.given})

    def load(self) -> None:
        by_masks = self.settings.variant == "mlm"
        kind: ModelClass = (
            "AutoModelForMaskedLM" if by_masks else "AutoModelForSequenceClassification"
        )
        self.loaded = load_model(self.settings.model, kind, self.settings, title=self.title)
        if not by_masks:
            self.label = label_index(
                self.loaded.model.config, self.settings.label, USUAL_LABELS, self.title
            )
        elif self.loaded.tokenizer.mask_token_id is None:
            raise EvaluatorError(
                f"{self.title}: the tokenizer of {self.settings.model!r} has no mask token."
            )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        pairs = [(getattr(item.texts, self.settings.given), item.texts.output) for item in items]
        if self.settings.variant == "retrieval":
            size = self.settings.batch_size
            return list(
                label_probability(
                    self.loaded, pairs, self.label, "conversation with the reply", size=size
                )
            )
        return [self._masked(given, output) for given, output in pairs]

    def _masked(self, given: str, output: str) -> Outcome:
        import torch

        loaded = self.loaded
        tokens = loaded.tokenizer(given, output)
        fitted = loaded.limits.fitted(tokens["input_ids"], "conversation with the reply")
        if isinstance(fitted, Failure):
            return fitted
        ids, note = fitted
        own = [
            index
            for index, part in enumerate(tokens.sequence_ids())
            if part == 1 and index < len(ids) - 1
        ]
        if not own:
            return Failure(
                Reason.TOO_LONG,
                "The conversation leaves no room for the reply; cut it before you load it.",
            )

        def run(places: list[int]) -> list[float]:
            rows = [
                [*ids[:position], loaded.tokenizer.mask_token_id, *ids[position + 1 :]]
                for position in places
            ]
            row, mask = padded(rows, loaded)
            with torch.inference_mode():
                shares = torch.log_softmax(
                    loaded.model(input_ids=row, attention_mask=mask).logits.float(), dim=-1
                )
            return [
                float(shares[index, position, ids[position]])
                for index, position in enumerate(places)
            ]

        values = by_length(own, self.settings.batch_size, length=lambda _at: len(ids), work=run)
        return Scored.plain(sum(values) / len(values), note)
