"""Probe an endpoint for a model with a real prompt of the project."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluations.judging.judges.clients import client_for
from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.judges.listing import (
    add_suggestion,
    keep_listed_models,
    models_listed_by,
)
from evaluations.models import CandidateOutput, Endpoint, ModelProbe, Project
from geval.evaluators.llm_evaluator import PromptSettings
from geval.evaluators.registry import find_evaluator
from geval.llm.errors import EndpointError
from geval.llm.findings import Findings
from geval.llm.item_texts import Texts
from geval.llm.judge_settings import default_of
from geval.llm.judgement import JudgeQuestion, question_on
from geval.llm.presets import presets
from geval.llm.probe import REAL_PROMPTS, probe_model
from geval.llm.prompts import PromptError, PromptParts, compose_template
from geval.llm.time_limit import TimeLimit, ask_within_patience

# Longer than for other errands: a probe makes several calls, some with a reasoning budget.
PROBE_PATIENCE_SECONDS = 600.0
_EXAMPLE = Texts(
    source=(
        "The ferry to the island sails twice a day in winter. On Tuesday the morning sailing was"
        " cancelled because of high waves, and about forty passengers waited at the harbour until"
        " the afternoon. The company said that the timetable would return to normal on Wednesday."
    ),
    output=(
        "High waves cancelled Tuesday's morning ferry. About forty passengers waited until the"
        " afternoon; on Wednesday the usual timetable returns."
    ),
)


def probe_endpoint(
    endpoint: Endpoint,
    model: str,
    *,
    time_limit: TimeLimit | None = None,
    is_delimited: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> Findings:
    """Probe an endpoint for a model, and store the findings.

    Args:
        time_limit: the judge's; by default it adapts to the server's speed.
        is_delimited: whether the judge puts texts between tags (`puts_tags`); by default as this
            model's judges do, or as new judges do if it has none.
        options: the judge's request options, which may affect what the model can do.

    Raises:
        EndpointError: it does not answer at all.
    """
    client = client_for(endpoint, timeout=time_limit or TimeLimit())
    if is_delimited is None:
        is_delimited = _judges_put_tags(endpoint, model)
    questions = sample_questions(endpoint.project, is_delimited=is_delimited)

    async def ask() -> Findings:
        async with client:
            return await probe_model(
                client,
                model,
                questions,
                max_tokens=default_of("max_tokens"),
                min_coverage=default_of("min_coverage"),
                options=options,
            )

    asked_at = endpoint.base_url, endpoint.api_version
    try:
        findings = ask_within_patience(ask(), endpoint.base_url, seconds=PROBE_PATIENCE_SECONDS)
    except EndpointError as error:
        raise add_suggestion(endpoint, model, error) from error
    keep_listed_models(endpoint, models_listed_by(endpoint))
    with transaction.atomic():
        # Locked until the findings are stored, as the endpoint may be changed to another server,
        # about which they say nothing.
        now = Endpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
        if now and (now.base_url, now.api_version) == asked_at:
            defaults = {"findings": findings.as_json(), "probed_at": timezone.now()}
            ModelProbe.objects.update_or_create(
                endpoint=endpoint,
                model=model,
                request_options=dict(options or {}),
                defaults=defaults,
            )
    return findings


def puts_tags(kind: str, settings: Mapping[str, Any]) -> bool | None:
    """Whether an evaluator with these settings puts texts between tags; None if that does not
    apply."""
    evaluator = find_evaluator(kind)
    if evaluator is None or not issubclass(evaluator.Settings, PromptSettings):
        return None
    return bool(settings.get("delimited", False))


def _judges_put_tags(endpoint: Endpoint, model: str) -> bool:
    judges = endpoint.judges.filter(model=model, retired_at=None).values_list("kind", "settings")
    habits = {puts_tags(kind, settings) for kind, settings in judges} - {None}
    return habits != {False}


def sample_questions(project: Project, *, is_delimited: bool) -> list[JudgeQuestion]:
    """Return questions about the project's first outputs on its first criterion, with evaluation
    steps if there are any; an example question if the project has no outputs or criteria."""
    return _first_questions(project, is_delimited) or [example_question(is_delimited=is_delimited)]


def _first_questions(project: Project, is_delimited: bool) -> list[JudgeQuestion]:
    criterion = project.criteria.first()
    if criterion is None:
        return []
    steps = criterion.newest_steps
    try:
        template = compose_template(
            prompt_parts(criterion), steps=steps.text if steps else None, is_delimited=is_delimited
        )
    except PromptError:
        return []
    outputs = CandidateOutput.objects.of_project(project).select_related("document", "system")
    questions = (
        question_on(template, output.texts(), criterion.name, criterion.scale)
        for output in outputs[:REAL_PROMPTS]
    )
    return [question for question in questions if isinstance(question, JudgeQuestion)]


def example_question(*, is_delimited: bool = True) -> JudgeQuestion:
    """Return a realistic question about built-in texts."""
    preset = presets()[0]
    parts = PromptParts(
        criterion=preset.name,
        scale=preset.scale,
        definition=preset.definition,
        introduction=preset.introduction,
        inputs=preset.inputs,
    )
    template = compose_template(parts, steps=None, is_delimited=is_delimited)
    question = question_on(template, _EXAMPLE, preset.name, preset.scale)
    assert isinstance(question, JudgeQuestion)
    return question
