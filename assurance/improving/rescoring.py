"""Rescore stored replies in another way where no call is needed: the first of several samples, or
the rating of a reply with known probabilities."""

from collections.abc import Sequence
from dataclasses import replace

from evaluations.judging.runs.results import answer_from
from evaluations.models import ItemState, Judge, RunItem
from geval.llm.calls import Answer
from geval.llm.judgement import JudgeQuestion, readable_choices, score_choices
from geval.llm.request_settings import RequestSettings
from geval.llm.run_parameters import RunParameters
from geval.llm.scoring import Scored


def scored_again(
    judge: Judge,
    template: str,
    outputs: Sequence[int],
    question: JudgeQuestion,
    settings: RequestSettings,
) -> dict[int, float]:
    """Return scores of outputs, by id, as far as replies of the judge's runs with this prompt
    provide them.

    Args:
        question: the form of a rating; its prompt is ignored.
        settings: how to score.
    """
    if settings.mode == "logprobs":
        return {}
    rows = (
        RunItem.objects.filter(
            run__judge=judge,
            run__purpose="",
            criterion__name=question.criterion,
            run__run_criteria__template=template,
            output__in=outputs,
            state=ItemState.DONE,
            reply__isnull=False,
        )
        .select_related("reply", "run")
        .order_by("pk")
    )
    scored_again: dict[int, float] = {}
    for row in rows:
        made = row.run.frozen
        if row.output_id in scored_again or row.reply is None or not _would_be_same(made, settings):
            continue
        answer = answer_from(row.reply)
        scored = score_choices([_first(answer, question, settings)], question, settings)
        if isinstance(scored, Scored):
            scored_again[row.output_id] = scored.value
    return scored_again


def _would_be_same(made: RunParameters, settings: RequestSettings) -> bool:
    """Whether a run's replies are equivalent to those that would be requested."""
    if made.temperature != settings.temperature or made.max_tokens != settings.max_tokens:
        return False
    if settings.mode == "samples":
        return made.mode == "samples" and made.samples >= settings.samples
    # Without sampling, a reply does not depend on whether probabilities are requested with it.
    return made.mode in ("logprobs", "direct") and settings.temperature == 0


def _first(answer: Answer, question: JudgeQuestion, settings: RequestSettings) -> Answer:
    return replace(answer, choices=readable_choices([answer], question, settings))
