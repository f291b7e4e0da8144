"""From a claimed item to the question that is asked about it."""

from collections.abc import Mapping

from evaluations.judging.runs import leases
from evaluations.models import EvaluationRun
from geval.evaluators.base import CriterionPrompt, Item
from geval.llm.judgement import JudgeQuestion, question_on
from geval.llm.parsing import Failure
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
