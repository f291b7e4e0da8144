"""GPTScore (Fu et al., 2023): the likelihood of a text under a model, given an instruction to write
such a text.

    GPTScore(h | d, a, S) = sum over tokens t of w_t * log p(h_t | h_<t, T(d, a, S))

with the aspect's definition d in an instruction template T, the aspect a and the source S. A
template is everything that is sent, with `{{Given}}` for S and `{{Scored}}` for h. The endpoint has
to echo the prompt with log-probabilities (`echo` of the completions API: vLLM, llama-cpp-python,
older OpenAI models; not llama.cpp's own server).
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

from geval.evaluators.base import Item, Outcome, Text, mean
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.references import ReferenceSettings, reduced
from geval.evaluators.sections import Line, lines_by_criterion, part_of
from geval.llm.calls import Answer
from geval.llm.findings import Findings
from geval.llm.judgement import AskFully, Judgement
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptError, PromptParts, fill, names_in, split_before
from geval.llm.replies import EchoedToken
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import EchoRequest, Request
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale

# Placeholders of the settings, in lower case: the aspect's definition, and both texts.
ASPECT, GIVEN, SCORED = "aspect", "given", "scored"
# Of bytes, in UTF-8: tokens of parts of characters are searched within this distance.
LONGEST_CHARACTER = 4
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


@dataclass(frozen=True)
class Task:
    """A kind of text to write: its instruction, and the headings of the given and the produced
    text."""

    instruction: str
    given: str
    produced: str


@cache
def tasks() -> dict[str, Task]:
    return {name: Task(**task) for name, task in _tables()["tasks"].items()}


@cache
def aspects() -> dict[str, str]:
    """Return the definitions that go into instructions, by aspect."""
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
            " Empty: the criterion's own definition; if it has none, that of the aspect with its"
            " name."
        ),
    )
    instruction: str = Field(
        "",
        description=(
            "An instruction of yours, with {{Aspect}} where the definition goes. Empty: the"
            " task's own."
        ),
    )
    template: str = Field(
        "",
        description=(
            "How a given and a scored text are written, demonstrations included, such as “{{Given}}"
            " Tl;dr {{Scored}}” with line breaks of yours; {{Scored}} comes last. Empty: with the"
            " task's headings."
        ),
    )
    examples: str = Field(
        "",
        title="Demonstrations",
        description=(
            "For prompting by demonstrations. Of one line each: “given => scored”. Of several"
            " lines: the given text, a line “=>”, the scored text, and a line “---” before the"
            " next. Below a line “[criterion: NAME]”: those of that criterion."
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

    @field_validator("instruction")
    @classmethod
    def _instructs(cls, value: str) -> str:
        unknown = [name for name in names_in(value) if name != ASPECT]
        if unknown:
            raise ValueError(f"there is no placeholder {unknown[0]!r}; it can use {{{{Aspect}}}}")
        return value

    @field_validator("template")
    @classmethod
    def _ends_with_what_is_scored(cls, value: str) -> str:
        names = names_in(value)
        unknown = [name for name in names if name not in (GIVEN, SCORED)]
        if unknown:
            raise ValueError(
                f"there is no placeholder {unknown[0]!r}; it can use {{{{Given}}}} and"
                " {{Scored}}"
            )
        if value.strip() and (
            names.count(SCORED) != 1
            or GIVEN not in names
            or not value.strip().endswith("}}")
            or names[-1] != SCORED
        ):
            raise ValueError("it needs {{Given}}, and {{Scored}} once at its end")
        return value.rstrip()

    @field_validator("examples")
    @classmethod
    def _divided(cls, value: str) -> str:
        demonstrations_in(value)
        return value


@dataclass(frozen=True)
class Demonstration:
    """A given text, and a text that was written from it."""

    given: str
    scored: str


def demonstrations_in(setting: str) -> dict[str, tuple[Demonstration, ...]]:
    """Parse a setting's demonstrations by criterion in lower case; "" for all others.

    Raises:
        ValueError: a line is not a demonstration; the message names it and what it needs.
    """
    return {
        criterion: tuple(
            demonstration for block in _blocks(lines) for demonstration in _in_block(block)
        )
        for criterion, lines in lines_by_criterion(setting).items()
    }


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Split lines at “---”."""
    blocks: list[list[Line]] = [[]]
    for line in lines:
        if line.text.strip() == "---":
            blocks.append([])
        else:
            blocks[-1].append(line)
    return [block for block in blocks if any(line.text.strip() for line in block)]


def _in_block(block: Sequence[Line]) -> list[Demonstration]:
    """Parse one demonstration over several lines, or one per line."""
    arrows = [index for index, line in enumerate(block) if line.text.strip() == "=>"]
    if not arrows:
        return [
            _checked(line.text.split(" => "), line.number) for line in block if line.text.strip()
        ]
    sides = [block[: arrows[0]], block[arrows[0] + 1 :]]
    texts = ["\n".join(line.text for line in side) for side in sides]
    # A second line “=>” is most likely a forgotten “---”.
    number = block[arrows[-1]].number
    return [_checked(texts if len(arrows) == 1 else [], number)]


def _checked(sides: Sequence[str], number: int) -> Demonstration:
    texts = [side.strip() for side in sides]
    if len(texts) != 2 or not all(texts):
        raise ValueError(f"line {number} needs “given => scored”, and “---” between demonstrations")
    if names_in(" ".join(texts)):
        raise ValueError(f"the demonstration at line {number} holds a placeholder; write it out")
    return Demonstration(*texts)


def _names(joined: str) -> list[str]:
    return [name.strip().lower().replace(" ", "_") for name in joined.split("+") if name.strip()]


@dataclass(frozen=True)
class Likelihood:
    """A text whose tokens are scored, after the text before it.

    `gap` is the space between them, which tokenizers include in the text's first token; empty where
    the text begins a line.
    """

    before: str
    text: str
    gap: str = " "

    @property
    def joined(self) -> str:
        return f"{self.before}{self.gap}{self.text}"


@dataclass(frozen=True)
class Likelihoods:
    """What is asked about an item: one group per direction, with one text per reference."""

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
    endpoint = "an endpoint with echo and logprobs"
    Settings: ClassVar = GptScoreSettings

    def why_not_with(self, findings: Findings) -> str:
        if findings.echo:
            return ""
        needs = "GPTScore needs the completions API with echo and logprobs."
        if unknown := findings.why_unknown("echo"):
            return f"{needs} {unknown}"
        reason = findings.notes.get("echo", "It did not send a prompt back with log-probabilities.")
        return (
            f"{needs} {reason} vLLM and llama-cpp-python's server send them; llama.cpp's own server"
            " does not."
        )

    def needed(self) -> frozenset[Text]:
        return frozenset(
            {"source" if self.settings.direction == "source_to_output" else "references"}
        )

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return everything that is sent about an output: the instruction with the criterion's
        definition, demonstrations, and the placeholders of both texts."""
        instruction = self._instruction(parts)
        if {GIVEN, SCORED} & set(names_in(instruction)):
            raise PromptError(
                f"The definition of {parts.criterion} holds {{{{Given}}}} or {{{{Scored}}}}, which"
                " stand for texts in GPTScore's templates; write it out."
            )
        return self._whole(instruction, parts.criterion)

    def _instruction(self, parts: PromptParts) -> str:
        if self.settings.prompting == "vanilla":
            return ""
        instruction = self.settings.instruction.strip() or tasks()[self.settings.task].instruction
        return fill(instruction, {ASPECT: self._definition(parts)})

    def _definition(self, parts: PromptParts) -> str:
        """Return what completes “a text …”: the chosen aspects, or the criterion's definition,
        which takes precedence over that of an aspect of the same name."""
        if chosen := _names(self.settings.aspects):
            return " and ".join(aspects()[name] for name in chosen)
        plain = f"of high {parts.criterion.lower()}"
        if own := parts.definition.strip().rstrip("."):
            return f"{plain} ({own})"
        return aspects().get("_".join(parts.criterion.lower().split()), plain)

    def _whole(self, instruction: str, criterion: str) -> str:
        task = tasks()[self.settings.task]
        pair = self.settings.template or (
            f"{task.given}: {{{{Given}}}}\n{task.produced}: {{{{Scored}}}}"
        )
        shown = [
            fill(pair, {GIVEN: demonstration.given, SCORED: demonstration.scored})
            for demonstration in self._demonstrations(criterion)
        ]
        return "\n\n".join(filter(None, [instruction, *shown, pair]))

    def _demonstrations(self, criterion: str) -> tuple[Demonstration, ...]:
        if self.settings.prompting != "demonstrations":
            return ()
        demonstrations = part_of(demonstrations_in(self.settings.examples), criterion)
        if not demonstrations:
            raise PromptError(
                f"GPTScore by demonstrations has none for {criterion}; put some into the judge's"
                f" settings, for all criteria or below “[criterion: {criterion}]”."
            )
        return demonstrations

    def question(
        self, item: Item, scale: Scale, settings: RequestSettings
    ) -> Likelihoods | Failure:
        texts = item.texts
        failure = self.missing_text(texts)
        if failure:
            return failure
        references = [reference for reference in texts.references if reference.strip()]
        directions = {
            "source_to_output": [[(texts.source, texts.output)]],
            "reference_to_output": [[(reference, texts.output) for reference in references]],
            "output_to_reference": [[(texts.output, reference) for reference in references]],
            "both": [
                [(reference, texts.output) for reference in references],
                [(texts.output, reference) for reference in references],
            ],
        }[self.settings.direction]
        return Likelihoods(
            tuple(
                tuple(self._likelihood(item, given, scored) for given, scored in group)
                for group in directions
            )
        )

    def _likelihood(self, item: Item, given: str, scored: str) -> Likelihood:
        template = item.template
        if SCORED not in names_in(template):
            # Frozen by a version whose templates were only the instruction.
            instruction = "" if self.settings.prompting == "vanilla" else template
            template = self._whole(instruction, item.criterion)
        before = fill(split_before(template, SCORED), {GIVEN: given.strip()})
        gap = " " if before.endswith(" ") else ""
        return Likelihood(before.removesuffix(" "), scored.strip(), gap)

    def requests(self, question: Likelihoods, settings: RequestSettings) -> tuple[Request, ...]:
        return tuple(EchoRequest(settings.model, part.joined) for part in question.all)

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
            for part in group:
                tokens = tokens_of(next(choices).echoed or (), part)
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
    """The tokens that make up a text; `straddles` if the first begins before the text."""

    counted: tuple[EchoedToken, ...]
    straddles: bool


def tokens_of(echoed: Sequence[EchoedToken], likelihood: Likelihood) -> Tokens | Failure:
    """Return the tokens of a text within an echoed prompt.

    The text begins at the space before it, if there is one. A token counts if it contains a
    non-space character of the text; a token that begins before that space counts as a whole, since
    its probability cannot be divided.
    """
    sent = likelihood.joined.encode()
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
        where = f"“{unknown[0].text}”" if unknown else "the output"
        return Failure(Reason.TOKENS, f"The endpoint gave no log-probability of {where}.")
    return Tokens(tuple(counted), straddles)


def _spans(parts: Sequence[bytes], sent: bytes) -> list[tuple[int, int]] | None:
    """Return each token's position in the text, as (first byte, byte after); None if they do not
    make up the text.

    Tokenizers put a mark or a space in front. Characters split between tokens are returned as
    nothing or as a replacement character; such tokens share the bytes up to the next token that can
    be located.
    """
    spans: list[tuple[int, int]] = []
    position = 0
    unreadable: list[int] = []
    for index, part in enumerate(parts):
        spans.append((position, position))
        if position == len(sent):
            continue  # what the model generated
        if not part or REPLACEMENT in part:
            unreadable.append(index)
            continue
        if unreadable:
            place = sent.find(
                part, position, position + LONGEST_CHARACTER * len(unreadable) + len(part)
            )
            if place < 0 or sent[position:place].isascii() != (place == position):
                return None
            for earlier in unreadable:
                spans[earlier] = (position, place)
            unreadable, position = [], place
        elif not sent.startswith(part, position):
            if position or index > 1:
                return None
            if not sent.startswith(part.lstrip(b" ")):
                continue  # a begin-of-text mark
        end = position + len(part if sent.startswith(part, position) else part.lstrip(b" "))
        spans[index] = (position, end)
        position = end
    for earlier in unreadable:
        spans[earlier] = (position, len(sent))
    rest = sent[position:]
    return spans if not rest or (unreadable and not any(byte < 0x80 for byte in rest)) else None


def _bytes(text: str) -> bytes:
    """Return a token's bytes; older servers write incomplete characters as `bytes:\\xe2\\x80`."""
    if not text.startswith("bytes:\\x"):
        return text.encode("utf-8", "surrogatepass")
    try:
        return bytes.fromhex(text.removeprefix("bytes:").replace("\\x", ""))
    except ValueError:
        return text.encode()
