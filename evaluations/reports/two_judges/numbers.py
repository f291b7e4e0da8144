"""The numbers of the page of two judges: who gives what, who agrees with people, and on which
outputs only one does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluations.models import Criterion, Project
from evaluations.reports.disagreements.view import first_of
from evaluations.reports.two_judges.view import PairView
from geval.reports.data import ReportData
from geval.reports.gaps import judges_on
from geval.reports.memo import remembered
from geval.reports.pairs import Pair, pair_on, unit_of
from geval.reports.score_grids import Grid, Shares, grid_of, shares_of
from geval.scales import short
from geval.statistics.correlation import Coefficient
from geval.statistics.same_documents import Ranked, on_same_documents
from geval.statistics.two_judges import ONLY_FIRST, ONLY_SECOND
from geval.statistics.types import FloatArray, IntArray

# Of a large project so many outputs are listed for each of the two judges.
MOST_LISTED = 2_000


@dataclass(frozen=True, eq=False)
class OneAgreeing:
    """The outputs on which exactly one judge agrees with people, the one where the other is
    farthest off first: ids, systems' names, ratings, scores, and whether it is the first judge."""

    output_ids: IntArray
    systems: tuple[str, ...]
    human: FloatArray
    first: FloatArray
    second: FloatArray
    is_first: IntArray

    def first_few(self, most: int) -> "OneAgreeing":
        """At most so many of each judge."""
        each = np.cumsum(np.stack([self.is_first, 1 - self.is_first]), axis=1)
        kept = np.where(self.is_first, each[0], each[1]) <= most
        return OneAgreeing(
            self.output_ids[kept],
            tuple(name for name, is_kept in zip(self.systems, kept, strict=True) if is_kept),
            self.human[kept],
            self.first[kept],
            self.second[kept],
            self.is_first[kept],
        )


@dataclass(frozen=True, eq=False)
class PairOnCriterion:
    """Two judges on a criterion: both correlations with people on the same documents, ties
    counted, in how many of these each ranks anything, their scores and agreement drawn, and what
    counts as a step. `mapped` says whose scores are on another scale."""

    criterion: int
    correlations: tuple[float, float]
    ranked: Ranked
    grid: Grid
    shares: Shares
    unit: str
    mapped: tuple[bool, bool]
    one_agrees: OneAgreeing


@dataclass(frozen=True, eq=False)
class PairNumbers:
    """What a page shows of two judges (0 where there is none), beside the report's tests.

    `judges` are those that rank rated outputs; `outputs` and `documents` count what both scored and
    people rated, on any criterion.
    """

    first: int
    second: int
    judges: tuple[int, ...]
    criteria: tuple[PairOnCriterion, ...]
    outputs: int = 0
    documents: int = 0


def first_outputs(numbers: PairNumbers) -> PairNumbers:
    """What a worker stores of a large project's view: the first outputs alone."""
    criteria = (
        replace(one, one_agrees=one.one_agrees.first_few(MOST_LISTED)) for one in numbers.criteria
    )
    return replace(numbers, criteria=tuple(criteria))


def pair_numbers(project: Project, everything: ReportData, view: PairView) -> PairNumbers:
    """The numbers of a view; judges that it does not name are the two that rank outputs most like
    people on the first criterion."""
    options, data = view.options, everything.selected(view.options)
    criteria = [about for about in project.criteria.all() if options.shows(about.pk)]
    known = list(project.judges.values_list("pk", flat=True))
    chosen = set(options.judges or known)
    ranked = list(
        dict.fromkeys(
            pk for one in criteria for pk in judges_on(data, one.pk) if pk in chosen & set(known)
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
        tuple(_on_criterion(data, pair, options.coefficient) for pair in pairs),
        outputs=_different([pair.at for pair in pairs]),
        documents=_different([data.outputs.document[pair.at] for pair in pairs]),
    )


def _pairs(data: ReportData, criteria: list[Criterion], first: int, second: int) -> list[Pair]:
    found = (pair_on(data, one, first, second) for one in criteria)
    return [pair for pair in found if pair is not None]


def _different(positions: Sequence[IntArray]) -> int:
    return len(np.unique(np.concatenate(positions))) if positions else 0


def _on_criterion(data: ReportData, pair: Pair, coefficient: Coefficient) -> PairOnCriterion:
    same = remembered(
        on_same_documents, pair.outputs, pair.human, pair.first, pair.second, coefficient
    )
    return PairOnCriterion(
        pair.criterion.pk,
        same.means,
        same.ranked,
        grid_of(pair),
        shares_of(pair),
        short(round(unit_of(pair.criterion.scale), 4)),
        (pair.first is not pair.first_on, pair.second is not pair.second_on),
        _one_agreeing(data, pair),
    )


def _one_agreeing(data: ReportData, pair: Pair) -> OneAgreeing:
    off = np.where(pair.agrees == ONLY_FIRST, pair.second_on, pair.first_on)
    chosen = np.flatnonzero(np.isin(pair.agrees, (ONLY_FIRST, ONLY_SECOND)))
    order = chosen[np.argsort(-np.abs(off - pair.human)[chosen], kind="stable")]
    return OneAgreeing(
        data.output_ids[pair.at[order]],
        tuple(data.system_names[place] for place in pair.outputs.system[order].tolist()),
        pair.human[order],
        pair.first[order],
        pair.second[order],
        (pair.agrees[order] == ONLY_FIRST).astype(np.int64),
    )
