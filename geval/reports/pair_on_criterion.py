"""Two judges on a criterion: their scores, who agrees with people, and the outputs on which only
one does."""

from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.reports.pairs import Pair, unit_of
from geval.reports.score_grids import Grid, Shares, grid_of, shares_of
from geval.statistics.cache import remembered
from geval.statistics.correlation import Coefficient
from geval.statistics.same_documents import Ranked, on_same_documents
from geval.statistics.scales import short
from geval.statistics.two_judges import ONLY_FIRST, ONLY_SECOND
from geval.statistics.types import FloatArray, IntArray


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
    step. `mapped` says whose scores are on another scale."""

    criterion: int
    correlations: tuple[float, float]
    ranked: Ranked
    grid: Grid
    shares: Shares
    unit: str
    mapped: tuple[bool, bool]
    one_agrees: OneAgreeing


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
