"""Plan how much rating a goal needs, from a pilot: documents, ratings, hours, money. `plan` does it
for a judge whose correlation is to be known precisely enough.

The pilot is the data that is already rated and scored. With fewer raters per output the human mean
is noisier, and correlations are lower and vary more; a pilot with several raters shows this by
leaving out some of its ratings at random.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement, refuse_other
from geval.reports.document_values import DocumentValues, judge_values
from geval.reports.human_scores import HumanScores
from geval.reports.samples import about_plan
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import mean_of_documents
from geval.statistics.planning import (
    LOOK_ONCE,
    TOO_FEW,
    TOO_FEW_GROUPS,
    Needed,
    for_any_time,
    for_power,
    for_width,
    values_of_groups,
)
from geval.statistics.risk_control import binomial_tail
from geval.statistics.shares import wilson
from geval.statistics.thresholds import (
    AFFORDABLE_DOCUMENTS,
    CONFIDENCE,
    EXPERT_SHARE,
    PASS_FAIL_OUTPUTS,
    POWER,
)
from geval.statistics.types import FloatArray, IntArray
from geval.texts.numbers import counted, money, thin

# Each number of raters is planned separately, with a smaller gain each time.
MOST_RATERS = 6
# Fewer labels of a kind have no interval.
MIN_LABELS = PASS_FAIL_OUTPUTS
LABELS_IN_A_ROW = 20
# Any constant: the same ratings give the same plan.
SEED = 20_261_123
# The half-width of an interval that is narrow enough for a verdict.
USUAL_WIDTH = 0.05
IN_GROUPS = "Planned in whole groups of documents, as large as the rated ones."


@dataclass(frozen=True)
class PlanGoal:
    """The goal: an estimate with an interval of plus or minus `width`, or, without a width, that a
    `difference` is not 0 (None for the pilot's difference)."""

    width: float | None = None
    difference: float | None = None


@dataclass(frozen=True)
class UnitCosts:
    """The seconds and the price of a rating, and the money for an output's scores; None where
    unknown."""

    seconds: float | None = None
    price: Decimal | None = None
    judge_money: Decimal | None = None


@dataclass(frozen=True)
class CampaignEffort:
    """What a campaign with this many raters per output needs (a mean, for what is rated so far).

    `once` is for a single look at the end, `looking` for a campaign that stops by itself, in
    documents to be rated. Ratings, people's hours and money (for people, for judges) are for the
    promised number of `once`.
    """

    raters: float
    estimate: float | None
    once: Needed
    looking: Needed
    ratings: int | None = None
    hours: float | None = None
    people_money: Decimal | None = None
    judge_money: Decimal | None = None

    def __str__(self) -> str:
        raters = f"{counted(round(self.raters), 'rater')} per output"
        if self.once.promised is None or self.ratings is None:
            return f"{raters}: {self.once.reason}"
        cost = "" if self.money is None else f", {money(self.money)}"
        return (
            f"{raters}: {counted(self.once.promised, 'document')}, or"
            f" {thin(self.ratings)} ratings{cost}"
        )

    @property
    def money(self) -> Decimal | None:
        """The sum of both costs, as far as they are known."""
        amounts = [amount for amount in (self.people_money, self.judge_money) if amount is not None]
        return sum(amounts, Decimal(0)) if amounts else None


@dataclass(frozen=True)
class Plan:
    """What a campaign needs, by raters per output; `cheapest` has the fewest ratings.

    `now` is with the ratings as they are, as on the pages of runs; None where nothing is rated.
    `documents` of the pilot are rated, and `counting` of them count: in the others all ratings or
    scores are equal. `difference` is the difference to detect. `sample` says which outputs the
    pilot's numbers describe, where these are not all outputs.
    """

    rows: tuple[CampaignEffort, ...]
    now: CampaignEffort | None
    documents: int
    counting: int
    outputs_per_document: float
    seconds: float | None
    difference: float | None = None
    power: float = POWER
    sample: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The rated documents, and a line for each number of raters."""
        head = f"{counted(self.documents, 'document')} are rated; {self.counting} of them count."
        return "\n".join([head, *(f"  {row}" for row in self.rows)])

    @property
    def cheapest(self) -> float | None:
        """The number of raters per output that needs the fewest ratings."""
        rows = [row for row in self.rows if row.ratings is not None]
        return min(rows, key=lambda row: row.ratings or 0).raters if rows else None

    @property
    def has_enough(self) -> bool:
        """Whether the rated documents are enough in nine of ten cases."""
        promised = self.now.once.promised if self.now else None
        return promised is not None and promised <= self.documents

    @property
    def is_mixed(self) -> bool:
        """Whether outputs have different numbers of ratings, so that `now` is not in `rows`."""
        return self.now is not None and self.now.raters not in {row.raters for row in self.rows}


@dataclass(frozen=True)
class _Pilot:
    """The rated data: `documents`, and the outputs per document. `group` has shape (documents,),
    where documents come in groups: these are the units."""

    documents: int
    outputs_per_document: float
    costs: UnitCosts
    group: IntArray | None


def plan_of(
    aim: PlanGoal,
    human: HumanScores | None,
    units: Outputs,
    tell: Callable[[FloatArray], DocumentValues],
    costs: UnitCosts,
) -> Plan:
    """Compute what rating needs.

    Args:
        human: the pilot's ratings; None where nothing is rated.
        units: the pilot's outputs, without weights.
        tell: computes each document's value from the human mean of each output, shape (outputs,).
    """
    rated = np.zeros(len(units)) if human is None else (~np.isnan(human.mean)).astype(float)
    documents = int(units.documents_with(rated > 0).sum())
    means = [] if human is None else [*_by_raters(human), *_as_now(human)]
    by_raters = [
        (raters, tell(mean), units.documents_with(~np.isnan(mean))) for raters, mean in means
    ]
    whole = by_raters[-1][1].values if by_raters else np.empty(0)
    counting = int((~np.isnan(whole)).sum())
    per_document = float(rated.sum() / documents) if documents else 0.0
    pilot = _Pilot(documents, per_document, costs, units.group)
    if aim.width is not None:
        wanted: float | None = aim.width
    else:
        wanted = aim.difference if aim.difference is not None else _mean(whole)
    rows = [
        _row(aim, abs(wanted or 0.0), pilot, raters, outlook, int(rated.sum()))
        for raters, outlook, rated in by_raters
    ]
    now = rows.pop() if rows else None
    shown = None if aim.width is not None else wanted
    return Plan(
        tuple(rows), now, documents, counting, pilot.outputs_per_document, costs.seconds, shown,
        sample=(
            *(() if human is None else about_plan(human)),
            *(() if units.group is None else (IN_GROUPS,)),
        ),
    )  # fmt: skip


def _row(
    aim: PlanGoal,
    wanted: float,
    pilot: _Pilot,
    raters: float,
    outlook: DocumentValues,
    documents: int,
) -> CampaignEffort:
    """Compute what a campaign with this many raters per output needs.

    Args:
        wanted: the width or the difference.
        documents: how many documents have outputs with this many ratings.
    """
    values, most, group = outlook.values, outlook.most, pilot.group
    lowest = outlook.lowest
    estimate = _mean(values)
    planned = values if group is None else values_of_groups(values, group)
    counting = int((~np.isnan(planned)).sum())
    once = for_width(planned, wanted) if aim.width is not None else for_power(planned, wanted)
    if group is not None:
        reason = TOO_FEW_GROUPS if once.reason == TOO_FEW else once.reason
        once, looking = replace(once, reason=reason), Needed(None, None, LOOK_ONCE)
    else:
        looking = for_any_time(values, wanted, lowest=lowest, highest=most) if wanted else once
    # Documents that do not count must be rated, too.
    times = documents / counting if counting else 1.0
    once, looking = _of_all(once, times), _of_all(looking, times)
    if once.promised is None:
        return CampaignEffort(raters, estimate, once, looking)
    outputs = int(np.ceil(once.promised * pilot.outputs_per_document))
    ratings = int(np.ceil(outputs * raters))
    return CampaignEffort(
        raters,
        estimate,
        once,
        looking,
        ratings=ratings,
        hours=None if pilot.costs.seconds is None else ratings * pilot.costs.seconds / 3600,
        people_money=None if pilot.costs.price is None else pilot.costs.price * ratings,
        judge_money=None if pilot.costs.judge_money is None else pilot.costs.judge_money * outputs,
    )


def _mean(values: FloatArray) -> float | None:
    """Return the mean without missing values; None if all are missing."""
    mean = mean_of_documents(values)
    return None if np.isnan(mean) else mean


def _of_all(needed: Needed, times: float) -> Needed:
    """Convert to documents to be rated, of which one in `times` counts."""
    likely, promised = (
        None if count is None else int(np.ceil(count * times))
        for count in (needed.likely, needed.promised)
    )
    return Needed(likely, promised, needed.reason)


def _by_raters(human: HumanScores) -> list[tuple[float, FloatArray]]:
    """Return the human mean of each output for an increasing number of raters, shape (outputs,),
    NaN for outputs with fewer; the last uses the largest number."""
    ratings = human.ratings
    if not len(ratings):
        return [(1, human.mean)] if not np.isnan(human.mean).all() else []
    most = min(int(np.median(ratings.count[ratings.count > 0])), MOST_RATERS)
    order = np.lexsort((np.random.default_rng(SEED).random(len(ratings)), ratings.output))
    first = np.cumsum(ratings.count) - ratings.count
    place = np.empty(len(ratings), dtype=np.int64)
    place[order] = np.arange(len(ratings)) - first[ratings.output[order]]
    by_raters: list[tuple[float, FloatArray]] = []
    for raters in range(1, most + 1):
        chosen = (place < raters) & (ratings.count[ratings.output] >= raters)
        part = Ratings(
            ratings.output[chosen], ratings.rater[chosen], ratings.value[chosen],
            ratings.outputs, ratings.raters,
        )  # fmt: skip
        by_raters.append((raters, part.means()))
    return by_raters


def _as_now(human: HumanScores) -> list[tuple[float, FloatArray]]:
    """Return the human mean of all ratings, and the mean number of ratings per output."""
    if np.isnan(human.mean).all():
        return []
    count = human.ratings.count
    rated = count[count > 0]
    return [(float(rated.mean()) if len(rated) else 1.0, human.mean)]


def plan(
    measured: Measurement,
    *,
    criterion: str = "",
    judge: str = "",
    width: float = USUAL_WIDTH,
    price: float | None = None,
) -> Plan:
    """Return how much rating is needed to know a judge's mean rho within documents, or on pass or
    fail the share of equal verdicts, to plus or minus `width`, with the present ratings and scores
    as the pilot. Plan again at 60 documents.

    Args:
        criterion: by default the one with the strongest verdict.
        judge: by default the best one.
        width: half of the 95 % interval.
        price: of one rating.

    Raises:
        InputError: there is no such criterion or judge, or no such width or price.

    >>> import geval
    >>> table = [{"doc": d, "system": s, "ann": (s + d) % 4, "bob": s, "gpt": (s * d) % 4}
    ...          for d in range(20) for s in range(4)]
    >>> result = geval.measure(table, human=["ann", "bob"], judge="gpt", document="doc",
    ...                        system="system")
    >>> plan = geval.plan(result, width=0.2)
    >>> plan.documents, [row.raters for row in plan.rows]
    (20, [1, 2])
    >>> print(plan.rows[0])
    1 rater per output: 87 documents, or 348 ratings
    """
    refuse_other(measured)
    if not 0 < width < 1:
        raise InputError(f"The width of an interval is between 0 and 1, not {width}.")
    if price is not None and not 0 <= price < math.inf:
        raise InputError(f"The price of a rating is 0 or more, not {price}.")
    chosen = measured.ordered_criteria(criterion)[0]
    parts = measured.gathered
    about = next(each for each in parts.criteria if each.name == chosen.criterion)
    named = measured.judge_named(judge or chosen.judge or parts.judges[0].name)
    units = parts.data.units.unweighted
    if not about.scale.is_pass_fail and units.by_document().max(initial=0) < 2:
        raise InputError(
            "Documents have one output each, and a plan is for rho within documents. Rate several"
            f" outputs of each, or look at the interval of {about.name} so far."
        )
    nothing: FloatArray = np.full(len(units), np.nan)
    scores = parts.data.judges.get((about.pk, named.pk), nothing)

    def tell(mean: FloatArray) -> DocumentValues:
        return judge_values(units, mean, about.scale, [scores])

    costs = UnitCosts(price=None if price is None else Decimal(str(price)))
    return plan_of(PlanGoal(width), parts.data.humans.get(about.pk), units, tell, costs)


@dataclass(frozen=True)
class LabelPlan:
    """How many labels of each kind show that a judge finds, or keeps, a share of `least`, if it
    truly does so for `true` of them, in POWER of such projects; and how many labels in all bring as
    many, where a share of them are fails (None where that was not stated)."""

    true: float
    least: float
    each: int
    labels: int | None = None

    def __str__(self) -> str:
        text = (
            f"To show {self.least:.2f} at a true {self.true:.2f}: {thin(self.each)} fails and"
            f" {thin(self.each)} passes"
        )
        return f"{text}, about {thin(self.labels)} labels" if self.labels else text


def plan_labels(
    true: float = 0.90, *, least: float = EXPERT_SHARE, fails: float | None = None
) -> LabelPlan:
    """Plan how much an expert labels, before labelling starts: outputs of documents of their own.

    The lower end of Wilson's 95 % interval (1927) has to reach `least`.

    Args:
        true: the share of fails that the judge truly finds, or of passes that it keeps.
        fails: the share of outputs that fail.

    Raises:
        InputError: a share is not between 0 and 1, or too many labels would be needed.

    >>> print(plan_labels(0.9, fails=0.25))
    To show 0.80 at a true 0.90: 112 fails and 112 passes, about 448 labels
    """
    if not 0 < least < true < 1 or not (fails is None or 0 < fails < 1):
        raise InputError("Shares are between 0 and 1, and least is below true.")

    def reaches(count: int) -> bool:
        """Whether so many of a kind are enough in POWER of projects."""
        enough = next(
            (
                hits
                for hits in range(int(least * count), count + 1)
                if wilson(hits / count, count, math.inf, CONFIDENCE)[0] >= least
            ),
            None,
        )
        if enough is None:
            return False
        return 1 - binomial_tail((enough - 1) / count, count, true) >= POWER

    # Power goes up and down with each label, as labels are whole numbers: the first number of so
    # many in a row that are enough.
    row, count = 0, MIN_LABELS
    while row < LABELS_IN_A_ROW and count < AFFORDABLE_DOCUMENTS:
        row = row + 1 if reaches(count) else 0
        count += 1
    if row < LABELS_IN_A_ROW:
        raise InputError(
            f"More than {AFFORDABLE_DOCUMENTS:,} labels of each kind would be needed: {least:g} is"
            f" too near {true:g}."
        )
    each = count - row
    rarer = None if fails is None else min(fails, 1 - fails)
    return LabelPlan(true, least, each, None if rarer is None else math.ceil(each / rarer))
