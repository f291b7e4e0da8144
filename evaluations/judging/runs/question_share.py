"""The share of a worker whose evaluator asks an LLM, call by call or in batches.

What is asked about an item, the key of its requests, and the replies stored under such keys.
"""

from collections.abc import Sequence
from typing import Any

from evaluations.judging.runs import results
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.item_questions import CriterionPrompt, criterion_prompts, item_of
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.share import Share
from evaluations.judging.runs.shift import Shift
from evaluations.models import EvaluationRun, ModelReply
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.perturbing import perturbed
from geval.llm.endpoints import Client
from geval.llm.parsing import Failure
from geval.llm.requests import Request


class QuestionShare(Share):
    """`settings` are those the run was started with, `asked_criteria` its criteria by id."""

    def __init__(
        self,
        run: EvaluationRun,
        evaluator: LlmEvaluator,
        worker: str,
        client: Client,
        database: Database,
        shift: Shift,
    ) -> None:
        super().__init__(run, worker, database, shift)
        self.evaluator = evaluator
        self.client = client
        self.frozen = run.frozen
        self.settings = self.frozen.request_settings
        self.criterion_prompts: dict[int, CriterionPrompt] = {}

    async def read_criteria(self) -> None:
        """Read what the run asks; before anything else."""
        self.criterion_prompts = await self.database.call(lambda: criterion_prompts(self.run))

    def question_of(self, item: ClaimedItem) -> Any | Failure:
        """What is asked about an item, or why nothing can be."""
        seen, about = item_of(item, self.criterion_prompts)
        if self.frozen.perturbed:
            seen = perturbed(self.frozen.perturbed, seen, model=self.frozen.model)
        return self.evaluator.question(seen, about.scale, self.settings)

    def requests_of(self, question: Any) -> tuple[Request, ...]:
        """The requests that open a question."""
        return self.evaluator.requests(question, self.settings)

    def key_of(self, requests: Sequence[Request]) -> str:
        """The digest that decides whether a stored reply may be used."""
        return results.request_key(self.client.base_url, *requests)

    def stored_replies(self, keys: Sequence[str]) -> dict[str, ModelReply]:
        """The newest stored reply for each key; a fresh run uses only its own, and that of a study
        none."""
        if self.run.purpose:
            return {}
        since = self.run.created_at if self.frozen.fresh else None
        return results.stored_replies(self.run.project_id, keys, since=since)
