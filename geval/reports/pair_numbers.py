"""The numbers of the page that compares two judges: their scores, who agrees with people, and the
outputs on which only one does."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.gap_view import first_of
from geval.reports.gaps import judges_on
from geval.reports.pair_on_criterion import PairOnCriterion, pair_on_criterion
from geval.reports.pair_view import PairView
from geval.reports.pairs import Pair, pair_on
from geval.statistics.types import IntArray
from geval.texts.subjects import CriterionLike

# How many outputs of a large project are listed per judge.
MOST_LISTED = 2_000


@dataclass(frozen=True, eq=False)
class PairNumbers:
    """The page's numbers for two judges (0 where there is none), next to the report's tests.

    `judges` are those that rank rated outputs; `outputs` and `documents` count those that both
    scored and people rated, on any criterion.
    """

    first: int
    second: int
    judges: tuple[int, ...]
    criteria: tuple[PairOnCriterion, ...]
    outputs: int = 0
    documents: int = 0


def first_outputs(numbers: PairNumbers) -> PairNumbers:
    """Return what a worker stores for a large project: only the first outputs."""
    criteria = (
        replace(criterion, one_agrees=criterion.one_agrees.first_few(MOST_LISTED))
        for criterion in numbers.criteria
    )
    return replace(numbers, criteria=tuple(criteria))


def pair_numbers(
    everything: ReportData,
    criteria: Iterable[CriterionLike],
    judge_ids: Collection[int],
    view: PairView,
) -> PairNumbers:
    """Compute the numbers of a view; by default the judges are the two that rank outputs most like
    people on the first criterion.

    Args:
        everything: all data of the project.
        criteria, judge_ids: those of the project.
    """
    options, data = view.options, everything.selected(view.options)
    criteria = [about for about in criteria if options.shows(about.pk)]
    chosen = {pk for pk in judge_ids if pk in (options.judges or judge_ids)}
    ranked = list(
        dict.fromkeys(
            pk for criterion in criteria for pk in judges_on(data, criterion.pk) if pk in chosen
        )
    )
    first = first_of(view.first, ranked, next(iter(ranked), 0))
    others = [pk for pk in ranked if pk != first]
    second = first_of(view.second, others, next(iter(others), 0))
    pairs = _pairs(data, criteria, first, second) if first and second else []
    return PairNumbers(
        first,
        second,
        tuple(sorted(ranked)),
        tuple(pair_on_criterion(data, pair, options.coefficient) for pair in pairs),
        outputs=_different([pair.at for pair in pairs]),
        documents=_different([data.outputs.document[pair.at] for pair in pairs]),
    )


def _pairs(
    data: ReportData, criteria: Iterable[CriterionLike], first: int, second: int
) -> list[Pair]:
    pairs = (pair_on(data, criterion, first, second) for criterion in criteria)
    return [pair for pair in pairs if pair is not None]


def _different(positions: Sequence[IntArray]) -> int:
    return len(np.unique(np.concatenate(positions))) if positions else 0
