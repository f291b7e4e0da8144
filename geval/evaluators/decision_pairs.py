"""Two outputs of a document compared by a decision model: A, B or a tie as probabilities, in both
orders."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from geval.evaluators.base import Item, Outcome
from geval.evaluators.decision import INPUT, ProtocolSettings, refuse_input
from geval.evaluators.pairwise import JudgedPair, Pairwise, PairwiseSettings
from geval.llm.calls import Answer
from geval.llm.decisions import DecisionRequest, TypedQuestion, score_decision
from geval.llm.judgement import AskFully, Judgement, JudgeQuestion
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptParts
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import Request
from geval.statistics.scales import Scale

# The choices with their descriptions, and their values for the text shown first.
_CHOICES = (
    ("A", "Text A is better.", 1.0),
    ("B", "Text B is better.", 0.0),
    ("tie", "Both are equally good.", 0.5),
)


class DecisionPairsSettings(PairwiseSettings, ProtocolSettings): ...


class DecisionPairs(Pairwise):
    kind = "decision_pairs"
    title = "Pairwise decision model"
    summary = (
        "A decision model gives the probability that either of two outputs is better, or neither,"
        " in both orders; its position bias is measured and cancelled."
    )
    paper = (
        "OpenAI's Decisions API and TypeSafe's System One (2026); both orders as Zheng et al."
        " (2023)"
    )
    chats = False
    is_probed = False
    endpoint = "an endpoint of a decision model"
    Settings: ClassVar[type[DecisionPairsSettings]] = DecisionPairsSettings

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return the question and, after `INPUT`, the two texts A and B."""
        asked = "\n\n\n".join(self.asked(parts))
        refuse_input(asked, parts.criterion)
        return f"{asked}{INPUT}" + "\n\n\n".join(self.texts(parts))

    def question(self, item: Item, scale: Scale, settings: RequestSettings) -> JudgedPair | Failure:
        instructions, _mark, texts = item.template.partition(INPUT)
        pair = super().question(replace(item, template=texts), scale, settings)
        return pair if isinstance(pair, Failure) else replace(pair, instructions=instructions)

    def requests(self, question: JudgedPair, settings: RequestSettings) -> tuple[Request, ...]:
        choices = tuple((name, words) for name, words, _counts in self._choices)
        asked = (TypedQuestion(question.instructions, choices=choices),)
        return tuple(
            DecisionRequest(settings.model, order.prompt, asked, self.settings.protocol)
            for order in question.orders
        )

    async def judge(
        self, question: JudgedPair, settings: RequestSettings, ask: AskFully
    ) -> Judgement:
        answers: list[Answer] = []
        for request, order in zip(self.requests(question, settings), question.orders, strict=True):
            answers.append(await ask(request))
            outcome = self.read_order(answers[-1], order, settings)
            if isinstance(outcome, Failure):
                return Judgement(outcome, tuple(answers))
        return Judgement(self.score_again(answers, question, settings), tuple(answers))

    def read_order(
        self, answer: Answer, order: JudgeQuestion, settings: RequestSettings
    ) -> Outcome:
        points = [counts for _name, _words, counts in self._choices]
        text = answer.choices[0].text
        return score_decision(text, points, min_coverage=settings.min_coverage)

    @property
    def _choices(self) -> Sequence[tuple[str, str, float]]:
        return _CHOICES if self.settings.ties else _CHOICES[:2]
