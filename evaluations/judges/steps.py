"""Auto chain-of-thought: versions of evaluation steps by an LLM (Liu et al., 2023)."""

import re

from django.db import transaction

from evaluations.llm.calls import Answer
from evaluations.llm.prompts import PromptParts, steps_prompt
from evaluations.llm.requests import ChatRequest
from evaluations.models import Criterion, EvaluationSteps

STEPS_MAX_TOKENS = 600
# Models that take no other limit than this one spend most of it on thoughts that nobody sees.
STEPS_MAX_TOKENS_WITH_THOUGHTS = 4_000
LONGEST_STEPS = 20_000
# A shorter reply that is not a list is a refusal or a question.
SHORTEST_WITHOUT_A_LIST = 120
_ITEM = re.compile(r"^[^\S\n]{0,9}(?:\d{1,3}[.):]|[-*•])", re.M)
_HEADING = re.compile(r"\A#{0,6}\s{0,9}\*{0,3}Evaluation Steps\*{0,3}:?\*{0,3}\s{0,99}", re.I)
_FORM = re.compile(r"^[^\S\n]{0,9}#{0,6}[^\S\n]{0,9}\*{0,3}Evaluation Form", re.M)


class StepsError(ValueError):
    """The LLM's reply contains no evaluation steps."""


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


def read_steps(answer: Answer) -> str:
    """The steps in a reply, without the heading and the form that some models write along.

    Raises:
        StepsError: nothing is left, or the reply is a refusal.
    """
    choice = answer.choices[0]
    if choice.is_cut:
        raise StepsError(
            "The model's evaluation steps were cut off before their end. Write steps by hand, do "
            "without them, or use a model that needs fewer tokens."
        )
    text = _HEADING.sub("", choice.text[:LONGEST_STEPS].strip())
    text = _FORM.split(text, maxsplit=1)[0].strip()
    is_list = bool(_ITEM.search(text))
    if choice.refusal or len(text) < (20 if is_list else SHORTEST_WITHOUT_A_LIST):
        reply = choice.refusal or choice.text
        raise StepsError(
            f"The model wrote no evaluation steps, but: “{reply[:200]}”. Write steps by hand, or do"
            " without them."
        )
    return text


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
