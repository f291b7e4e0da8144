"""Create criteria from presets, generate their steps, and preview their prompts;
steps of judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from evaluations.judging.judges.clients import ask_model
from evaluations.models import CandidateOutput, Criterion, EvaluationSteps, Judge, Project
from geval.llm.cost import estimated_tokens
from geval.llm.presets import Preset
from geval.llm.prompts import (
    PromptError,
    PromptParts,
    check_template,
    compose_template,
    needs_steps,
    render,
    steps_request,
)
from geval.llm.written_steps import read_items, read_steps

# Below an errand's limit (`PATIENCE_SECONDS`), which includes retries.
STEPS_SECONDS = 90.0


@transaction.atomic
def add_presets(project: Project, chosen: Sequence[Preset]) -> list[Criterion]:
    """Add criteria to a project, skipping those whose names already exist."""
    existing = {name.lower() for name in project.criteria.values_list("name", flat=True)}
    made: list[Criterion] = []
    for preset in chosen:
        if preset.name in existing:
            continue
        criterion = Criterion(
            project=project,
            name=preset.name,
            position=len(existing) + len(made),
            scale_min=preset.scale.lowest,
            scale_max=preset.scale.highest,
        )
        criterion.use_preset(preset)
        criterion.save()
        made.append(criterion)
    return made


def problems_of_change(criterion: Criterion, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of a criterion's new name and templates, by field. The scale validates
    itself."""
    problems = {}
    name, others = values.get("name"), criterion.project.criteria.exclude(pk=criterion.pk)
    if name and others.filter(name__iexact=name).exists():
        problems["name"] = f"A criterion named “{name}” already exists."
    for field in ("inputs", "prompt_file"):
        if text := values.get(field):
            try:
                check_template(text)
            except PromptError as error:
                problems[field] = str(error)
    return problems


def change_criterion(criterion: Criterion, values: Mapping[str, Any]) -> Criterion:
    """Save new values of a criterion, which may itself be new; `rubric` is an id.

    Raises:
        ValidationError: a value is wrong, or another criterion has this name.
    """
    if problems := problems_of_change(criterion, values):
        raise ValidationError(problems)
    for name, value in values.items():
        setattr(criterion, "rubric_id" if name == "rubric" else name, value)
    if not {"scale_min", "scale_max", "scale_step"}.isdisjoint(values):
        criterion.scale_is_guess = False
    criterion.full_clean()
    criterion.save()
    return criterion


@dataclass(frozen=True)
class PromptPreview:
    """A criterion's prompt as it will be sent for a real output; `problem` says why it cannot be
    sent."""

    prompt: str
    tokens: int
    document: str
    problem: str = ""


def preview(criterion: Criterion) -> PromptPreview:
    """Compose the whole prompt for the project's first output, with its token estimate."""
    output = (
        CandidateOutput.objects.of_project(criterion.project)
        .select_related("document", "system")
        .first()
    )
    newest = criterion.newest_steps if criterion.pk else None
    text = newest.text if newest else None
    parts = prompt_parts(criterion)
    if text is None and needs_steps(parts):
        text = "(The model writes them before the first run.)"
    try:
        template = compose_template(parts, steps=text, is_delimited=True)
        if output is None:
            return PromptPreview(
                template,
                estimated_tokens(len(template)),
                "",
                "There is no document yet for a preview.",
            )
        document = output.document
        prompt = render(template, output.texts())
    except PromptError as error:
        return PromptPreview("", 0, output.document.doc_id if output else "", str(error))
    return PromptPreview(
        prompt, estimated_tokens(len(prompt)), f"{document.doc_id}, {output.system.name}"
    )


def generate_steps(criterion: Criterion, judge: Judge) -> EvaluationSteps:
    """Have a judge's model write a new version of a criterion's steps.

    Raises:
        EndpointError, StepsError: the endpoint does not answer, or its answer has no steps.
    """
    assert judge.endpoint is not None
    request = steps_request(prompt_parts(criterion), judge.request_settings)
    answer = ask_model(judge.endpoint, request, timeout=STEPS_SECONDS)
    return store_steps(criterion, read_steps(answer.choices[0]), written_by=judge.model)


def propose_items(criterion: Criterion, judge: Judge) -> str:
    """Have a judge's model write items that make a criterion a rubric, as lines of text.

    Raises:
        EndpointError, StepsError: the endpoint does not answer, or its answer has no items.
    """
    assert judge.endpoint is not None
    request = steps_request(prompt_parts(criterion), judge.request_settings, is_for_items=True)
    answer = ask_model(judge.endpoint, request, timeout=STEPS_SECONDS)
    return read_items(answer.choices[0])


def prompt_parts(criterion: Criterion) -> PromptParts:
    """Return the parts of a prompt from a criterion's record."""
    return PromptParts(
        criterion=criterion.name,
        scale=criterion.scale,
        definition=criterion.definition,
        introduction=criterion.task_introduction,
        inputs=criterion.inputs,
        prompt_file=criterion.prompt_file,
    )


@transaction.atomic
def store_steps(criterion: Criterion, text: str, *, written_by: str) -> EvaluationSteps:
    """Store a new version of a criterion's steps, unless the newest version has the same text."""
    # Versions are numbered one after another.
    Criterion.objects.select_for_update().get(pk=criterion.pk)
    newest = criterion.newest_steps
    if newest and newest.text == text:
        return newest
    return criterion.steps.create(
        version=newest.version + 1 if newest else 1, text=text, written_by=written_by
    )
