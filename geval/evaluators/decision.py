"""Decision models: typed questions whose answers come as probabilities, without any text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Item, Outcome
from geval.evaluators.llm_evaluator import LlmEvaluator, PromptSettings
from geval.llm.calls import Answer
from geval.llm.decisions import DecisionRequest, levels_of, score_decision, why_not_decided
from geval.llm.judgement import AskFully, Judgement, question_on
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptError, PromptParts, compose_inputs
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import Request
from geval.scales import Scale

# Stands between what is asked and what it is asked about, in a criterion's template.
INPUT = "\n\nInput:\n\n"


class DecisionSettings(PromptSettings):
    protocol: Literal["decisions", "systemone"] = Field(
        "decisions",
        title="Protocol",
        description=(
            "decisions: OpenAI's Decisions API (also SGLang and others); systemone: TypeSafe's"
            " (also vLLM and llama.cpp)."
        ),
    )


@dataclass(frozen=True)
class Decided:
    """What is asked about an item: the question and its input, and the scale of the answer."""

    instructions: str
    text: str
    scale: Scale


class Decision(LlmEvaluator):
    kind = "decision"
    title = "Decision model"
    summary = (
        "A model that gives a probability for each point of the scale, and no text and no reasons."
    )
    paper = "OpenAI's Decisions API and TypeSafe's System One (2026)"
    rates_on_scale = True
    chats = False
    is_probed = False
    endpoint = "an endpoint of a decision model"
    Settings: ClassVar = DecisionSettings

    @classmethod
    def why_not_on(cls, scale: Scale, mode: str) -> str:
        return why_not_decided(scale)

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        asked = _instructions(parts, steps)
        if INPUT in asked:
            raise PromptError(
                f"The definition of {parts.criterion} has a line “Input:”, which stands between"
                " question and input here; word it differently."
            )
        return f"{asked}{INPUT}{compose_inputs(parts, is_delimited=self.settings.delimited)}"

    def question(self, item: Item, scale: Scale, settings: RequestSettings) -> Decided | Failure:
        instructions, _mark, inputs = item.template.partition(INPUT)
        question = question_on(inputs, item.texts, item.criterion, scale)
        if isinstance(question, Failure):
            return question
        return Decided(instructions, question.prompt, scale)

    def requests(self, question: Decided, settings: RequestSettings) -> tuple[Request, ...]:
        return (
            DecisionRequest(
                settings.model,
                question.text,
                question.instructions,
                levels_of(question.scale),
                self.settings.protocol,
            ),
        )

    async def judge(self, question: Decided, settings: RequestSettings, ask: AskFully) -> Judgement:
        (request,) = self.requests(question, settings)
        answer = await ask(request)
        return Judgement(self.score_again([answer], question, settings), (answer,))

    def score_again(
        self, answers: Sequence[Answer], question: Decided, settings: RequestSettings
    ) -> Outcome:
        text = answers[-1].choices[0].text
        return score_decision(text, question.scale, min_coverage=settings.min_coverage)


def _instructions(parts: PromptParts, steps: str | None) -> str:
    """What is asked: how the text rates on the criterion, or whether it passes."""
    about = parts.definition.strip()
    if parts.scale.points == (0, 1):
        asked = f"The text that is judged passes on {parts.criterion}."
    else:
        lowest, highest = parts.scale.points[0], parts.scale.points[-1]
        asked = (
            f"Rate the {parts.criterion} of the text that is judged, from {lowest:g} (lowest) to"
            f" {highest:g} (highest)."
        )
    named = f"{parts.criterion}: {about}" if about else ""
    return "\n\n".join(filter(None, [asked, named, (steps or "").strip()]))
