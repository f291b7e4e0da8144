"""A judge's studies, for pages, the API and the command."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from assurance.instrument.drifting import ratings_of, shift, table_of
from assurance.instrument.sensitivity import finding_json, sensitivity_of
from assurance.instrument.studies import parts_of
from evaluations.models import Judge, Study, StudyItem, StudyKind, StudyPart
from evaluations.models.improving import withheld_documents
from geval.statistics.thresholds import SIGNIFICANCE

# Two weeks of a daily watch.
SHOWN_ASKINGS = 14


@dataclass(frozen=True)
class AskingAgain:
    """One asking of a watch after the freeze; `mean` is the mean of the sentinels' scores."""

    number: int
    at: datetime | None
    model: str
    scored: int
    mean: float | None
    scores_evidence: float | None
    agreement_evidence: float | None


@dataclass(frozen=True)
class ShownStudy:
    """A study with its progress; `parts` of `planned` are recorded.

    For a watch: `askings` since the freeze, newest first, `moved` (the change of the mean, in
    points), and the `bound` above which evidence counts as drift. `waits_for` says why a run is
    waiting.
    """

    study: Study
    items: Sequence[StudyItem]
    parts: int
    planned: int
    waits_for: str
    run: int | None
    rated: int = 0
    askings: tuple[AskingAgain, ...] = ()
    moved: float | None = None
    bound: float = 1 / SIGNIFICANCE
    agreement_shown: bool = True

    @property
    def is_frozen(self) -> bool:
        """Whether a watch has all the scores that later ones are compared with."""
        return self.parts >= self.study.replies

    @property
    def is_done(self) -> bool:
        """Whether a study with a fixed number of parts has recorded all of them."""
        return not self.is_watch and self.parts >= self.planned

    @property
    def state(self) -> str:
        """The state in a few words."""
        study = self.study
        if study.kind == StudyKind.DRIFT and study.drifted_at is not None:
            return "drifted"
        if not study.is_on:
            return "done" if self.is_done else "stopped"
        if self.parts < self.planned:
            return f"asking, {self.parts} of {self.planned} done"
        return "no drift found" if self.askings else "frozen"

    @property
    def in_words(self) -> str:
        """The state of a watch in a sentence."""
        study = self.study
        if study.drifted_at is not None:
            return "It has drifted: its scores are no longer what they were."
        if not self.is_frozen:
            sentence = (
                f"{self.parts} of {study.replies} first askings are done; nothing can be compared"
                " yet"
            )
        elif not self.askings:
            sentence = (
                "Its scores are frozen; the next asking is the first that is compared with them"
            )
        else:
            count = "the last asking" if len(self.askings) == 1 else "the askings below"
            sentence = (
                f"No drift: {count} gave scores like the frozen ones. The strongest evidence is"
                f" {self.strongest:.2f}, of the {self.bound:g} that would be drift"
            )
        return f"{sentence}." if study.is_on else f"Stopped. {sentence}."

    @property
    def strongest(self) -> float:
        """The strongest evidence of the displayed askings."""
        sizes = [
            evidence
            for asking in self.askings
            for evidence in (asking.scores_evidence, asking.agreement_evidence)
            if evidence is not None
        ]
        return max(sizes, default=0.0)

    @property
    def is_asking(self) -> bool:
        """Whether workers are asking now, so that the numbers change; a watch pauses between
        askings."""
        return self.study.is_on and (self.run is not None or self.parts < self.planned)

    @property
    def is_watch(self) -> bool:
        return self.study.kind == StudyKind.DRIFT


def shown(study: Study) -> ShownStudy:
    """Return a study for display."""
    parts = list(study.parts.select_related("run"))
    recorded = [part for part in parts if part.recorded_at is not None]
    items = list(study.items.all())
    open_part = next((part for part in parts if part.recorded_at is None), None)
    study_shown = ShownStudy(
        study,
        items,
        parts=len(recorded),
        planned=parts_of(study) or study.replies,
        waits_for=open_part.waits_for if open_part else "",
        run=open_part.run_id if open_part else None,
    )
    if study.kind != StudyKind.DRIFT:
        return study_shown
    rated = int((~np.isnan(ratings_of(items))).sum())
    hidden = withheld_documents(study.project_id)
    may_show = not study.items.filter(output__document__in=hidden, rating__isnull=False).exists()
    return replace(
        study_shown,
        rated=rated,
        askings=_askings(study, recorded, items, rated=bool(rated) and may_show),
        moved=shift(study, items),
        bound=(2 if rated else 1) / SIGNIFICANCE,
        agreement_shown=may_show,
    )


def _askings(
    study: Study, recorded: Sequence[StudyPart], items: Sequence[StudyItem], *, rated: bool
) -> tuple[AskingAgain, ...]:
    scores = table_of(items)
    if not len(scores):
        return ()  # all of its outputs were removed
    askings = []
    for part in recorded[study.replies :][-SHOWN_ASKINGS:]:
        column = scores[:, part.number - 1]
        values = column[~np.isnan(column)]
        askings.append(
            AskingAgain(
                number=part.number - study.replies,
                at=part.recorded_at,
                model=part.model,
                scored=len(values),
                mean=float(values.mean()) if len(values) else None,
                scores_evidence=part.scores_evidence,
                agreement_evidence=part.agreement_evidence if rated else None,
            )
        )
    return tuple(reversed(askings))


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
        "items": len(shown_study.items),
        "replies": study.replies,
        "parts": shown_study.parts,
        "model": study.model,
        "made_at": study.made_at,
    }
    if shown_study.is_watch:
        content |= {
            "every_hours": study.every_hours,
            "rated_items": shown_study.rated,
            "next_at": study.next_at if study.is_on else None,
            "drifted_at": study.drifted_at,
            "drift": study.drift,
            "moved": shown_study.moved,
            "bound": shown_study.bound,
            "askings": [vars(asking) for asking in shown_study.askings],
        }
    if study.kind == StudyKind.PROBES and shown_study.is_done:
        sensitivity = sensitivity_of(study)
        content["findings"] = [finding_json(finding) for finding in sensitivity.findings]
        if sensitivity.sample:
            content["what_numbers_speak_of"] = list(sensitivity.sample)
    return content
