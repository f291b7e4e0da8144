"""Outputs ranked by the gap between a judge and people, as arrays, and the numbers of
their page."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.arrays import Outputs, complete
from geval.statistics.cache import remembered
from geval.statistics.calibration import equipercentile
from geval.statistics.correlation import mean_by_document
from geval.statistics.labels import most_frequent_point
from geval.statistics.mean_gaps import MeanGap, mean_gap, spreads
from geval.statistics.scales import Scale, short
from geval.statistics.types import DIGITS, FloatArray, IntArray
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True, eq=False)
class Gaps:
    """The outputs that have both a rating and a score, with their gaps.

    `at` are their positions in the report's data; `people`, `scores`, `gap` (score minus people's,
    in points of the scale) and `strength` (the ranking value) are parallel to it. Scores on another
    scale are `mapped` to the criterion's: each becomes the mean rating of the same rank. Of labels
    without an order it has only the outputs whose labels differ, each with a gap of 1.
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
    if not criterion.scale.is_ordered:
        return _differing_labels(data, criterion, scores, by=by)
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


def _differing_labels(
    data: ReportData, criterion: CriterionLike, scores: FloatArray, *, by: str
) -> Gaps:
    """Return the outputs to which a judge gave another label than most people. Raters are apart by
    the share that gave another label than most."""
    ratings = data.humans[criterion.pk].ratings
    people = most_frequent_point(ratings, criterion.scale)
    indexes = np.flatnonzero(~np.isnan(people + scores) & (people != scores))
    differs = np.ones(len(indexes))
    others = np.bincount(
        ratings.output, ratings.value != people[ratings.output], minlength=len(people)
    )
    return Gaps(
        outputs=data.outputs_on(criterion.pk).part(np.isin(np.arange(len(people)), indexes)),
        at=indexes,
        people=people[indexes],
        scores=scores[indexes],
        gap=differs,
        strength=(others / np.maximum(1, ratings.count))[indexes] if by == "apart" else differs,
        shift=None,
        mapped=False,
    )


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


def cell_of(scale: Scale, people: float, judge: float) -> str:
    """Return the cell of a confusion table, in addresses: the places of people's label and of the
    judge's, from 1."""
    return f"{scale.points.index(people) + 1}-{scale.points.index(judge) + 1}"


def cells_of(gaps: Gaps, scale: Scale) -> tuple[tuple[str, str], ...]:
    """Return the cells of a confusion table that have outputs, in words, the fullest first."""
    pairs = Counter(zip(gaps.people.tolist(), gaps.scores.tolist(), strict=True))
    return tuple(
        (cell_of(scale, *pair), f"{in_words(scale, *pair)} ({count})")
        for pair, count in pairs.most_common()
    )


def in_words(scale: Scale, people: float, judge: float) -> str:
    """Return people's label and the judge's."""
    return f"{scale.label_at(people)} → {scale.label_at(judge)}"


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
