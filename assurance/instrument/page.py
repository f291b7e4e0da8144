"""A judge's studies, for pages and the API."""

from dataclasses import dataclass
from typing import Any

from assurance.instrument.sensitivity import finding_json, sensitivity_of
from assurance.instrument.studies import parts_of
from evaluations.models import Judge, Study, StudyKind


@dataclass(frozen=True)
class ShownStudy:
    """A study with its progress; `parts` of `planned` are recorded.

    `waits_for` says why a run is waiting.
    """

    study: Study
    items: int
    parts: int
    planned: int
    waits_for: str
    run: int | None

    @property
    def is_done(self) -> bool:
        """Whether all parts are recorded."""
        return self.parts >= self.planned

    @property
    def state(self) -> str:
        """The state in a few words."""
        if self.study.is_on:
            return f"asking, {self.parts} of {self.planned} done"
        return "done" if self.is_done else "stopped"


def shown(study: Study) -> ShownStudy:
    """Return a study for display."""
    parts = list(study.parts.select_related("run"))
    recorded = sum(part.recorded_at is not None for part in parts)
    open_part = next((part for part in parts if part.recorded_at is None), None)
    return ShownStudy(
        study,
        study.items.count(),
        parts=recorded,
        planned=parts_of(study),
        waits_for=open_part.waits_for if open_part else "",
        run=open_part.run_id if open_part else None,
    )


def studies_of(judge: Judge, kind: str) -> list[ShownStudy]:
    """Return the active studies of a kind, and the last study of each criterion."""
    studies, seen = [], set()
    for study in judge.studies.filter(kind=kind).select_related("criterion", "judge", "project"):
        if study.is_on or study.criterion_id not in seen:
            studies.append(shown(study))
        seen.add(study.criterion_id)
    return studies


def study_json(shown_study: ShownStudy) -> dict[str, Any]:
    """Return a study as JSON; its findings depend on its kind."""
    study = shown_study.study
    content: dict[str, Any] = {
        "id": study.pk,
        "kind": study.kind,
        "judge": study.judge_id,
        "criterion": study.criterion.name,
        "state": shown_study.state,
        "is_on": study.is_on,
        "message": study.message or shown_study.waits_for,
        "items": shown_study.items,
        "replies": study.replies,
        "parts": shown_study.parts,
        "model": study.model,
        "made_at": study.made_at,
    }
    if study.kind == StudyKind.PROBES and shown_study.is_done:
        sensitivity = sensitivity_of(study)
        content["findings"] = [finding_json(finding) for finding in sensitivity.findings]
        if sensitivity.sample:
            content["what_numbers_speak_of"] = list(sensitivity.sample)
    return content
