"""The findings of a drift watch: the reported model, scores, and agreement with people."""

from collections.abc import Sequence

import numpy as np
import structlog
from django.utils import timezone

from evaluations.models import Study, StudyItem, StudyPart, WebhookEvent
from evaluations.people.webhooks.announcing import announce
from geval.statistics.drift import DriftEvidence, drift
from geval.statistics.types import FloatArray
from geval.texts.numbers import signed

log = structlog.stdlib.get_logger(__name__)

# Maximum number of parts; an imported item may name any number.
MOST_PARTS = 10_000


def table_of(items: Sequence[StudyItem]) -> FloatArray:
    """Return the scores of a study; shape (items, parts), NaN if missing.

    Imported items may hold fewer scores than the others; the rest are missing too.
    """
    parts = min(MOST_PARTS, max((len(item.scores) for item in items), default=0))
    rows = [[*item.scores[:parts], *[None] * (parts - len(item.scores))] for item in items]
    return np.array(rows, dtype=float).reshape(len(items), parts)


def ratings_of(items: Sequence[StudyItem]) -> FloatArray:
    """Return people's mean rating of each item; shape (items,), NaN for unrated."""
    return np.array([np.nan if item.rating is None else item.rating for item in items])


def evidence_of(study: Study, items: Sequence[StudyItem]) -> DriftEvidence:
    """Return the evidence of drift after each asking since the freeze."""
    scores = table_of(items)
    return drift(scores[:, : study.replies], scores[:, study.replies :], ratings_of(items))


def note_drift(study: Study, part: StudyPart, items: Sequence[StudyItem]) -> None:
    """Record a watch's evidence after a part; drift is logged and announced once."""
    if part.number <= study.replies:
        study.model = study.model or part.model
        return
    evidence = evidence_of(study, items)
    if not len(evidence.scores):
        return  # no item has a score after the freeze
    part.scores_evidence = float(evidence.scores[-1])
    part.agreement_evidence = float(evidence.agreement[-1])
    if study.drifted_at is not None or not study.is_on:
        return
    reasons = _reasons(study, part, evidence, items)
    if not reasons:
        return
    study.drifted_at, study.drift = timezone.now(), " ".join(reasons)[:500]
    about = {
        "project": study.project.slug,
        "judge": study.judge.label,
        "criterion": study.criterion.name,
        "watch": study.pk,
    }
    log.warning("judge drifted", **about, asking=part.number - study.replies)
    announce(
        study.project_id,
        WebhookEvent.JUDGE_DRIFTED,
        about | {"drift": study.drift},
        subject=study.pk,
    )


def _reasons(
    study: Study, part: StudyPart, drift: DriftEvidence, items: Sequence[StudyItem]
) -> list[str]:
    """Return sentences that say what has drifted."""
    reasons = []
    if part.model and study.model and part.model != study.model:
        reasons.append(f"The endpoint answers as {part.model}, no longer as {study.model}.")
    if drift.scores_at is not None:
        reasons.append(f"Scores of the sentinels have changed{_by_how_much(study, items)}.")
    if drift.agreement_at is not None:
        reasons.append("Scores of the sentinels have moved away from people's ratings.")
    return reasons


def _by_how_much(study: Study, items: Sequence[StudyItem]) -> str:
    moved = shift(study, items)
    return "" if moved is None else f": their mean by {signed(moved)} points in the last asking"


def shift(study: Study, items: Sequence[StudyItem]) -> float | None:
    """Return the difference between the mean of the last asking and the frozen mean, over items
    with both."""
    scores = table_of(items)
    if scores.shape[1] <= study.replies:
        return None
    has_both = ~np.isnan(scores[:, : study.replies]).all(axis=1) & ~np.isnan(scores[:, -1])
    if not has_both.any():
        return None
    frozen = np.nanmean(scores[has_both, : study.replies], axis=1)
    return float((scores[has_both, -1] - frozen).mean())
