"""GPTScore (Fu et al., 2023): how likely a model finds a text, given an instruction to write such a
text.

    GPTScore(h | d, a, S) = sum over tokens t of w_t * log p(h_t | h_<t, T(d, a, S))

with the aspect's definition d in an instruction template T, the aspect a and the source S. The
endpoint has to send the prompt back with log-probabilities (`echo` of the completions API: vLLM,
llama.cpp, older OpenAI models).
"""

import asyncio
import itertools
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from evaluations.evaluators.base import Item, Outcome, Text, mean
from evaluations.evaluators.llm_evaluator import LlmEvaluator
from evaluations.evaluators.references import ReferenceSettings, reduced
from evaluations.llm.calls import Answer
from evaluations.llm.judgement import AskFully, Judgement
from evaluations.llm.parsing import Failure, Reason
from evaluations.llm.probe import Findings
from evaluations.llm.prompts import PromptError, PromptParts
from evaluations.llm.replies import EchoedToken
from evaluations.llm.request_settings import RequestSettings
from evaluations.llm.requests import EchoRequest, Request
from evaluations.llm.scoring import Scored
from evaluations.scales import Scale

LONGEST_CHARACTER = 4
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


@dataclass(frozen=True)
class Task:
    """What kind of text is written: its instruction, and the headings of what is given and what is
    produced."""

    instruction: str
    given: str
    produced: str


@cache
def tasks() -> dict[str, Task]:
    return {name: Task(**task) for name, task in _tables()["tasks"].items()}


@cache
def aspects() -> dict[str, str]:
    """Aspect -> the definition that goes into an instruction."""
    return dict(_tables()["aspects"])


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "gptscore_aspects.toml").read_text())


class GptScoreSettings(ReferenceSettings):
    task: Literal["summarisation", "dialogue", "data_to_text", "translation", "rewriting"] = Field(
        "summarisation", description="What the outputs are; it decides the instruction."
    )
    prompting: Literal["vanilla", "instruction", "demonstrations"] = Field(
        "instruction",
        description=(
            "The texts alone; with an instruction that names the aspect; or with that and examples."
        ),
    )
    direction: Literal["source_to_output", "reference_to_output", "output_to_reference", "both"] = (
        Field(
            "source_to_output",
            description=(
                "What is given, and what is scored. “both” is the mean of precision (reference to"
                " output) and recall (output to reference)."
            ),
        )
    )
    aspects: str = Field(
        "",
        description=(
            "Aspects whose definitions are composed, joined by “+”, such as fluency+coherence."
            " Empty: the criterion's own name and definition."
        ),
    )
    examples: str = Field(
        "",
        title="Demonstrations",
        description=(
            "For prompting by demonstrations: one example per line, input and output separated by "
            "“ => ”."
        ),
    )
    reduce: Literal["mean", "sum"] = Field(
        "mean", description="Over tokens; sums favour short texts."
    )
    punctuation_weight: float = Field(
        1.0,
        ge=0,
        le=1,
        description="Weight of tokens without a letter or digit; all others weigh 1.",
    )

    @field_validator("aspects")
    @classmethod
    def _known(cls, value: str) -> str:
        unknown = [name for name in _names(value) if name not in aspects()]
        if unknown:
            raise ValueError(
                f"there is no aspect {unknown[0]!r} (there are: {', '.join(aspects())})"
            )
        return value

    @field_validator("examples")
    @classmethod
    def _divided(cls, value: str) -> str:
        for number, line in enumerate(value.splitlines(), start=1):
            if line.strip() and len(line.split(" => ")) != 2:
                raise ValueError(f"line {number} needs “given => produced”")
        return value


def _names(joined: str) -> list[str]:
    return [name.strip().lower().replace(" ", "_") for name in joined.split("+") if name.strip()]


@dataclass(frozen=True)
class Likelihood:
    """A text whose tokens are to be weighed, after what stands before it."""

    before: str
    text: str


@dataclass(frozen=True)
class Likelihoods:
    """What is asked about an item: one group per direction, one text per reference in each."""

    groups: tuple[tuple[Likelihood, ...], ...]

    @property
    def all(self) -> tuple[Likelihood, ...]:
        return tuple(itertools.chain(*self.groups))


class GptScore(LlmEvaluator):
    kind = "gptscore"
    title = "GPTScore"
    summary = (
        "How likely a language model finds the output, given an instruction to write a text of that"
        " quality."
    )
    paper = "Fu et al. (2023), GPTScore: Evaluate as You Desire"
    chats = False
    Settings: ClassVar = GptScoreSettings

    @classmethod
    def why_not_with(cls, findings: Findings) -> str:
        if findings.echo:
            return ""
        said = findings.notes.get("echo", "It did not send a prompt back with log-probabilities.")
        return f"GPTScore needs the completions API with echo and logprobs. {said}"

    def needed(self) -> frozenset[Text]:
        return frozenset(
            {"source" if self.settings.direction == "source_to_output" else "references"}
        )

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """The instruction with the definition of the criterion; the texts follow it."""
        task = tasks()[self.settings.task]
        if self.settings.prompting == "vanilla":
            return f"{task.given}: "
        if self.settings.prompting == "demonstrations" and not self.settings.examples.strip():
            raise PromptError(
                "GPTScore by demonstrations needs examples; put some into the judge's settings."
            )
        chosen = _names(self.settings.aspects)
        if chosen:
            definition = " and ".join(aspects()[name] for name in chosen)
        else:
            name = "_".join(parts.criterion.lower().split())
            own = f"of high {parts.criterion.lower()} ({parts.definition.strip().rstrip('.')})"
            plain = f"of high {parts.criterion.lower()}"
            definition = aspects().get(name) or (own if parts.definition.strip() else plain)
        return task.instruction.format(aspect=definition)

    def question(
        self, item: Item, scale: Scale, settings: RequestSettings
    ) -> Likelihoods | Failure:
        texts = item.texts
        failure = self.missing_text(texts)
        if failure:
            return failure
        references = [one for one in texts.references if one.strip()]
        directions = {
            "source_to_output": [[(texts.source, texts.output)]],
            "reference_to_output": [[(one, texts.output) for one in references]],
            "output_to_reference": [[(texts.output, one) for one in references]],
            "both": [
                [(one, texts.output) for one in references],
                [(texts.output, one) for one in references],
            ],
        }[self.settings.direction]
        return Likelihoods(
            tuple(
                tuple(
                    Likelihood(self._before(item.template, given), produced.strip())
                    for given, produced in group
                )
                for group in directions
            )
        )

    def _before(self, instruction: str, given: str) -> str:
        task = tasks()[self.settings.task]
        if self.settings.prompting == "vanilla":
            return f"{task.given}: {given.strip()}\n{task.produced}:"
        shown = ""
        if self.settings.prompting == "demonstrations":
            pairs = [
                line.split(" => ") for line in self.settings.examples.splitlines() if line.strip()
            ]
            shown = "".join(
                f"{task.given}: {left.strip()}\n{task.produced}: {right.strip()}\n\n"
                for left, right in pairs
            )
        return f"{instruction}\n\n{shown}{task.given}: {given.strip()}\n{task.produced}:"

    def requests(self, question: Likelihoods, settings: RequestSettings) -> tuple[Request, ...]:
        return tuple(
            EchoRequest(settings.model, f"{one.before} {one.text}") for one in question.all
        )

    async def judge(
        self, question: Likelihoods, settings: RequestSettings, ask: AskFully
    ) -> Judgement:
        answers = await asyncio.gather(
            *(ask(request) for request in self.requests(question, settings))
        )
        return Judgement(self.score_again(answers, question, settings), tuple(answers))

    def score_again(
        self, answers: Sequence[Answer], question: Likelihoods, settings: RequestSettings
    ) -> Outcome:
        choices = iter([choice for answer in answers for choice in answer.choices])
        sides: list[float] = []
        notes: list[str] = []
        for group in question.groups:
            values = []
            for one in group:
                tokens = tokens_of(next(choices).echoed or (), one)
                if isinstance(tokens, Failure):
                    return tokens
                if tokens.straddles:
                    notes.append("The first token begins within the prompt; it counts as a whole.")
                values.append(self._weighed(tokens.counted))
            sides.append(reduced(values, self.settings.references))
        return Scored.plain(mean(sides), " ".join(dict.fromkeys(notes)))

    def _weighed(self, tokens: Sequence[EchoedToken]) -> float:
        weights = [
            (
                1.0
                if any(character.isalnum() for character in token.text)
                else self.settings.punctuation_weight
            )
            for token in tokens
        ]
        total = math.fsum(
            weight * (token.logprob or 0.0) for weight, token in zip(weights, tokens, strict=True)
        )
        return total if self.settings.reduce == "sum" else total / (math.fsum(weights) or 1.0)


@dataclass(frozen=True)
class Tokens:
    """The tokens that make up a text; `straddles` if the first of them begins before it."""

    counted: tuple[EchoedToken, ...]
    straddles: bool


def tokens_of(echoed: Sequence[EchoedToken], likelihood: Likelihood) -> Tokens | Failure:
    """The tokens of a text within an echo of "before text".

    The text begins at the blank in front of it. A token counts if it holds a character of the text
    that is no blank; one that begins before the blank counts as a whole, since its probability
    cannot be divided.
    """
    sent = f"{likelihood.before} {likelihood.text}".encode()
    spans = _spans([_bytes(token.text) for token in echoed], sent)
    if spans is None:
        return Failure(
            Reason.TOKENS,
            f"The endpoint sent {len(echoed)} tokens back that do not join to the text that was"
            " sent, so it is not known which of them are the output's. Is it a server that leaves"
            " out or rewrites characters?",
        )
    begin = len(likelihood.before.encode())
    counted: list[EchoedToken] = []
    straddles = False
    for token, (first, last) in zip(echoed, spans, strict=True):
        if sent[max(begin, first) : last].strip():
            counted.append(token)
            straddles = straddles or first < begin
    unknown = [
        token for token in counted if token.logprob is None or not math.isfinite(token.logprob)
    ]
    if unknown or not counted:
        found = f"“{unknown[0].text}”" if unknown else "the output"
        return Failure(Reason.TOKENS, f"The endpoint gave no log-probability of {found}.")
    return Tokens(tuple(counted), straddles)


def _spans(parts: Sequence[bytes], sent: bytes) -> list[tuple[int, int]] | None:
    """Where in the text each token stands, as (first byte, byte after); None if they do not make up
    the text.

    Tokenizers put a mark or a blank in front. Characters that are split between tokens come back as
    nothing or as a replacement mark; such tokens share the bytes up to the next token that can be
    found.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    unreadable: list[int] = []
    for index, part in enumerate(parts):
        spans.append((at, at))
        if at == len(sent):
            continue  # what the model wrote on
        if not part or REPLACEMENT in part:
            unreadable.append(index)
            continue
        if unreadable:
            place = sent.find(part, at, at + LONGEST_CHARACTER * len(unreadable) + len(part))
            if place < 0 or sent[at:place].isascii() != (place == at):
                return None
            for earlier in unreadable:
                spans[earlier] = (at, place)
            unreadable, at = [], place
        elif not sent.startswith(part, at):
            if at or index > 1:
                return None
            if not sent.startswith(part.lstrip(b" ")):
                continue  # a mark of the beginning
        end = at + len(part if sent.startswith(part, at) else part.lstrip(b" "))
        spans[index] = (at, end)
        at = end
    for earlier in unreadable:
        spans[earlier] = (at, len(sent))
    rest = sent[at:]
    return spans if not rest or (unreadable and not any(byte < 0x80 for byte in rest)) else None


def _bytes(text: str) -> bytes:
    """A token's bytes; older servers write those that are no character as `bytes:\\xe2\\x80`."""
    if not text.startswith("bytes:\\x"):
        return text.encode("utf-8", "surrogatepass")
    try:
        return bytes.fromhex(text.removeprefix("bytes:").replace("\\x", ""))
    except ValueError:
        return text.encode()
