"""FED (Mehri and Eskenazi, 2020): how likely a dialogue model finds the follow-ups of a pleased or
an annoyed speaker.

    FED(c, r, q) = sum over p in P_q of D(c + r, p) - sum over n in N_q of D(c + r, n)

with the conversation c, the reply r, the follow-ups P_q that indicate a quality q and N_q that
indicate its lack, and D the log-likelihood of a follow-up. The paper's release takes means on both
sides, and for D the mean over all tokens, including those of the conversation.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from geval.evaluators.base import EvaluatorError, Item, Outcome, mean
from geval.evaluators.neural.base import NeuralEvaluator, NeuralSettings
from geval.evaluators.neural.likelihood import Continuation, continuation_log_likelihoods
from geval.evaluators.neural.loading import load_model
from geval.evaluators.sections import EVERY, Line, lines_by_criterion, part_of
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.scoring import Scored

GOOD, BAD = "+", "-"


@dataclass(frozen=True)
class FollowUps:
    """Possible next utterances: for a quality, and against it. One side may be empty."""

    good: tuple[str, ...]
    bad: tuple[str, ...]

    @property
    def written(self) -> str:
        """Return one follow-up per line, after the sign of its side."""
        return "\n".join(
            [*(f"{GOOD} {text}" for text in self.good), *(f"{BAD} {text}" for text in self.bad)]
        )


@cache
def qualities() -> dict[str, FollowUps]:
    """Return follow-ups by the name of a quality, or a synonym of it."""
    path = Path(__file__).parent / "fed_follow_ups.toml"
    by_name: dict[str, FollowUps] = {}
    for quality, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        follow_ups = FollowUps(tuple(entry["good"]), tuple(entry["bad"]))
        by_name |= dict.fromkeys([quality, *entry["names"]], follow_ups)
    return by_name


class FedSettings(NeuralSettings):
    model: str = Field(
        description="A causal language model of dialogue, such as DialoGPT: hub name or folder."
    )
    likelihood: Literal["follow_up", "whole"] = Field(
        "follow_up",
        description=(
            "Of the follow-up's own tokens, or of all tokens from the conversation's beginning, as"
            " in the paper's release."
        ),
    )
    reduce: Literal["mean", "sum"] = Field(
        "mean",
        description=(
            "Over a follow-up's tokens and over follow-ups: means as in the release, or sums as in"
            " the paper's formula."
        ),
    )
    follow_ups: str = Field(
        "",
        description=(
            "Follow-ups of yours, one per line: “+ what speaks for the quality”, “- what speaks"
            " against it”. Below a line “[criterion: NAME]”: those of that criterion. Empty: our"
            " own wording of the paper's qualities."
        ),
    )

    @field_validator("follow_ups")
    @classmethod
    def _signed(cls, value: str) -> str:
        for criterion, lines in lines_by_criterion(value).items():
            follow_ups = follow_ups_in(lines)
            if criterion != EVERY and not (follow_ups.good or follow_ups.bad):
                raise ValueError(f"the criterion {criterion!r} has no follow-ups")
        return value


def follow_ups_in(lines: Sequence[Line]) -> FollowUps:
    """Parse follow-ups from lines.

    Raises:
        ValueError: a line has no sign or no text; the message names it.
    """
    sides: dict[str, list[str]] = {GOOD: [], BAD: []}
    for line in lines:
        text = line.text.strip()
        if not text:
            continue
        if text[0] not in sides or not text[1:].strip():
            raise ValueError(f"line {line.number} needs “+ a follow-up” or “- a follow-up”")
        sides[text[0]].append(text[1:].strip())
    return FollowUps(tuple(sides[GOOD]), tuple(sides[BAD]))


class Fed(NeuralEvaluator):
    kind = "fed"
    title = "FED"
    summary = (
        "How likely a model of dialogue finds a pleased or an annoyed answer to the reply, without"
        " a reference."
    )
    paper = "Mehri and Eskenazi (2020), Unsupervised Evaluation of Interactive Dialog with DialoGPT"
    needs: ClassVar = frozenset({"source"})
    per_criterion = True
    chunk: ClassVar = 64
    Settings: ClassVar = FedSettings

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return the follow-ups of a criterion; refused if there are none."""
        lines = part_of(lines_by_criterion(self.settings.follow_ups), parts.criterion)
        follow_ups = follow_ups_in(lines)
        if not (follow_ups.good or follow_ups.bad):
            name = " ".join(parts.criterion.lower().replace("_", " ").split())
            by_name = qualities()
            if name not in by_name:
                raise PromptError(
                    f"FED has no follow-ups on {parts.criterion} (there are: {', '.join(by_name)})."
                    " Leave the criterion out of this run, or put follow-ups into the judge's"
                    f" settings below “[criterion: {parts.criterion}]”."
                )
            follow_ups = by_name[name]
        return follow_ups.written

    def load(self) -> None:
        self.loaded = load_model(
            self.settings.model, "AutoModelForCausalLM", self.settings, title=self.title
        )
        if self.loaded.tokenizer.eos_token_id is None:
            raise EvaluatorError(
                f"{self.title}: the tokenizer of {self.settings.model!r} has no mark for the end of"
                " a text, which divides the utterances of a conversation."
            )

    def score(self, items: Sequence[Item]) -> list[Outcome]:
        asked = [self._continuations(item) for item in items]
        flat = [
            continuation for row in asked if not isinstance(row, Failure) for continuation in row
        ]
        sums = iter(continuation_log_likelihoods(self.loaded, flat, size=self.settings.batch_size))
        outcomes: list[Outcome] = []
        for item, row in zip(items, asked, strict=True):
            if isinstance(row, Failure):
                outcomes.append(row)
                continue
            values = [self._per_token(next(sums), continuation) for continuation in row]
            good = len(_frozen(item.template).good)
            value = self._side(values[:good]) - self._side(values[good:])
            outcomes.append(
                Scored.plain(
                    value,
                    " ".join({continuation.note: "" for continuation in row if continuation.note}),
                )
            )
        return outcomes

    def _per_token(self, total: float, continuation: Continuation) -> float:
        return (
            total
            if self.settings.reduce == "sum"
            else total / (len(continuation.ids) - continuation.start)
        )

    def _side(self, values: Sequence[float]) -> float:
        if not values:
            return 0.0
        return sum(values) if self.settings.reduce == "sum" else mean(values)

    def _continuations(self, item: Item) -> list[Continuation] | Failure:
        """Return the conversation with each follow-up of the criterion, those for it first.

        Utterances are separated as in the release: the end token, then the text between spaces.
        """
        tokenizer = self.loaded.tokenizer
        end = tokenizer.eos_token_id
        before: list[int] = []
        for text in utterances(item.texts):
            before += [end, *tokenizer(f" {text} ", add_special_tokens=False)["input_ids"]]
        continuations = []
        follow_ups = _frozen(item.template)
        for text in (*follow_ups.good, *follow_ups.bad):
            own = [end, *tokenizer(f" {text}", add_special_tokens=False)["input_ids"]]
            fitted = self.loaded.limits.fitted_end([*before, *own], "conversation with a follow-up")
            if isinstance(fitted, Failure):
                return fitted
            ids, note = fitted
            start = 1 if self.settings.likelihood == "whole" else len(ids) - len(own) + 1
            continuations.append(Continuation(ids, max(1, start), note))
        return continuations


def _frozen(template: str) -> FollowUps:
    """Parse the follow-ups that were frozen in a run."""
    return follow_ups_in([Line(number, text) for number, text in enumerate(template.splitlines())])


def utterances(texts: Texts) -> list[str]:
    """Return the utterances up to and including the judged one: the turns of a conversation, or the
    lines of the source and then the output."""
    if texts.is_conversation:
        before = () if texts.is_session else texts.history
        written = [turn.body for turn in (*before, *texts.said)]
    else:
        written = [*texts.source.splitlines(), " ".join(texts.output.split())]
    return [text.strip() for text in written if text.strip()]
