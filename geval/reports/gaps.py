"""Outputs ranked by the gap between a judge and people, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.arrays import Outputs, complete
from geval.statistics.cache import remembered
from geval.statistics.calibration import equipercentile
from geval.statistics.correlation import mean_by_document
from geval.statistics.mean_gaps import MeanGap, mean_gap, spreads
from geval.statistics.scales import Scale
from geval.statistics.types import DIGITS, FloatArray, IntArray
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True, eq=False)
class Gaps:
    """The outputs that have both a rating and a score, with their gaps.

    `at` are their positions in the report's data; `people`, `scores`, `gap` (score minus people's,
    in points of the scale) and `strength` (the ranking value) are parallel to it. Scores on another
    scale are `mapped` to the criterion's: each becomes the mean rating of the same rank.
    """

    outputs: Outputs
    at: IntArray
    people: FloatArray
    scores: FloatArray
    gap: FloatArray
    strength: FloatArray
    shift: MeanGap | None
    mapped: bool

    @cached_property
    def order(self) -> IntArray:
        """The positions in these arrays, the strongest first; ties by gap, then by id."""
        strength = np.round(self.strength, DIGITS)
        return np.lexsort((self.at, -np.round(np.abs(self.gap), DIGITS), -strength))


def gaps_of(data: ReportData, criterion: CriterionLike, judge: int, *, by: str) -> Gaps:
    """Return the gaps of a judge on a criterion.

    Args:
        data: the data that the view selects.
        by: a key of BASES.
    """
    human = data.humans[criterion.pk]
    scores = data.judges.get((criterion.pk, judge))
    if scores is None:
        scores = np.full(len(data.outputs), np.nan)
    indexes = np.flatnonzero(~np.isnan(human.mean + scores))
    outputs, (people, given) = complete(data.outputs_on(criterion.pk), human.mean, scores)
    units, _ = complete(data.units_on(criterion.pk), human.mean, scores)
    mapped = is_elsewhere(given, criterion.scale)
    comparable = equipercentile(given, people, outputs.weight)(given) if mapped else given
    gap = np.round(comparable - people, DIGITS)
    shift = remembered(mean_gap, units, gap) if len(gap) else None
    if by == "apart":
        strength = spreads(human.ratings)[indexes]
    elif by == "shifted" and shift is not None:
        strength = np.abs(gap - shift.mean)
    else:
        strength = np.abs(gap)
    return Gaps(outputs, indexes, people, given, gap, strength, shift, mapped)


def strongest(data: ReportData, gaps: Gaps, most: int) -> tuple[ReportData, Gaps]:
    """Return the outputs with the strongest gaps, in their original order."""
    chosen = np.zeros(len(gaps.at), dtype=bool)
    chosen[gaps.order[:most]] = True
    kept = np.zeros(len(data.outputs), dtype=bool)
    kept[gaps.at[chosen]] = True
    few = replace(
        gaps,
        outputs=gaps.outputs.part(chosen),
        at=(np.cumsum(kept) - 1)[gaps.at[chosen]],
        people=gaps.people[chosen],
        scores=gaps.scores[chosen],
        gap=gaps.gap[chosen],
        strength=gaps.strength[chosen],
    )
    return data.only(kept), few


def is_elsewhere(scores: FloatArray, scale: Scale) -> bool:
    """Return whether scores are on another scale than the ratings."""
    return bool(len(scores)) and not scale.spans(float(scores.min()), float(scores.max()))


def judges_on(data: ReportData, criterion: int) -> tuple[int, ...]:
    """Return the judges that scored rated outputs, the one that ranks them most like people
    first."""
    rhos: Mapping[int, float] = {
        judge: float(
            np.nan_to_num(
                remembered(mean_by_document, data.units_on(on), data.humans[on].mean, scores),
                nan=-2.0,
            )
        )
        for (on, judge), scores in data.judges.items()
        if on == criterion and not np.isnan(scores + data.humans[on].mean).all()
    }
    return tuple(sorted(rhos, key=lambda judge: (-rhos[judge], judge)))
