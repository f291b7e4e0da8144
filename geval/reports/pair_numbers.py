"""The numbers of the page that compares two judges: on each criterion their scores, who agrees with
people, and the outputs on which only one does.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.gap_view import first_of
from geval.reports.gaps import judges_on
from geval.reports.pairs import Pair, PairView, labels_of_pair, pair_on, unit_of
from geval.reports.score_cells import Grid, Shares, grid_of, shares_of
from geval.statistics.cache import remembered
from geval.statistics.correlation import Coefficient
from geval.statistics.paired_labels import PairedLabels
from geval.statistics.same_documents import ONLY_FIRST, ONLY_SECOND, Ranked, on_same_documents
from geval.statistics.scales import short
from geval.statistics.types import FloatArray, IntArray
from geval.texts.subjects import CriterionLike

# How many outputs of a large project are listed per judge.
MOST_LISTED = 2_000


@dataclass(frozen=True, eq=False)
class OneAgreeing:
    """The outputs on which exactly one judge agrees with people, sorted by the other's distance,
    largest first: ids, systems' names, ratings, scores, and whether it is the first judge."""

    output_ids: IntArray
    systems: tuple[str, ...]
    human: FloatArray
    first: FloatArray
    second: FloatArray
    is_first: IntArray

    def first_few(self, most: int) -> "OneAgreeing":
        """Return at most this many outputs per judge."""
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
    """Two judges on a criterion: both correlations with people on the same documents, ties counted,
    in how many of these each ranks outputs, drawings of scores and agreement, and the unit of a
    step. `mapped` says whose scores are on another scale; `labels` whose verdicts are people's more
    often, on pass or fail."""

    criterion: int
    correlations: tuple[float, float]
    ranked: Ranked
    grid: Grid
    shares: Shares
    unit: str
    mapped: tuple[bool, bool]
    one_agrees: OneAgreeing
    labels: PairedLabels | None = None


def pair_on_criterion(data: ReportData, pair: Pair, coefficient: Coefficient) -> PairOnCriterion:
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
        labels_of_pair(pair),
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
