"""Agreement on "n/a", the answer of people and judges that a criterion does not apply or that they
cannot assess it. It counts in no figure and stands beside them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.types import IntArray
from geval.texts.numbers import counted
from geval.texts.subjects import CriterionLike, JudgeLike


@dataclass(frozen=True)
class NotApplicable:
    """On how many outputs people, a judge, and both said that a criterion does not apply, or that
    they cannot assess it; these count in no figure."""

    criterion: str
    judge: str
    people: int
    by_judge: int
    both: int

    def __str__(self) -> str:
        either = self.people + self.by_judge - self.both
        return (
            f"not applicable: people on {counted(self.people, 'output')}, {self.judge} on"
            f" {self.by_judge}, both on {self.both} of {either}"
        )


@dataclass(frozen=True)
class NotApplicableToPeople:
    """Of the outputs that two or more people rated, on how many any and all of them said so."""

    criterion: str
    by_any: int
    by_all: int

    def __str__(self) -> str:
        return (
            "not applicable: where several people rated, at least one on"
            f" {counted(self.by_any, 'output')}, all on {self.by_all} of {self.by_any}"
        )


def agreement_of_people(
    data: ReportData, criteria: Sequence[CriterionLike]
) -> Iterator[NotApplicableToPeople]:
    """Yield how far people agree on it, where anybody said so of an output that another rated."""
    for criterion in _rated(data, criteria):
        skipped, human = _by_people(data, criterion), data.humans[criterion.pk]
        answers = human.ratings.count + skipped
        shared = (answers > 1) & (skipped > 0)
        if shared.any():
            by_all = int((shared & (skipped == answers)).sum())
            yield NotApplicableToPeople(criterion.name, int(shared.sum()), by_all)


def agreement_of_judges(
    data: ReportData, criteria: Sequence[CriterionLike], judges: Sequence[JudgeLike]
) -> Iterator[NotApplicable]:
    """Yield the agreement of each judge with people on it, where either said so."""
    for criterion, judge in itertools.product(_rated(data, criteria), judges):
        key = criterion.pk, judge.pk
        if key in data.judges or key in data.not_applicable:
            people = _by_people(data, criterion) > 0
            own = data.not_applicable.get(key, np.zeros(len(people), dtype=bool))
            if own.any() or people.any():
                counts = (int(mask.sum()) for mask in (people, own, own & people))
                yield NotApplicable(criterion.name, judge.label, *counts)


def _rated(data: ReportData, criteria: Sequence[CriterionLike]) -> list[CriterionLike]:
    """Return the criteria that are answered: rubrics are computed from them."""
    rubrics = {rubric.pk for rubric in data.rubrics}
    return [criterion for criterion in criteria if criterion.pk not in rubrics]


def _by_people(data: ReportData, criterion: CriterionLike) -> IntArray:
    answers = data.humans[criterion.pk].not_applicable
    return np.zeros(len(data.outputs), dtype=np.int64) if answers is None else answers
