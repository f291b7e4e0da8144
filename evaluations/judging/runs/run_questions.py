"""What a run asks an LLM about its items, by single calls or batches, and the replies stored under
the keys of its requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.models import EvaluationRun, ModelReply
from geval.evaluators.base import CriterionPrompt, Item
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.perturbing import perturbed
from geval.llm.calls import Answer
from geval.llm.judgement import JudgeQuestion, question_on
from geval.llm.parsing import Failure
from geval.llm.requests import Request, request_key
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale

# The criterion of evaluators whose score counts for every criterion.
NO_PROMPT = CriterionPrompt("", "", Scale(0.0, 1.0))


def item_of(
    item: leases.ClaimedItem, prompts: Mapping[int, CriterionPrompt]
) -> tuple[Item, CriterionPrompt]:
    """Return a claimed item as an evaluator sees it, and its prompt."""
    about = prompts[item.criterion_id] if item.criterion_id is not None else NO_PROMPT
    together = tuple(prompts.values())
    return Item(item.texts, about.criterion, about.template, item.output_id, together), about


def criterion_prompts(run: EvaluationRun) -> dict[int, CriterionPrompt]:
    """Return the run's criteria by id, with their frozen templates."""
    entries = run.run_criteria.select_related("criterion")
    return {
        entry.criterion_id: CriterionPrompt(
            entry.template, entry.criterion.name, entry.criterion.scale
        )
        for entry in entries
    }


def question_about(
    item: leases.ClaimedItem, prompts: Mapping[int, CriterionPrompt]
) -> JudgeQuestion | Failure:
    """Return the question about an item, or a failure if the document lacks a text that the prompt
    shows."""
    about = prompts[item.criterion_id or 0]
    return question_on(about.template, item.texts, about.criterion, about.scale)


class RunQuestions:
    """The questions of a run. `settings` are those that the run was started with.

    Args:
        base_url: the endpoint's base URL, which is part of a stored reply's key.
    """

    def __init__(self, run: EvaluationRun, evaluator: LlmEvaluator, base_url: str) -> None:
        self.run = run
        self.evaluator = evaluator
        self.frozen = run.frozen
        self.settings = self.frozen.request_settings
        self._base_url = base_url
        self._prompts: dict[int, CriterionPrompt] = {}

    def read_criteria(self) -> None:
        """Load the criteria and prompts. Call this first, in the database thread."""
        self._prompts = criterion_prompts(self.run)

    def question_of(self, item: ClaimedItem) -> Any | Failure:
        """Return the question about an item, or the failure if there is none."""
        seen, about = item_of(item, self._prompts)
        if self.frozen.perturbed:
            seen = perturbed(self.frozen.perturbed, seen, model=self.frozen.model)
        return self.evaluator.question(seen, about.scale, self.settings)

    def requests_of(self, question: Any) -> tuple[Request, ...]:
        """Return the first requests of a question."""
        return self.evaluator.requests(question, self.settings)

    def key_of(self, requests: Sequence[Request]) -> str:
        """Return the digest under which replies are stored."""
        return request_key(self._base_url, *requests)

    def stored_replies(self, keys: Sequence[str]) -> dict[str, ModelReply]:
        """Return the newest stored reply for each key. A fresh run reuses only its own replies, and
        a study none. Call this in the database thread."""
        if self.run.purpose:
            return {}
        since = self.run.created_at if self.frozen.fresh else None
        return results.stored_replies(self.run.project_id, keys, since=since)

    def score_again(self, answers: Sequence[Answer], question: Any) -> Scored | Failure:
        """Score stored answers for a question."""
        return self.evaluator.score_again(answers, question, self.settings)
