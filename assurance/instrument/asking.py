"""The schedule of studies: start the run of a part that is due, and record a run that has ended.

Workers poll for both (`upkeep.py`), so a study continues as long as any worker lives. Row locks
ensure that each part is asked once, however many workers poll.
"""

from collections import Counter
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assurance.instrument.studies import PARTS, criteria_asked, first_run_of, parts_of
from evaluations.judging.runs.lifecycle import RunError, current_prompt, evaluator_for
from evaluations.judging.runs.starting import RunRequest, StudyRequest, start_run
from evaluations.models import (
    Judge,
    RunItem,
    RunState,
    Score,
    ScoringMode,
    Study,
    StudyKind,
    StudyPart,
)
from evaluations.models.changes import note_change
from evaluations.models.row_by_row import for_each
from geval.llm.prompts import PromptError

PROMPT_CHANGED = (
    "The criterion's prompt is no longer the one that was asked first, so scores cannot be"
    " compared. Start again with the new prompt."
)
# How long a study waits if it could not start its run.
TRY_AGAIN = timedelta(hours=1)


def record_ended_parts() -> None:
    """Record the parts of studies whose runs have ended."""
    ended = Q(run=None) | Q(run__state__in=(RunState.DONE, RunState.CANCELLED))
    parts = StudyPart.objects.filter(ended, recorded_at=None, study__kind__in=StudyKind.values)
    for_each(parts.values_list("study", flat=True), record_part, job="record studies")


def start_due_parts() -> None:
    """Start the parts of studies that are due."""
    for_each(Study.objects.due().values_list("pk", flat=True), start_part, job="ask studies")


@transaction.atomic
def start_part(study_id: int) -> StudyPart | None:
    """Start the next run of a study; None if it is not due, or cannot run now."""
    # A study that another worker is starting is skipped, not started twice.
    due = Study.objects.due().select_for_update(of=("self",), skip_locked=True)
    study = (
        due.select_related("judge__endpoint", "judge__project", "criterion")
        .filter(pk=study_id)
        .first()
    )
    if study is None:
        return None
    number = study.parts.count() + 1
    names = PARTS.get(StudyKind(study.kind), ())
    name = names[number - 1] if names else ""
    try:
        if _prompt_has_changed(study):
            study.is_on, study.message = False, PROMPT_CHANGED
            study.save(update_fields=["is_on", "message"])
            return None
        with transaction.atomic():
            run = start_run(
                study.judge,
                criteria_asked(study.judge, study.criterion, study),
                RunRequest(budget=study.budget, study=_study_request(study, name)),
            )
    except (RunError, PromptError) as error:
        # Retry later, and show the reason meanwhile.
        study.message, study.next_at = str(error)[:500], timezone.now() + TRY_AGAIN
        study.save(update_fields=["message", "next_at"])
        return None
    if study.message:
        Study.objects.filter(pk=study.pk).update(message="")
    return StudyPart.objects.create(study=study, number=number, name=name, run=run)


def _study_request(study: Study, name: str) -> StudyRequest:
    """Return the study request for the run of a study's part."""
    return StudyRequest(
        purpose=study.kind,
        outputs=list(study.items.values_list("output", flat=True)),
        perturbed=name,
        changes=_changes(study, study.judge),
    )


def _changes(study: Study, judge: Judge) -> dict[str, int]:
    """Return the settings that differ from the judge's: if replies are sampled, a repetition asks
    for one."""
    alone = study.kind == StudyKind.AGAIN and judge.mode == ScoringMode.SAMPLES
    return {"samples": 1} if alone else {}


def _prompt_has_changed(study: Study) -> bool:
    if not study.prompt:
        return False
    judge, evaluator = study.judge, evaluator_for(study.judge)
    asked_first = {study.criterion: study.prompt}
    run = first_run_of(study) if evaluator.asks_together else None
    if run is not None:
        # Compare the other criteria in the same requests too.
        asked_first |= {
            entry.criterion: entry.template
            for entry in run.run_criteria.select_related("criterion")
        }
    return any(
        current_prompt(evaluator, criterion, use_steps=judge.use_steps)[1] != prompt
        for criterion, prompt in asked_first.items()
    )


@transaction.atomic
def record_part(study_id: int) -> bool:
    """Store the scores of a study's ended run, and evaluate them; return False if there are
    none."""
    # A study whose scores another worker is recording is skipped, not recorded twice.
    study = Study.objects.select_for_update(skip_locked=True).filter(pk=study_id).first()
    part = study.parts.filter(recorded_at=None).select_related("run").first() if study else None
    if study is None or part is None:
        return False
    run = part.run
    if run is not None and run.state not in (RunState.DONE, RunState.CANCELLED):
        return False
    scores = Score.objects.filter(run=run, criterion=study.criterion_id) if run else ()
    values = {score.output_id: score.value for score in scores}
    items = list(study.items.all())
    for item in items:
        item.scores = [*item.scores, values.get(item.output_id)]
    study.items.bulk_update(items, ["scores"])
    if run is not None:
        part.model = _answered_as(run.pk)
        if not study.prompt:
            entry = run.run_criteria.filter(criterion=study.criterion_id).first()
            study.prompt = entry.template if entry else ""
    part.recorded_at = timezone.now()
    study.is_on = study.is_on and part.number < parts_of(study)
    study.model = study.model or part.model
    part.save()
    study.save()
    if study.kind == StudyKind.PROBES and not study.is_on:
        # Reports show the effect of an instruction in the output.
        note_change(study.project_id, [study.criterion_id], judge=study.judge_id)
    return True


def _answered_as(run_id: int) -> str:
    """Return the model that most replies of a run report."""
    named = RunItem.objects.filter(run=run_id, reply__isnull=False).values_list(
        "reply__model", flat=True
    )
    counts = Counter(named)
    return max(counts, key=lambda name: (counts[name], name)) if counts else ""
