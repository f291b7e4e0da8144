"""Evaluators that ask an LLM on an endpoint: what they ask about an item, and how answers become a
score."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from evaluations.evaluators.base import Evaluator, Item, Outcome
from evaluations.llm.calls import Answer
from evaluations.llm.endpoints import Request
from evaluations.llm.judgement import AskFully, Judgement, JudgeSettings
from evaluations.llm.parsing import Failure
from evaluations.scales import Scale


class AskingEvaluator(Evaluator):
    """An evaluator that a run's worker gives calls to; how many are in flight, retried and paid is
    the worker's matter.

    `has_mode` says whether the judge's scoring mode (probabilities, samples, one reply) means
    something to it.
    """

    family: ClassVar = "LLM"
    per_criterion: ClassVar = True
    has_mode: ClassVar = True

    @abstractmethod
    def question(self, item: Item, scale: Scale, asking: JudgeSettings) -> Any | Failure:
        """What is asked about an item, in whatever form the other methods take it; or why nothing
        can be."""

    @abstractmethod
    def requests(self, question: Any, asking: JudgeSettings) -> tuple[Request, ...]:
        """The requests that open a question; their content decides whether a stored answer may be
        used."""

    @abstractmethod
    async def judge(self, question: Any, asking: JudgeSettings, ask: AskFully) -> Judgement:
        """Ask, and score what came.

        Raises:
            EndpointError: the endpoint did not answer.
        """

    @abstractmethod
    def score_again(
        self, answers: Sequence[Answer], question: Any, asking: JudgeSettings
    ) -> Outcome:
        """The score of an answer that is stored already."""


def text_of(request: Request) -> str:
    """What a request shows the model, for people to read."""
    return getattr(request, "prompt", "") or getattr(request, "text", "")
