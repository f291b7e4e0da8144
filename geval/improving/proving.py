"""Test a change on the locked documents."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from geval.evaluators.formula import CriterionFormula
from geval.improving.changes import Measure
from geval.improving.ground import Ground, ImproveError
from geval.statistics.calibration import nearest_to_all
from geval.statistics.held_out_test import (
    AgainstConstant,
    Proof,
    confidence_of,
    gain_in_balance,
    gain_in_distance,
    gain_in_kappa,
    gain_in_rank,
)
from geval.statistics.labels import label_numbers
from geval.statistics.same_documents import Ranked
from geval.statistics.types import FloatArray


@dataclass(frozen=True)
class LookResult:
    """The result of a look, as stored in a site's row and a lock's file.

    `value` and `today` are the values of the candidate and of today's judge. `ranked` has the
    numbers of documents in which people (`documents`), the candidate and today's judge (`today`)
    rank outputs, None where distances are compared; then `constant` has the best constant's
    `value`, its `distance` from people and by how much the candidate is closer: `gain`, `low`,
    `high`.
    """

    measure: str
    outcome: str
    documents: int
    value: float | None
    today: float | None
    gain: float | None
    low: float | None
    high: float | None
    confidence: float
    reason: str
    ranked: dict[str, int] | None
    constant: dict[str, float | None] | None

    @classmethod
    def of(cls, proof: Proof, measure: str) -> Self:
        low, high = proof.interval.ends or (None, None)
        return cls(
            measure=measure,
            outcome=proof.outcome.value,
            documents=proof.documents,
            value=proof.candidate.value,
            today=proof.today.value,
            gain=proof.gain.value,
            low=low,
            high=high,
            confidence=proof.confidence,
            reason=proof.gain.reason or proof.interval.reason,
            ranked=None if proof.ranked is None else _ranked(proof.ranked),
            constant=None if proof.constant is None else _constant(proof.constant),
        )

    def columns(self) -> dict[str, Any]:
        """Return the values for a site's row, without the measure, which the row has from its
        candidate."""
        return {name: value for name, value in vars(self).items() if name != "measure"}


def proof_of(ground: Ground, measure: str, own: FloatArray, *, looks: int) -> Proof:
    """Compare a candidate with today's judge on the locked documents, with the outputs' weights.

    Args:
        own: the candidate's values, shape (outputs,).
        looks: the number of allowed looks, which share the error.
    """
    outputs = ground.outputs.weighted(ground.weight)
    is_locked = np.isin(outputs.document, ground.locked)
    both = (own, ground.today)
    human, own, today = (side[is_locked] for side in (ground.human, *both))
    outputs, confidence = outputs.part(is_locked), confidence_of(looks, 1)
    if measure == Measure.BALANCE:
        passing, passed = (ground.passing(side)[is_locked] for side in both)
        verdicts = (passing, passed)
        return gain_in_balance(
            outputs, human, (own, today), verdicts, ground.middle, confidence=confidence
        )
    if measure == Measure.KAPPA:
        scale = ground.criterion.scale
        human, own, today = (label_numbers(side, scale) for side in (human, own, today))
        return gain_in_kappa(outputs, human, own, today, len(scale.points), confidence=confidence)
    if measure == Measure.RANK:
        return gain_in_rank(outputs, human, own, today, confidence=confidence)
    _, (ratings, scores) = ground.on(ground.training, ground.human, ground.today)
    constant = nearest_to_all(ratings[~np.isnan(ratings + scores)])
    return gain_in_distance(outputs, human, own, today, confidence=confidence, constant=constant)


def values_of(ground: Ground, formula: CriterionFormula) -> FloatArray:
    """Return a formula's value for each output; shape (outputs,), NaN where a member gave no score.

    Raises:
        ImproveError: a member's scores no longer exist.
    """
    by_name = {(arm.judge.name, arm.criterion): arm.scores for arm in ground.arms}
    by_name.setdefault((ground.judge.name, ground.criterion.name), ground.today)
    missing = [m.judge for m in formula.members if (m.judge, m.criterion) not in by_name]
    if missing:
        raise ImproveError(f"{missing[0]} no longer has the scores that this change needs.")
    scores = np.stack([by_name[m.judge, m.criterion] for m in formula.members])
    value: FloatArray = formula.of(scores)
    return value


def all_looks_used(looks: int) -> str:
    """Return the error that all looks are used."""
    used = f"All {looks} looks at the locked documents are used"
    if looks == 1:
        used = "The only look at the locked documents is used"
    return (
        f"{used}. With more, chance would prove gains. Have other documents rated, and lock these."
    )


def _ranked(ranked: Ranked) -> dict[str, int]:
    return {"documents": ranked.documents, "candidate": ranked.first, "today": ranked.second}


def _constant(beside: AgainstConstant) -> dict[str, float | None]:
    low, high = beside.interval.ends or (None, None)
    return {
        "value": beside.value,
        "distance": beside.distance,
        "gain": beside.gain,
        "low": low,
        "high": high,
    }
