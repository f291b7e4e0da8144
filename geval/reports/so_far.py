"""A run's preliminary results on a criterion: the distribution of its scores, their agreement with
people and its precision."""

import math
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.document_values import same_verdicts
from geval.reports.samples import about_sample, marked
from geval.reports.words import ranked_in_words
from geval.statistics.anytime import RHO, TWO_RHOS, AnytimeInterval, NarrowingStep, anytime_mean
from geval.statistics.arrays import Outputs, complete, mean_of
from geval.statistics.correlation import correlations, mean_of_documents
from geval.statistics.projection import documents_for
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked, SameDocuments, on_same_documents
from geval.statistics.scales import Scale, short
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, PROMISE
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.weighted import freedom_share
from geval.texts.numbers import in_brackets, in_time, signed, thin, two_decimals
from geval.texts.subjects import CriterionLike

GOALS = (0.1, 0.05, 0.02)
NOTHING_SHARED = "no output has both a rating and a score"
BINS = 9


@dataclass(frozen=True)
class Bin:
    """A range of scores and the number in it; `height` is relative to the fullest, from 0 to
    100."""

    label: str
    count: int
    height: int


@dataclass(frozen=True)
class CriterionSoFar:
    """A criterion of a run at a point in time. `outputs` have both a score of this run and a human
    rating; `by_document` has each document's rho, on pass or fail the share of outputs with the
    same verdict, shape (documents,), NaN where undefined (of sessions, as on the report; `places`
    maps a document's id to its position), and `weight` the documents' sampling weights, None where
    all rated ones are equal; `ahead` has both judges on the same documents, over outputs that both
    judged, if the run is compared with another judge. No document, judged or not, has a weight
    above `largest`. `sample` says which outputs the numbers describe, and `is_seen` whether the
    judge's search has seen documents behind them."""

    criterion: str
    scored: int
    mean: float | None
    bins: tuple[Bin, ...]
    outputs: int
    spearman: Estimate
    kendall: Estimate
    pk: int
    by_document: FloatArray
    places: dict[int, int]
    scale: Scale
    weight: FloatArray | None = None
    ahead: SameDocuments | None = None
    largest: float | None = None
    sample: tuple[str, ...] = ()
    is_seen: bool = False
    is_grouped: bool = False
    on_scale: bool = True

    @property
    def named(self) -> str:
        """The criterion's name next to its numbers."""
        return marked(self.criterion, is_seen=self.is_seen)

    @property
    def are_shares(self) -> bool:
        """Whether documents' values are shares of outputs with the same verdict."""
        return self.scale.is_pass_fail and self.on_scale

    @property
    def agreement(self) -> str:
        """What documents' values are of, in words."""
        return "same verdict" if self.are_shares else "rho"

    @property
    def same_verdict(self) -> Estimate | None:
        """The share of outputs with the same verdict; None on other scales."""
        if not self.are_shares:
            return None
        mean = mean_of_documents(self.by_document, self.weight)
        return Estimate.undefined(NOTHING_SHARED) if np.isnan(mean) else Estimate(mean)

    @property
    def lowest(self) -> float:
        """The lowest possible value of a document."""
        return 0.0 if self.are_shares else -RHO


@dataclass(frozen=True)
class OpenItems:
    """The open items of a criterion, and those that precede them."""

    items: int
    before: int


def ahead_of(
    so_far: CriterionSoFar, tables: ReportData, judge: int, rival: FloatArray | None
) -> CriterionSoFar:
    """Add the difference to the judge with which a run is compared.

    Args:
        tables: the scores of the run.
        rival: the other judge's scores, shape (outputs,); None where it has none.
    """
    human = tables.humans[so_far.pk]
    nothing = np.full(human.mean.shape, np.nan)
    sides = [
        tables.judges.get((so_far.pk, judge), nothing),
        nothing if rival is None else rival,
    ]
    outputs, (rated, *scores) = complete(tables.units.weighted(human.weight), human.mean, *sides)
    if so_far.are_shares:
        first, second = (same_verdicts(outputs, rated, own, so_far.scale) for own in scores)
        same = SameDocuments(outputs.documents_with(), outputs.by_document(), first, second)
    else:
        same = on_same_documents(outputs, rated, scores[0], scores[1])
    return replace(so_far, ahead=replace(same, weight=_of_documents(outputs)))


def criterion_so_far(
    criterion: CriterionLike, tables: ReportData, judge: int, *, on_scale: bool
) -> CriterionSoFar:
    """Compute the preliminary results of a criterion.

    Args:
        tables: the scores of the run.
        on_scale: whether the judge rates on the scale of the criterion.
    """
    human = tables.humans[criterion.pk].mean
    scores = tables.judges.get((criterion.pk, judge))
    values = scores[~np.isnan(scores)] if scores is not None else np.empty(0)
    nothing = np.full(human.shape, np.nan)
    outputs = tables.units_on(criterion.pk)
    own = nothing if scores is None else scores
    estimates = correlations(outputs, human, own)
    return CriterionSoFar(
        criterion=criterion.name,
        scored=len(values),
        mean=float(values.mean()) if len(values) else None,
        bins=_bins(values, *_range(values, criterion.scale, on_scale=on_scale)),
        outputs=estimates.pairs,
        spearman=estimates.estimates["spearman"]["summary"],
        kendall=estimates.estimates["kendall"]["summary"],
        pk=criterion.pk,
        by_document=(
            same_verdicts(outputs, human, own, criterion.scale)
            if criterion.scale.is_pass_fail and on_scale
            else estimates.by_document["spearman"]
        ),
        scale=criterion.scale,
        places=dict(zip(tables.document_ids.tolist(), tables.unit_of.tolist(), strict=True)),
        weight=None if scores is None else _of_documents(complete(outputs, human, scores)[0]),
        largest=None if outputs.weight is None else float(outputs.weight.max()),
        sample=about_sample(tables.humans[criterion.pk]),
        is_grouped=outputs.group is not None,
        on_scale=on_scale,
    )


def _of_documents(outputs: Outputs) -> FloatArray | None:
    """Return the documents' weights, shape (documents,), NaN without outputs. They are returned
    even if all are equal, as those of later documents may differ."""
    if outputs.weight is None:
        return None
    return mean_of(outputs.weighing(), outputs.by_document())


def _range(values: np.ndarray, scale: Scale, *, on_scale: bool) -> tuple[float, float]:
    """Return the range of scores to count: the scale, or the observed range for scores that are not
    on it."""
    if on_scale or not len(values):
        return scale.lowest, scale.highest
    lowest, highest = float(values.min()), float(values.max())
    return (lowest, highest) if lowest < highest else (lowest - 0.5, highest + 0.5)


def _bins(values: np.ndarray, lowest: float, highest: float) -> tuple[Bin, ...]:
    counts, edges = np.histogram(
        np.clip(values, lowest, highest), bins=BINS, range=(lowest, highest)
    )
    most = max(1, int(counts.max(initial=0)))
    return tuple(
        Bin(
            f"{short(round(edges[i], 2))} to {short(round(edges[i + 1], 2))}",
            int(count),
            round(100 * count / most),
        )
        for i, count in enumerate(counts)
    )


@dataclass(frozen=True)
class KnownSoFar:
    """A criterion's rho in a run, or on pass or fail its share of same verdicts, or that minus
    another judge's, with anytime-valid ends; for a difference `ranked` says in how many documents
    each ranks outputs."""

    criterion: str
    value: float
    ends: AnytimeInterval
    ranked: Ranked | None = None
    are_shares: bool = False

    @classmethod
    def of(
        cls,
        so_far: CriterionSoFar,
        by_document: FloatArray,
        weight: FloatArray | None,
        *,
        ranked: Ranked | None = None,
    ) -> "KnownSoFar | None":
        """Compute from documents in order of arrival, shape (documents,), NaN without a
        coefficient, and their weights; None for fewer than ten."""
        counts = ~np.isnan(by_document)
        values, weights = by_document[counts], None if weight is None else weight[counts]
        if len(values) < INTERVAL_DOCUMENTS:
            return None
        most = RHO if ranked is None or so_far.are_shares else TWO_RHOS
        (ends,) = anytime_mean(
            values, [len(values)], weights, largest=so_far.largest, most=most,
            lowest=so_far.lowest if ranked is None else -most,
        )  # fmt: skip
        mean = mean_of_documents(values, weights)
        return cls(so_far.named, mean, ends, ranked, so_far.are_shares)

    def __str__(self) -> str:
        ends = in_brackets(Interval(self.ends.low, self.ends.high))
        of = "same verdict on " if self.are_shares else ""
        if self.ranked is None:
            return f"{self.criterion} {of}{two_decimals(self.value)} {ends}"
        apart = f"{self.criterion} {of}{signed(self.value)} {ends}"
        return apart if self.are_shares else f"{apart} ({ranked_in_words(self.ranked)})"

    @property
    def is_difference(self) -> bool:
        return self.ranked is not None

    @property
    def half_width(self) -> float:
        return (self.ends.high - self.ends.low) / 2

    @property
    def leaves_out_0(self) -> bool:
        return self.ends.low > 0 or self.ends.high < 0


def in_order(so_far: CriterionSoFar, order: list[int]) -> tuple[FloatArray, FloatArray | None]:
    """Return documents' coefficients in the order in which they were scored, and their weights."""
    kept = [index for index in order if index < len(so_far.by_document)]
    return so_far.by_document[kept], None if so_far.weight is None else so_far.weight[kept]


def next_goal_in_words(
    last: NarrowingStep, documents: int, so_far: CriterionSoFar, left: OpenItems | None, rate: float
) -> str:
    """Return when the next goal is reached: by this run, or with how many documents.

    Args:
        documents: the number of documents with scores of the run.
        left: the open items of the run on the criterion.
        rate: items per minute.
    """
    half = (last.high - last.low) / 2
    goal = next((goal for goal in GOALS if goal < 0.98 * half), None)
    now = (
        f"±{half:.2f} with {thin(last.documents)} documents; valid at any time:"
        f" {two_decimals(last.anytime.low)} to {two_decimals(last.anytime.high)}"
        f" (±{(last.anytime.high - last.anytime.low) / 2:.2f})"
    )
    if goal is None or half <= 0:
        return f"{now}."
    needed = documents_for(half, documents=last.documents, goal=goal)
    if needed is None:
        return f"{now}."
    per_document = so_far.scored / max(1, documents)
    # Documents in which all ratings or scores are equal are judged and rated, but do not count.
    each = documents / last.documents
    more = (needed - last.documents) * each * per_document
    if left is not None and rate > 0 and more <= left.items:
        return f"{now}. ±{goal:g} in about {in_time(60 * (left.before + more) / rate)}."
    promised = documents_for(
        half,
        documents=last.documents,
        goal=goal,
        assurance=PROMISE,
        freedom=freedom_share(so_far.weight),
    )
    most = ""
    if promised is not None:
        most = f", at most {thin(math.ceil(promised * each))} in nine of ten cases"
    return f"{now}. ±{goal:g} takes about {thin(math.ceil(needed * each))} rated documents{most}."
