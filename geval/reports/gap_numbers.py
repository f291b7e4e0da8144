"""The numbers of the page of gaps between a judge and people."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.gaps import Gaps, strongest
from geval.statistics.cache import remembered
from geval.statistics.correlation import mean_by_document
from geval.statistics.scales import short

# How many outputs are listed of a large project.
MOST_LISTED = 10_000


@dataclass(frozen=True, eq=False)
class GapNumbers:
    """The page's numbers for a judge on a criterion (both 0 where there is none), from the scores
    of a run (0: the newest).

    `criteria` are those that have a judge, `judges` those with scores on this one. `outputs` counts
    those with a gap, of which `gaps` may hold only the largest; `data` has the data for these.
    `sample` says which outputs the numbers describe, if not all equally; `rho` is Spearman's rho,
    averaged over documents.
    """

    criterion: int
    judge: int
    run: int
    criteria: tuple[int, ...]
    judges: tuple[int, ...]
    data: ReportData
    gaps: Gaps | None = None
    outputs: int = 0
    shift: str = ""
    sample: tuple[str, ...] = ()
    rho: float | None = None


def rated_outputs(numbers: GapNumbers, output_ids: Collection[int]) -> dict[int, float]:
    """Return people's ratings of outputs that have a gap, by id; others are left out."""
    if numbers.gaps is None:
        return {}
    gaps = numbers.gaps
    ids = numbers.data.output_ids[gaps.at]
    places = np.flatnonzero(np.isin(ids, np.fromiter(output_ids, dtype=np.int64)))
    return dict(zip(ids[places].tolist(), gaps.people[places].tolist(), strict=True))


def largest_gaps(numbers: GapNumbers) -> GapNumbers:
    """Return what a worker stores for a large project: only the largest gaps."""
    if numbers.gaps is None:
        return replace(numbers, data=numbers.data.only(np.zeros(len(numbers.data.outputs), bool)))
    wanted = {
        key: scores
        for key, scores in numbers.data.judges.items()
        if key[0] == numbers.criterion or key[1] == numbers.judge
    }
    few, gaps = strongest(replace(numbers.data, judges=wanted), numbers.gaps, MOST_LISTED)
    return replace(numbers, data=few, gaps=gaps)


def rho_on(data: ReportData, criterion: int, judge: int) -> float | None:
    """Spearman's rho of a judge with people, averaged over documents; None where undefined."""
    scores = data.judges.get((criterion, judge))
    if scores is None:
        return None
    human = data.humans[criterion].mean
    rho = float(remembered(mean_by_document, data.units_on(criterion), human, scores))
    return None if np.isnan(rho) else rho


def shift_in_words(gaps: Gaps) -> str:
    """Return by how much the judge is stricter or milder than people, where that is clear."""
    if gaps.shift is None or gaps.mapped or not gaps.shift.is_clear:
        return ""
    word = "strict" if gaps.shift.mean < 0 else "mild"
    return f"{word} by {short(round(abs(gaps.shift.mean), 2))}"
