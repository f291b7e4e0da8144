"""Two judges and people's ratings, on their common outputs; the view of their page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from geval.reports.data import ReportData
from geval.reports.gap_view import first_of, number_in
from geval.reports.gaps import is_elsewhere
from geval.reports.options import ReportOptions
from geval.statistics.arrays import Outputs, complete
from geval.statistics.calibration import equipercentile
from geval.statistics.paired_labels import PairedLabels, paired_labels
from geval.statistics.same_documents import ONLY_FIRST, ONLY_SECOND, who_agrees
from geval.statistics.scales import Scale
from geval.statistics.types import FloatArray, IntArray
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True, eq=False)
class Pair:
    """Two judges on one criterion, on the outputs that both scored and people rated. In `first_on`
    and `second_on` scores on another scale are mapped to the criterion's by rank. `units` are all
    outputs, and `whole` people's ratings and the mapped scores of each, NaN where there is none."""

    criterion: CriterionLike
    outputs: Outputs
    at: IntArray
    human: FloatArray
    first: FloatArray
    second: FloatArray
    first_on: FloatArray
    second_on: FloatArray
    agrees: IntArray
    units: Outputs
    whole: tuple[FloatArray, FloatArray, FloatArray]


def pair_on(data: ReportData, criterion: CriterionLike, first: int, second: int) -> Pair | None:
    scores = [data.judges.get((criterion.pk, judge)) for judge in (first, second)]
    human = data.humans[criterion.pk].mean
    a, b = scores
    if a is None or b is None:
        return None
    units, everyone, own = data.units_on(criterion.pk), human, (a, b)
    indexes = np.flatnonzero(~np.isnan(human + a + b))
    if not len(indexes):
        return None
    outputs, (human, a, b) = complete(units, human, a, b)
    scale = criterion.scale
    on, whole = [], [everyone]
    for side, of_all in zip((a, b), own, strict=True):
        elsewhere = is_elsewhere(side, scale)
        mapped = equipercentile(side, human, outputs.weight) if elsewhere else None
        on.append(side if mapped is None else mapped(side))
        whole.append(of_all if mapped is None else mapped(of_all))
    agrees = who_agrees(human, on[0], on[1], unit_of(scale))
    return Pair(
        criterion, outputs, indexes, human, a, b, on[0], on[1], agrees, units,
        (whole[0], whole[1], whole[2]),
    )  # fmt: skip


def labels_of_pair(pair: Pair) -> PairedLabels | None:
    """Return whose labels are people's more often, on pass or fail and on labels; None elsewhere. A
    score of half of the scale or more passes. The judge that is ahead has to be so, too, where what
    it did not score counts as wrong."""
    scale = pair.criterion.scale
    human, *judges = pair.whole
    if scale.is_ordered:
        if len(scale.points) != 2:
            return None
        middle = sum(scale.points) / 2
        human, *judges = (np.where(np.isnan(side), np.nan, side >= middle) for side in pair.whole)
    at = pair.at
    labels = paired_labels(pair.outputs, human[at], judges[0][at], judges[1][at])
    if not labels.ahead:
        return labels
    # NaN is nobody's label, so that what the better judge left out is wrong.
    other = judges[2 - labels.ahead]
    among = ~np.isnan(human + other)
    left_out = int(among.sum()) - len(at)
    if not left_out:
        return labels
    worst = paired_labels(pair.units.part(among), human[among], judges[0][among], judges[1][among])
    return labels if worst.ahead == labels.ahead else replace(labels, left_out=left_out)


def unit_of(scale: Scale) -> float:
    """Return the unit of a step when scores are compared with ratings: the scale's step, but at
    least a tenth of its width (a scale from 0 to 100) and at most half of it (yes and no)."""
    width = scale.highest - scale.lowest
    return min(max(scale.step, width / 10), width / 2)


CLASSES = {"first": ONLY_FIRST, "second": ONLY_SECOND}


@dataclass(frozen=True)
class PairView:
    """The two judges to compare, in a view of the report; `criterion` and `only` ("first", "second"
    or both) select the listed outputs."""

    options: ReportOptions
    first: int = 0
    second: int = 0
    criterion: int = 0
    only: str = ""
    page: int = 0

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        own = ("first", "second", "criterion", "only", "page")
        given = [(name, value) for name in own if (value := getattr(self, name))]
        return "&".join(part for part in (urlencode(given), self.options.query) if part)

    def of_numbers(self, known: Mapping[str, Iterable[int]]) -> "PairView":
        """Return the part of the view on which its numbers depend.

        Args:
            known: the ids of the project's judges; others are ignored.
        """
        first, second = (first_of(pk, known["judges"]) for pk in (self.first, self.second))
        return PairView(self.options, first, second)

    def to(self, **changes: Any) -> str:
        """Return the query string of another view, with some parts changed, starting at the first
        page."""
        return f"?{replace(self, **({'page': 0} | changes)).query}"


def read_pair_view(query: Mapping[str, Any], options: ReportOptions) -> PairView:
    """Read the view from a query string; invalid parts get their defaults."""
    only = str(query.get("only") or "")
    ids = {name: number_in(query, name) for name in ("first", "second", "criterion", "page")}
    return PairView(options, only=only if only in CLASSES else "", **ids)
