"""Auto chain-of-thought: versions of evaluation steps by an LLM (Liu et al., 2023)."""

from django.db import transaction

from evaluations.llm.prompts import PromptParts, steps_prompt
from evaluations.llm.requests import ChatRequest
from evaluations.models import Criterion, EvaluationSteps

STEPS_MAX_TOKENS = 600
# Models that take no other limit than this one spend most of it on thoughts that nobody sees.
STEPS_MAX_TOKENS_WITH_THOUGHTS = 4_000


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


def steps_request(
    criterion: Criterion, *, model: str, length_parameter: str = "max_tokens"
) -> ChatRequest:
    """The request for steps: greedy, so that asking again gives the same where the model is
    deterministic."""
    return ChatRequest(
        model=model,
        prompt=steps_prompt(prompt_parts(criterion)),
        temperature=(
            0.0 if length_parameter == "max_tokens" else None
        ),  # newer models accept only their own temperature
        max_tokens=(
            STEPS_MAX_TOKENS if length_parameter == "max_tokens" else STEPS_MAX_TOKENS_WITH_THOUGHTS
        ),
        length_parameter=length_parameter,
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
