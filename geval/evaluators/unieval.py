"""UniEval (Zhong et al., 2022): a T5 model answers yes or no to a question about the output.

score = p(Yes) / (p(Yes) + p(No)) at the first token of the answer
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from geval.evaluators.base import EvaluatorError, Item, Outcome, mean
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings, by_length
from geval.evaluators.neural.combining import combined, regrouped
from geval.evaluators.neural.encoding import padded
from geval.evaluators.neural.loading import load_model
from geval.evaluators.sentences import sentences
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.scoring import Scored


@dataclass(frozen=True)
class Dimension:
    """What is asked about a criterion: the question, the texts by field name, and whether it is
    asked per sentence."""

    question: str
    fields: Mapping[str, str]
    each: Literal["whole", "mean", "sum"] = "whole"


@cache
def dimensions() -> dict[str, dict[str, Dimension]]:
    """Return the dimensions by task and criterion."""
    tables = tomllib.loads((Path(__file__).parent / "unieval_dimensions.toml").read_text())
    return {
        task: {name: Dimension(**settings) for name, settings in dimensions.items()}
        for task, dimensions in tables.items()
    }


class UniEvalSettings(NeuralSettings):
    task: Literal["summary", "dialogue", "fact", "data"] = Field(
        "summary", description="What the outputs are."
    )
    questions: str = Field(
        "",
        description=(
            "The questions that the weights were trained with, one per line as “criterion: "
            "question”; the model's release lists them. By default, our own wording is used."
        ),
    )

    @field_validator("questions")
    @classmethod
    def _divided(cls, value: str) -> str:
        for number, line in enumerate(value.splitlines(), start=1):
            if line.strip() and not all(part.strip() for part in line.partition(":")):
                raise ValueError(f"line {number} needs “criterion: question”")
        return value


class UniEval(NeuralEvaluator):
    kind = "unieval"
    title = "UniEval"
    summary = (
        "A trained T5 answers yes or no to a question about each criterion; the probability of yes"
        " counts."
    )
    paper = "Zhong et al. (2022), Towards a Unified Multi-Dimensional Evaluator for Text Generation"
    per_criterion = True
    packages: ClassVar = (*NeuralEvaluator.packages, "nltk")
    Settings: ClassVar = UniEvalSettings

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return the question; refused for a criterion without one in the task."""
        standard = dimensions()[self.settings.task]
        name = parts.criterion.strip().lower()
        own = {
            key.strip().lower(): question.strip()
            for key, question in (
                line.split(":", 1) for line in self.settings.questions.splitlines() if line.strip()
            )
        }
        if name not in standard:
            raise PromptError(
                f"UniEval has no question on {parts.criterion} for the task {self.settings.task}"
                f" (there are: {', '.join(standard)}). Leave the criterion out of this run, or"
                " choose another task."
            )
        return str(own.get(name, standard[name].question))

    def load(self) -> None:
        self.loaded = load_model(
            self.settings.model, "AutoModelForSeq2SeqLM", self.settings, title=self.title
        )
        self.yes, self.no = (self._answer(word) for word in ("Yes", "No"))

    def _answer(self, word: str) -> int:
        ids = self.loaded.tokenizer(word, add_special_tokens=False)["input_ids"]
        if not ids or ids[0] == self.loaded.tokenizer.unk_token_id:
            raise EvaluatorError(
                f"{self.title}: the tokenizer of {self.settings.model!r} does not know “{word}”."
            )
        return int(ids[0])

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        inputs = [self._inputs(item) for item in items]
        flat = [text for texts in inputs if not isinstance(texts, Failure) for text in texts]
        outcomes = self._probabilities(flat)
        sizes = [0 if isinstance(texts, Failure) else len(texts) for texts in inputs]
        return [
            texts if isinstance(texts, Failure) else combined(group, self._joined(item))
            for item, texts, group in zip(items, inputs, regrouped(outcomes, sizes), strict=True)
        ]

    def _dimension(self, item: Item) -> Dimension:
        return dimensions()[self.settings.task][item.criterion.strip().lower()]

    def _joined(self, item: Item) -> Any:
        return sum if self._dimension(item).each == "sum" else mean

    def _inputs(self, item: Item) -> list[str] | Failure:
        """Return what the model reads: one text, or one per sentence of the output."""
        dimension, texts = self._dimension(item), item.texts
        outputs = [texts.output.strip()] if dimension.each == "whole" else sentences(texts.output)
        values = {"source": texts.source, "context": texts.context, "reference": texts.reference}
        for name in dimension.fields.values():
            if name != "output" and not values[name].strip():
                return Failure(
                    Reason.NO_TEXT,
                    f"UniEval shows the {name} on this criterion; this document has none.",
                )
        return [
            " </s> ".join(
                [f"question: {item.template}"]
                + [
                    f"{label}: {(values | {'output': output})[name]}"
                    for label, name in dimension.fields.items()
                ]
            )
            for output in outputs
        ]

    def _probabilities(self, texts: Sequence[str]) -> list[Outcome]:
        import torch

        loaded = self.loaded
        rows = [
            loaded.limits.fitted(loaded.tokenizer(text)["input_ids"], "question with its texts")
            for text in texts
        ]
        inputs = [row[0] for row in rows if not isinstance(row, Failure)]
        begin = loaded.model.config.decoder_start_token_id

        def run(batch: list[list[int]]) -> list[float]:
            ids, mask = padded(batch, loaded)
            first = torch.full((len(batch), 1), begin, dtype=torch.long, device=loaded.device)
            with torch.inference_mode():
                logits = (
                    loaded.model(input_ids=ids, attention_mask=mask, decoder_input_ids=first)
                    .logits[:, 0]
                    .float()
                )
            answers = torch.softmax(logits[:, [self.yes, self.no]], dim=-1)[:, 0]
            probabilities: list[float] = answers.cpu().tolist()
            return probabilities

        values = iter(by_length(inputs, self.settings.batch_size, length=len, work=run))
        return [
            row if isinstance(row, Failure) else Scored.plain(next(values), row[1]) for row in rows
        ]
