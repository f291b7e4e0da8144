"""QAGS (Wang et al., 2020): questions generated from the output are answered from the output and
from its source.

score = mean over questions of the token F1 between both answers
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from geval.evaluators.base import Item, Outcome, mean
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.encoding import padded
from geval.evaluators.neural.loading import Loaded, load_model
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored

# Of tokens, as in BERT's script for SQuAD (`max_answer_length`).
LONGEST_ANSWER = 30


class QagsSettings(NeuralSettings):
    model: str = Field(
        title="Question model",
        description="Writes questions about a text (encoder-decoder): hub name or folder.",
    )
    answer_model: str = Field(
        description="Answers questions from a text by marking a span: hub name or folder."
    )
    questions: int = Field(
        10, ge=1, le=100, description="How many questions are asked about an output (beam search)."
    )
    question_tokens: int = Field(
        48, ge=4, le=512, title="Longest question", description="In tokens."
    )
    prefix: str = Field("", description="What the question model expects in front of the text.")


class Qags(NeuralEvaluator):
    kind = "qags"
    title = "QAGS"
    summary = (
        "Questions about the output are answered from it and from the source; answers that differ"
        " tell."
    )
    paper = (
        "Wang et al. (2020), Asking and Answering Questions to Evaluate the Factual Consistency of"
        " Summaries"
    )
    needs: ClassVar = frozenset({"source"})
    chunk: ClassVar = 16
    Settings: ClassVar = QagsSettings

    def load(self) -> None:
        settings = self.settings
        self.question_model = load_model(
            settings.model, "AutoModelForSeq2SeqLM", settings, title=self.title
        )
        self.answering = load_model(
            settings.answer_model, "AutoModelForQuestionAnswering", settings, title=self.title
        )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Outcome:
        written = self._questions(item.texts.output)
        if isinstance(written, Failure):
            return written
        questions, note = written
        notes = [note]
        values = []
        for question in questions:
            own = self._answer(question, item.texts.output, "output")
            source_answer = self._answer(question, item.texts.source, "source")
            for answers in (own, source_answer):
                if isinstance(answers, Failure):
                    return answers
                notes.append(answers[1])
            if own[0].strip():  # a question that the output itself does not answer is uninformative
                values.append(token_f1(source_answer[0], own[0]))
        if not values:
            return Failure(Reason.UNDEFINED, "No question about the output has an answer in it.")
        return Scored.plain(mean(values), " ".join(dict.fromkeys(note for note in notes if note)))

    def _questions(self, text: str) -> tuple[list[str], str] | Failure:
        import torch

        loaded = self.question_model
        fitted = loaded.limits.fitted(
            loaded.tokenizer(self.settings.prefix + text)["input_ids"], "output"
        )
        if isinstance(fitted, Failure):
            return fitted
        ids, mask = padded([fitted[0]], loaded)
        with torch.inference_mode():
            written = loaded.model.generate(
                input_ids=ids,
                attention_mask=mask,
                num_beams=self.settings.questions,
                num_return_sequences=self.settings.questions,
                do_sample=False,
                max_new_tokens=self.settings.question_tokens,
            )
        texts = loaded.tokenizer.batch_decode(written, skip_special_tokens=True)
        return list(dict.fromkeys(text.strip() for text in texts if text.strip())), fitted[1]

    def _answer(self, question: str, text: str, what: str) -> Any:
        """Return the likeliest span of a text as (answer, note); an empty answer where the model
        marks none."""
        loaded = self.answering
        tokens = loaded.tokenizer(question, text, return_offsets_mapping=True)
        fitted = loaded.limits.fitted(tokens["input_ids"], f"question with the {what}")
        if isinstance(fitted, Failure):
            return fitted
        inside = [
            part == 1 and index < len(fitted[0]) - 1
            for index, part in enumerate(tokens.sequence_ids())
        ]
        span = best_span(loaded, fitted[0], inside)
        if span is None:
            return "", fitted[1]
        offsets = tokens["offset_mapping"]
        return text[offsets[span[0]][0] : offsets[span[1]][1]], fitted[1]


def best_span(loaded: Loaded, ids: Sequence[int], inside: Sequence[bool]) -> tuple[int, int] | None:
    """Return the first and last token of the likeliest answer; None if the model predicts no
    answer.

    The first token of the sequence means "no answer", as in models trained on SQuAD 2.
    """
    import torch

    row, mask = padded([ids], loaded)
    with torch.inference_mode():
        prediction = loaded.model(input_ids=row, attention_mask=mask)
    starts, ends = prediction.start_logits[0].float().cpu(), prediction.end_logits[0].float().cpu()
    scores = starts[:, None] + ends[None, :]
    allowed = torch.tensor(list(inside)[: len(ids)])
    shape = torch.ones_like(scores, dtype=torch.bool).triu().tril(LONGEST_ANSWER - 1)
    scores = scores.masked_fill(~(shape & allowed[:, None] & allowed[None, :]), float("-inf"))
    best = int(scores.argmax())
    if not torch.isfinite(scores.flatten()[best]) or scores.flatten()[best] < starts[0] + ends[0]:
        return None
    return best // len(ids), best % len(ids)


def token_f1(answer: str, wanted: str) -> float:
    """Return the F1 of the words of two answers, as in SQuAD; words are separated by spaces, in
    lower case."""
    left, right = Counter(answer.lower().split()), Counter(wanted.lower().split())
    shared = sum((left & right).values())
    return 2 * shared / (left.total() + right.total()) if shared else 0.0
