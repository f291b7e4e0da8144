"""Two outputs of a document compared by an LLM: A, B or a tie, asked in both orders so that
position cancels out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from geval.evaluators.base import Item, Outcome, mean
from geval.evaluators.llm_evaluator import LlmEvaluator, PromptSettings
from geval.llm.calls import Answer
from geval.llm.delimiting import NOTE
from geval.llm.judgement import (
    AskFully,
    Judgement,
    JudgeQuestion,
    first_request,
    judge,
    readable_choices,
    score_choices,
)
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import (
    PromptError,
    PromptParts,
    as_data,
    delimited,
    fields_used,
    heading_of,
    render,
)
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import Request
from geval.llm.scoring import Preferred
from geval.statistics.scales import Scale

TIE = "C"
WITH_TIE = Scale(0.0, 1.0, 0.5, labels={"A": 1.0, TIE: 0.5, "B": 0.0, "Tie": 0.5})
WITHOUT_TIE = Scale(0.0, 1.0, 1.0, labels={"A": 1.0, "B": 0.0})
FORM = "Better"


class PairwiseSettings(PromptSettings):
    both_orders: bool = Field(
        True,
        title="Both orders",
        description="Ask twice with the texts exchanged; half the calls without.",
    )
    ties: bool = Field(True, description="Let the model say that both are equally good.")
    pairs: Literal["compared", "all"] = Field(
        "compared",
        description="The pairs that people have compared, or every two outputs of a document.",
    )


@dataclass(frozen=True)
class JudgedPair:
    """A prompt for each order, with swapped texts in the second. `instructions` are the question
    about them, where the prompts do not contain it."""

    orders: tuple[JudgeQuestion, ...]
    instructions: str = ""


class Pairwise(LlmEvaluator):
    kind = "pairwise"
    title = "Pairwise LLM judge"
    summary = (
        "An LLM says which of two outputs is better, in both orders; its position bias is measured"
        " and cancelled."
    )
    paper = "Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena"
    compares_pairs = True
    Settings: ClassVar[type[PairwiseSettings]] = PairwiseSettings

    @property
    def only_pairs_people_compared(self) -> bool:
        return bool(self.settings.pairs == "compared")

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return the prompt about two texts, A and B."""
        answers = f"A, B, or {TIE} if both are equally good" if self.settings.ties else "A or B"
        form = f"Evaluation Form (answer ONLY {answers}):\n\n- {FORM}:"
        return "\n\n\n".join([*self.asked(parts), *self.texts(parts), form])

    def asked(self, parts: PromptParts) -> list[str]:
        """Return the sections with the question."""
        definition = f" - {parts.definition.strip()}" if parts.definition.strip() else ""
        return [
            (
                "You will be given two texts that were written for the same source. Say which of"
                " them is better on one metric only. Do not let length or the order of the texts"
                " sway you."
            ),
            as_data(f"Evaluation Criteria:\n\n{heading_of(parts.criterion)}{definition}"),
        ]

    def texts(self, parts: PromptParts) -> list[str]:
        """Return the sections that show the texts, A and B last."""
        shown = fields_used(parts.inputs or parts.prompt_file or "{{Document}}")
        texts = [
            *(["Source Text:\n\n{{Document}}"] if "source" in shown else []),
            *(["Context:\n\n{{Context}}"] if "context" in shown else []),
            "Text A:\n\n{{OutputA}}",
            "Text B:\n\n{{OutputB}}",
        ]
        return [NOTE, *map(delimited, texts)] if self.settings.delimited else texts

    def question(self, item: Item, scale: Scale, settings: RequestSettings) -> JudgedPair | Failure:
        texts = item.texts
        if not texts.output.strip() or not texts.rival.strip():
            return Failure(
                Reason.EMPTY_OUTPUT,
                "One of the two outputs is empty, so there is nothing to compare.",
            )
        orders = [texts, texts.exchanged]
        points = WITH_TIE if self.settings.ties else WITHOUT_TIE
        try:
            pairs = tuple(
                JudgeQuestion(render(item.template, order), FORM, points)
                for order in orders[: 2 if self.settings.both_orders else 1]
            )
        except PromptError as error:
            return Failure(Reason.PROMPT, str(error))
        return JudgedPair(pairs)

    def requests(self, question: JudgedPair, settings: RequestSettings) -> tuple[Request, ...]:
        return tuple(first_request(settings, order.prompt) for order in question.orders)

    async def judge(
        self, question: JudgedPair, settings: RequestSettings, ask: AskFully
    ) -> Judgement:
        answers: list[Answer] = []
        kept: list[Answer] = []
        for order in question.orders:
            judgement = await judge(order, settings, ask)
            answers.extend(judgement.answers)
            if isinstance(judgement.outcome, Failure):
                return Judgement(judgement.outcome, tuple(answers))
            kept.append(
                _one_answer(
                    judgement.answers, readable_choices(list(judgement.answers), order, settings)
                )
            )
        return Judgement(self.score_again(kept, question, settings), tuple(kept))

    def score_again(
        self, answers: Sequence[Answer], question: JudgedPair, settings: RequestSettings
    ) -> Outcome:
        """Score answers with equally many choices for each order, in the order in which they were
        asked."""
        choices = [choice for answer in answers for choice in answer.choices]
        each = len(choices) // len(question.orders)
        outcomes = []
        for number, order in enumerate(question.orders):
            part = replace(answers[0], choices=tuple(choices[number * each : (number + 1) * each]))
            outcome = self.read_order(part, order, settings)
            if isinstance(outcome, Failure):
                return outcome
            outcomes.append(outcome)
        # In the second order the first text was shown second.
        first = [
            outcome.value if number == 0 else 1 - outcome.value
            for number, outcome in enumerate(outcomes)
        ]
        tie = mean(outcome.distribution.get(0.5, 0.0) for outcome in outcomes)
        value = mean(first)
        coverages = [each.coverage for each in outcomes if each.coverage is not None]
        return Preferred(
            value=value,
            distribution={1.0: value - tie / 2, 0.5: tie, 0.0: 1 - value - tie / 2},
            coverage=mean(coverages) if coverages else None,
            left=mean(outcome.value for outcome in outcomes) if len(outcomes) == 2 else None,
        )

    def read_order(
        self, answer: Answer, order: JudgeQuestion, settings: RequestSettings
    ) -> Outcome:
        """Read the answers about one order."""
        return score_choices([answer], order, settings)


def _one_answer(answers: Sequence[Answer], choices: tuple[Any, ...]) -> Answer:
    """Merge the answers of several calls about one order, with the choices that count."""
    return replace(
        answers[-1],
        choices=choices,
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        calls=sum(answer.calls for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
    )
