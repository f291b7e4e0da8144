"""Auto chain-of-thought: versions of evaluation steps by an LLM (Liu et al., 2023)."""

from django.db import transaction

from evaluations.models import Criterion, EvaluationSteps
from geval.llm.prompts import PromptParts, steps_prompt
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import ChatRequest

STEPS_MAX_TOKENS = 600


def prompt_parts(criterion: Criterion) -> PromptParts:
    """The parts of a prompt from a criterion's record."""
    return PromptParts(
        criterion=criterion.name,
        scale=criterion.scale,
        definition=criterion.definition,
        introduction=criterion.task_introduction,
        inputs=criterion.inputs,
        prompt_file=criterion.prompt_file,
    )


def steps_request(criterion: Criterion, settings: RequestSettings) -> ChatRequest:
    """The request for steps: greedy, so that asking again gives the same where the model is
    deterministic. Where a judge's replies have room for a thought, its steps have it, too."""
    return ChatRequest(
        model=settings.model,
        prompt=steps_prompt(prompt_parts(criterion)),
        temperature=None if settings.temperature is None else 0.0,
        max_tokens=max(STEPS_MAX_TOKENS, settings.max_tokens),
        length_parameter=settings.length_parameter,
    )


@transaction.atomic
def store_steps(criterion: Criterion, text: str, *, written_by: str) -> EvaluationSteps:
    """Keep a new version of a criterion's steps; the same text as the newest version is not stored
    twice."""
    Criterion.objects.select_for_update().get(pk=criterion.pk)
    newest = criterion.newest_steps
    if newest and newest.text == text:
        return newest
    return criterion.steps.create(
        version=newest.version + 1 if newest else 1, text=text, written_by=written_by
    )
