"""What a run asks an LLM about its items, call by call or in batches, and the replies stored under
the keys of its requests."""

from collections.abc import Sequence
from typing import Any

from evaluations.judging.runs import results
from evaluations.judging.runs.item_questions import criterion_prompts, item_of
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.models import EvaluationRun, ModelReply
from geval.evaluators.base import CriterionPrompt
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.perturbing import perturbed
from geval.llm.calls import Answer
from geval.llm.parsing import Failure
from geval.llm.requests import Request, request_key
from geval.llm.scoring import Scored


class RunQuestions:
    """`settings` are those the run was started with.

    Args:
        base_url: the endpoint's, which a stored reply depends on.
    """

    def __init__(self, run: EvaluationRun, evaluator: LlmEvaluator, base_url: str) -> None:
        self.run = run
        self.evaluator = evaluator
        self.frozen = run.frozen
        self.settings = self.frozen.request_settings
        self._base_url = base_url
        self._prompts: dict[int, CriterionPrompt] = {}

    def read_criteria(self) -> None:
        """Read what the run asks; before anything else, in the database thread."""
        self._prompts = criterion_prompts(self.run)

    def question_of(self, item: ClaimedItem) -> Any | Failure:
        """What is asked about an item, or why nothing can be."""
        seen, about = item_of(item, self._prompts)
        if self.frozen.perturbed:
            seen = perturbed(self.frozen.perturbed, seen, model=self.frozen.model)
        return self.evaluator.question(seen, about.scale, self.settings)

    def requests_of(self, question: Any) -> tuple[Request, ...]:
        """The requests that open a question."""
        return self.evaluator.requests(question, self.settings)

    def key_of(self, requests: Sequence[Request]) -> str:
        """The digest that decides whether a stored reply may be used."""
        return request_key(self._base_url, *requests)

    def stored_replies(self, keys: Sequence[str]) -> dict[str, ModelReply]:
        """The newest stored reply for each key; a fresh run uses only its own, and that of a study
        none. In the database thread."""
        if self.run.purpose:
            return {}
        since = self.run.created_at if self.frozen.fresh else None
        return results.stored_replies(self.run.project_id, keys, since=since)

    def score_again(self, answers: Sequence[Answer], question: Any) -> Scored | Failure:
        """Score stored answers for a question."""
        return self.evaluator.score_again(answers, question, self.settings)
