"""Two judges and people's ratings, on their common outputs."""

from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.reports.gaps import is_elsewhere
from geval.statistics.arrays import Outputs, complete
from geval.statistics.calibration import equipercentile
from geval.statistics.paired_labels import PairedLabels, paired_labels
from geval.statistics.same_documents import who_agrees
from geval.statistics.scales import Scale
from geval.statistics.types import FloatArray, IntArray
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True, eq=False)
class Pair:
    """Two judges on one criterion, on the outputs that both scored and people rated. In `first_on`
    and `second_on` scores on another scale are mapped to the criterion's by rank."""

    criterion: CriterionLike
    outputs: Outputs
    at: IntArray
    human: FloatArray
    first: FloatArray
    second: FloatArray
    first_on: FloatArray
    second_on: FloatArray
    agrees: IntArray


def pair_on(data: ReportData, criterion: CriterionLike, first: int, second: int) -> Pair | None:
    scores = [data.judges.get((criterion.pk, judge)) for judge in (first, second)]
    human = data.humans[criterion.pk].mean
    a, b = scores
    if a is None or b is None:
        return None
    indexes = np.flatnonzero(~np.isnan(human + a + b))
    if not len(indexes):
        return None
    outputs, (human, a, b) = complete(data.units_on(criterion.pk), human, a, b)
    scale = criterion.scale
    first_on, second_on = (
        equipercentile(side, human, outputs.weight)(side) if is_elsewhere(side, scale) else side
        for side in (a, b)
    )
    agrees = who_agrees(human, first_on, second_on, unit_of(scale))
    return Pair(criterion, outputs, indexes, human, a, b, first_on, second_on, agrees)


def labels_of_pair(pair: Pair) -> PairedLabels | None:
    """Return whose labels are people's more often, on pass or fail and on labels; None elsewhere. A
    score of half of the scale or more passes."""
    scale, sides = pair.criterion.scale, [pair.human, pair.first_on, pair.second_on]
    if scale.is_ordered:
        if len(scale.points) != 2:
            return None
        middle = sum(scale.points) / 2
        sides = [(side >= middle).astype(float) for side in sides]
    return paired_labels(pair.outputs, *sides)


def unit_of(scale: Scale) -> float:
    """Return the unit of a step when scores are compared with ratings: the scale's step, but at
    least a tenth of its width (a scale from 0 to 100) and at most half of it (yes and no)."""
    width = scale.highest - scale.lowest
    return min(max(scale.step, width / 10), width / 2)
