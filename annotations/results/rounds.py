"""Test-retest reliability: how consistently a person answers the same questions about the same
outputs in two campaigns (rounds)."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from annotations.models import Annotator, Assignment, AssignmentState, ItemKind
from evaluations.models.improving import withheld_documents
from geval.files.answers.pairs import answer_values
from geval.statistics.arrays import Outputs
from geval.statistics.types import Estimate
from geval.statistics.weighted_kappa import weighted_kappa


@dataclass(frozen=True)
class Retest:
    """A person's repeated answers: `answers` pairs of a question's two newest answers, of which
    `same` are equal; `kappa` is Cohen's with quadratic weights."""

    answers: int
    same: int
    kappa: Estimate

    @property
    def share(self) -> float:
        return self.same / self.answers


def retest(annotator: Annotator) -> Retest | None:
    """Return the test-retest reliability; None if the person answered nothing twice."""
    hidden = withheld_documents(annotator.project_id)
    rows = (
        Assignment.objects.filter(
            annotator=annotator,
            state=AssignmentState.SUBMITTED,
            item__kind=ItemKind.ORDINARY,
            answer__isnull=False,
        )
        .exclude(item__document__in=hidden)
        .order_by("submitted_at", "pk")
    )
    scores: dict[tuple[tuple[int, ...], str], list[float]] = defaultdict(list)
    for row in rows:
        outputs = tuple(sorted(row.shown))
        for name, value in answer_values(row.answer or {}, row.shown).items():
            scores[outputs, name].append(value)
    twice = np.array([answers[-2:] for answers in scores.values() if len(answers) > 1])
    if not len(twice):
        return None
    first, second = twice.T
    same = int((first == second).sum())
    kappa = weighted_kappa(Outputs.full(len(twice), 1), first, second)
    return Retest(len(twice), same, kappa.estimate)
