"""A campaign's progress towards its goal: documents' values for the goal, and an anytime-valid
interval."""

from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.reports.document_values import DocumentValues
from geval.statistics.anytime import confidence_sequence
from geval.statistics.arrays import Outputs, mean_of
from geval.statistics.correlation import mean_of_documents
from geval.statistics.jackknife import LeftOut, within
from geval.statistics.planning import Needed, for_any_time
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked
from geval.statistics.types import FloatArray, IntArray


@dataclass(frozen=True)
class GoalStanding:
    """A campaign's progress towards its goal: an anytime-valid interval from `documents` that
    count, out of `planned`; `needed` is the expected total number of documents for the goal,
    `promised` the number that is enough in nine of ten cases. Without documents that count there is
    no interval, nor where they come in groups, whose values depend on each other. `fixed` is the
    interval if the number of documents had been fixed beforehand, and `ranked` the number of them
    in which each of two judges ranks outputs."""

    documents: int
    planned: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    is_reached: bool = False
    needed: int | None = None
    promised: int | None = None
    fixed: Interval | None = None
    ranked: Ranked | None = None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, eq=False)
class GoalSequence:
    """Values of documents in order of arrival, each from `lowest` to `most`; `weight` has the
    campaign's sampling weights, at most `largest`. `ranked` is as in `DocumentValues`, and `group`
    has the group of each document, where they come in groups."""

    values: FloatArray
    lowest: float
    most: float
    planned: int
    weight: FloatArray | None
    largest: float
    ranked: Ranked | None = None
    group: IntArray | None = None


def standing_of(sequence: GoalSequence, width: float | None) -> GoalStanding:
    """Compute a campaign's progress.

    Args:
        width: the wanted half-width; None for the goal of distinguishing two sides.
    """
    count = len(sequence.values)
    if not count:
        return GoalStanding(0, sequence.planned)
    documents = LeftOut.of(count, sequence.group)
    fixed = within(
        documents.mean_interval(sequence.values, weight=sequence.weight),
        sequence.lowest,
        sequence.most,
    )
    estimate = mean_of_documents(sequence.values, sequence.weight)
    if sequence.group is not None:
        return GoalStanding(count, sequence.planned, estimate, fixed=fixed, ranked=sequence.ranked)
    (ends,) = confidence_sequence(
        sequence.values,
        [count],
        lowest=sequence.lowest,
        highest=sequence.most,
        weight=sequence.weight,
        largest=sequence.largest,
    )
    half = (ends.high - ends.low) / 2
    if width is not None:
        wanted, now = width, half
        is_reached = half <= wanted
    else:
        # The end on the side of 0 must pass it. The other may be clipped at the limit of values.
        wanted = abs(estimate)
        now = estimate - ends.low if estimate > 0 else ends.high - estimate
        is_reached = not ends.low <= 0 <= ends.high
    needed = Needed(None, None)
    if not is_reached and wanted > 0:
        needed = for_any_time(
            sequence.values, wanted, lowest=sequence.lowest, highest=sequence.most, now=now
        )
    # The size of a difference is not known well enough to promise when it is detected.
    promised = None if width is None else needed.promised
    return GoalStanding(
        count, sequence.planned, estimate, ends.low, ends.high, is_reached, needed.likely, promised,
        fixed, sequence.ranked,
    )  # fmt: skip


def system_differences(
    data: ReportData,
    units: Outputs,
    human: FloatArray,
    systems: tuple[int | None, int | None],
    most: float,
) -> DocumentValues:
    """Return the first system's mean rating minus the second's in each document.

    Args:
        human: shape (outputs,), the mean rating of each, NaN for none.
        systems: their ids.
        most: the largest possible difference of two ratings.
    """
    sides = []
    for system in systems:
        of_system = (data.system_ids[units.system] == system) & ~np.isnan(human)
        part = units.part(of_system)
        sides.append(mean_of(part.by_document(human[of_system]), part.by_document()))
    return DocumentValues(sides[0] - sides[1], most)
