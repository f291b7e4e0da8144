"""Judges are made here, for pages and commands alike."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from evaluations.judging.scoring import why_not_by_logprobs
from evaluations.models import Endpoint, Judge, JudgeKind, Project, ScoringMode


@dataclass(frozen=True)
class JudgeDraft:
    """What a G-Eval judge is made of. `temperature` None takes what suits the mode: 1 for samples, 0 else."""

    name: str
    base_url: str
    model: str
    mode: str
    samples: int = 20
    temperature: float | None = None
    key_env: str = ""
    use_steps: bool = True
    concurrency: int = 16


@transaction.atomic
def create_judge(project: Project, draft: JudgeDraft) -> tuple[Judge, bool]:
    """Make a G-Eval judge; the same draft again gives the judge that is there, and False.

    Raises:
        ValidationError: a setting is wrong, the name is taken by another judge, or the mode does not fit a criterion.
    """
    temperature = draft.temperature
    if temperature is None:
        temperature = 1.0 if draft.mode == ScoringMode.SAMPLES else 0.0
    if draft.mode == ScoringMode.SAMPLES and temperature == 0 and draft.samples > 1:
        raise ValidationError({"temperature": "At temperature 0 all samples are the same; use 1, or mode direct."})
    if draft.mode == ScoringMode.LOGPROBS:
        for criterion in project.criteria.all():
            reason = why_not_by_logprobs(criterion.scale)
            if reason:
                raise ValidationError({"mode": f"{criterion.name}: {reason}"})
    endpoint = Endpoint(project=project, base_url=draft.base_url.rstrip("/"), key_env=draft.key_env)
    endpoint.full_clean(validate_unique=False, validate_constraints=False)
    endpoint, _ = Endpoint.objects.get_or_create(project=project, base_url=endpoint.base_url, key_env=endpoint.key_env)
    judge = Judge(
        project=project,
        name=draft.name.strip(),
        kind=JudgeKind.GEVAL,
        endpoint=endpoint,
        model=draft.model.strip(),
        mode=draft.mode,
        samples=draft.samples,
        temperature=temperature,
        use_steps=draft.use_steps,
        concurrency=draft.concurrency,
    )
    judge.full_clean(validate_unique=False, validate_constraints=False)
    for field in ("model", "mode"):
        if not getattr(judge, field):
            raise ValidationError({field: "This field is required."})
    there = Judge.objects.filter(project=project, name=judge.name).first()
    if there is None:
        judge.save()
        return judge, True
    different = [field for field in _SETTINGS if getattr(there, field) != getattr(judge, field)]
    if different:
        listed = ", ".join(different)
        raise ValidationError({"name": f"There is a judge {judge.name!r} with another {listed}; choose another name."})
    return there, False


_SETTINGS = ("kind", "endpoint_id", "model", "mode", "samples", "temperature", "use_steps", "concurrency")
