"""Looking at the locked documents: once for each candidate, counted, and paid for by wider
intervals."""

from typing import Any

import numpy as np
from django.db import transaction

from evaluations.evaluators.formula import CriterionFormula
from evaluations.improving.arms import Ground, ImproveError, ground_of
from evaluations.improving.locking import locked_of
from evaluations.improving.search import check_size
from evaluations.models import Candidate, LockedDocuments, Look
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.proof import Proof, confidence_of, gain_in_distance, gain_in_rank

NOT_LOCKED = "No documents are locked; lock some before you search."
OPENED = "The documents were unlocked on {}, so nothing can be proven on them any more."


def usable_lock(project: Any) -> LockedDocuments:
    """A project's locked documents.

    Raises:
        ImproveError: there are none, or they were unlocked.
    """
    locked = locked_of(project)
    if locked is None:
        raise ImproveError(NOT_LOCKED)
    if locked.unlocked_at is not None:
        raise ImproveError(OPENED.format(f"{locked.unlocked_at:%Y-%m-%d}"))
    return locked


def look(candidate: Candidate, *, by: Any = None) -> Look:
    """Test a candidate on the locked documents against today's judge; a second time gives the first
    look.

    Raises:
        ImproveError: all looks are used, the documents were unlocked, or scores are missing.
    """
    project = candidate.search.project
    with transaction.atomic():
        usable_lock(project)
        # Two people at once do not take the last look twice.
        locked = LockedDocuments.objects.select_for_update().get(project=project)
        before = Look.objects.filter(candidate=candidate).first()
        if before is not None:
            return before
        if locked.looks.count() >= locked.looks_allowed:
            raise ImproveError(
                f"All {locked.looks_allowed} looks at the locked documents are used. More would"
                " prove too much by chance."
            )
        ground = ground_of(project, candidate.search.judge, candidate.search.criterion, locked)
        check_size(ground)
        proof = proof_of(ground, candidate, looks=locked.looks_allowed)
        return Look.objects.create(
            locked=locked, candidate=candidate, looked_by=by, **_columns(proof)
        )


def proof_of(ground: Ground, candidate: Candidate, *, looks: int) -> Proof:
    """What the locked documents say of a candidate.

    Raises:
        ImproveError: a member's scores are missing.
    """
    formula = CriterionFormula.model_validate(candidate.formula)
    outputs, (human, today, own) = ground.on(
        ground.locked, ground.human, ground.today, values_of(ground, formula)
    )
    compare = gain_in_distance if candidate.measure == Candidate.Measure.DISTANCE else gain_in_rank
    return compare(outputs, human, own, today, confidence=confidence_of(looks, 1))


def values_of(ground: Ground, formula: CriterionFormula) -> FloatArray:
    """A formula's value of each output; shape (outputs,), NaN where a member gave no score."""
    known = {(arm.judge.name, arm.criterion): arm.scores for arm in ground.arms}
    known.setdefault((ground.judge.name, ground.criterion.name), ground.today)
    missing = [m.judge for m in formula.members if (m.judge, m.criterion) not in known]
    if missing:
        raise ImproveError(f"{missing[0]} no longer has the scores that this change needs.")
    scores = np.stack([known[m.judge, m.criterion] for m in formula.members])
    value: FloatArray = formula.of(scores)
    return value


def _columns(proof: Proof) -> dict[str, Any]:
    low, high = proof.interval.ends or (None, None)
    return {
        "outcome": proof.outcome.value,
        "documents": proof.documents,
        "value": proof.candidate.value,
        "today": proof.today.value,
        "gain": proof.gain.value,
        "low": low,
        "high": high,
        "confidence": proof.confidence,
        "reason": proof.gain.reason or proof.interval.reason,
    }
