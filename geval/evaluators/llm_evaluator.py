"""Evaluators that ask an LLM on an endpoint: their questions about an item, and how answers become
scores."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from geval.evaluators.base import Evaluator, Item, Outcome, Settings
from geval.llm.calls import Answer
from geval.llm.findings import Findings
from geval.llm.judgement import AskFully, Judgement
from geval.llm.parsing import Failure
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import Request
from geval.statistics.scales import Scale


class PromptSettings(Settings):
    """Settings of evaluators whose prompts show texts."""

    delimited: bool = Field(
        False,
        title="Texts between tags",
        description=(
            "Each text stands between tags and is called data, so that an instruction in it is less"
            " likely to be followed. New judges have it. Without it prompts are the paper's."
        ),
        json_schema_extra={"new": True},
    )

    LATER: ClassVar = frozenset({"delimited"})

    @model_serializer(mode="wrap")
    def _without_later_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Later settings are left out at their defaults, so that judges created before they existed
        # have the same settings as judges without them.
        return {
            name: value
            for name, value in handler(self).items()
            if name not in self.LATER or value != type(self).model_fields[name].default
        }


class LlmEvaluator(Evaluator):
    """An evaluator that asks an endpoint. The run's worker handles concurrency, retries and costs.

    Class attributes: `chats` says whether it asks a chat model for replies, so that the judge's
    scoring mode (probabilities, samples, one reply) applies to it; `writes_steps` whether its
    prompt has evaluation steps, which the model writes first; `takes_batches` whether its questions
    may go through the endpoint's batch API (one request each, scored by `score_again`), and
    `is_probed` whether its model's abilities are probed with chat requests; `endpoint` describes
    the endpoint that it needs.
    """

    family: ClassVar = "LLM"
    per_criterion: ClassVar = True
    chats: ClassVar = True
    is_probed: ClassVar[bool] = True
    endpoint: ClassVar[str] = "an endpoint"

    def why_not_with(self, findings: Findings) -> str:
        """Return why it cannot use a model with a probe's findings, and what to do; empty if it
        can."""
        return ""

    @classmethod
    def why_not_on(cls, scale: Scale, mode: str) -> str:
        """Return why it cannot rate on a scale in a scoring mode; empty if it can."""
        return ""

    @abstractmethod
    def question(self, item: Item, scale: Scale, settings: RequestSettings) -> Any | Failure:
        """Return the question about an item, in the form that the other methods take; or why none
        can be asked."""

    @abstractmethod
    def requests(self, question: Any, settings: RequestSettings) -> tuple[Request, ...]:
        """Return a question's first requests; their content decides whether a stored answer may be
        used."""

    @abstractmethod
    async def judge(self, question: Any, settings: RequestSettings, ask: AskFully) -> Judgement:
        """Ask, and score the answer.

        Raises:
            EndpointError: the endpoint did not answer.
        """

    @abstractmethod
    def score_again(
        self, answers: Sequence[Answer], question: Any, settings: RequestSettings
    ) -> Outcome:
        """Score a stored answer."""


def text_of(request: Request) -> str:
    """Return what a request shows the model, for people to read."""
    return getattr(request, "prompt", "") or request.shown
