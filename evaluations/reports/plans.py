"""Before a campaign: documents, ratings, hours and money for what it is to find out, from a pilot.

The pilot is what is rated and scored in the project. With fewer raters for each output the human
mean is noisier and correlations lower and more spread, which a pilot of several raters shows: some
of its ratings are left out at random.
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from django.db import connection

from annotations.models import CampaignGoal, GoalKind
from annotations.results.human_scores import HumanScores
from evaluations.models import Judge, Project
from evaluations.reports.data import ReportData
from evaluations.reports.goals import values_of
from evaluations.reports.judge_costs import PER, cost_of
from evaluations.statistics.layout import Ratings
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.planning import (
    POWER,
    Needed,
    for_any_time,
    for_power,
    for_width,
)

MOST_RATERS = 6
SEED = 20_261_123


@dataclass(frozen=True)
class Planned:
    """What a campaign with so many raters for each output takes; `once` for one look at the end,
    `looking` for a campaign that closes itself, in documents to be rated. Ratings, hours of people
    and money (of people, of the judges) are for the promised number of `once`."""

    raters: int
    estimate: float | None
    once: Needed
    looking: Needed
    ratings: int | None = None
    hours: float | None = None
    people_money: Decimal | None = None
    judge_money: Decimal | None = None

    @property
    def money(self) -> Decimal | None:
        """Both, as far as they are known."""
        known = [one for one in (self.people_money, self.judge_money) if one is not None]
        return sum(known, Decimal(0)) if known else None


@dataclass(frozen=True)
class Plan:
    """What a campaign takes, by raters for each output; `cheapest` has the fewest ratings.

    `documents` of the pilot are rated, and `counting` of them say something: in the rest all
    ratings or scores are the same. `difference` is the one that a test is to find.
    """

    rows: tuple[Planned, ...]
    documents: int
    counting: int
    outputs_per_document: float
    seconds: float | None
    difference: float | None = None
    power: float = POWER

    @property
    def cheapest(self) -> int | None:
        """The number of raters with which the fewest ratings do."""
        known = [row for row in self.rows if row.ratings is not None]
        return min(known, key=lambda row: row.ratings or 0).raters if known else None


def plan(
    aim: CampaignGoal,
    data: ReportData,
    *,
    difference: float | None = None,
    price: Decimal | None = None,
) -> Plan:
    """Plan a campaign.

    Args:
        aim: what it is to find out; it need not be saved.
        data: the pilot's numbers.
        difference: the smallest that matters, where two are compared; None for the pilot's own.
        price: of one rating.
    """
    human = data.humans.get(aim.criterion_id)
    ratings = human.ratings if human is not None else None
    units = data.units.unweighted
    rated = np.zeros(len(units)) if human is None else (~np.isnan(human.mean)).astype(float)
    documents = int(units.documents_with(rated > 0).sum())
    per_document = float(rated.sum() / documents) if documents else 0.0
    seconds = _seconds_per_rating(aim.criterion.project_id)
    found: list[tuple[int, FloatArray, float]] = []
    if human is not None and ratings is not None:
        for raters, mean in _by_raters(human, ratings):
            found.append((raters, *values_of(aim, data, units, mean)))
    whole = found[-1][1] if found else np.empty(0)
    counting = int((~np.isnan(whole)).sum())
    own = float(np.nanmean(whole)) if counting else None
    wanted = difference if difference is not None else own
    judge_money = _money_per_output(aim)
    rows = tuple(
        _row(
            aim, raters, values, most, wanted, documents, per_document, seconds, price, judge_money
        )
        for raters, values, most in found
    )
    shown = None if aim.kind == GoalKind.WIDTH else wanted
    return Plan(rows, documents, counting, per_document, seconds, shown)


def _row(
    aim: CampaignGoal,
    raters: int,
    values: FloatArray,
    most: float,
    wanted: float | None,
    documents: int,
    per_document: float,
    seconds: float | None,
    price: Decimal | None,
    judge_money: Decimal | None,
) -> Planned:
    counting = int((~np.isnan(values)).sum())
    estimate = float(np.nanmean(values)) if counting else None
    if aim.kind == GoalKind.WIDTH:
        width = aim.width or 0.0
        once = for_width(values, width)
    else:
        width = abs(wanted or 0.0)
        once = for_power(values, width)
    looking = for_any_time(values, width, lowest=-most, highest=most) if width else once
    # Documents that say nothing are rated, too.
    times = documents / counting if counting else 1.0
    once, looking = _of_all(once, times), _of_all(looking, times)
    if once.promised is None:
        return Planned(raters, estimate, once, looking)
    outputs = int(np.ceil(once.promised * per_document))
    return Planned(
        raters,
        estimate,
        once,
        looking,
        ratings=outputs * raters,
        hours=None if seconds is None else outputs * raters * seconds / 3600,
        people_money=None if price is None else price * outputs * raters,
        judge_money=None if judge_money is None else judge_money * outputs,
    )


def _of_all(needed: Needed, times: float) -> Needed:
    """In documents to be rated, of which one in so many counts."""
    likely, promised = (
        None if count is None else int(np.ceil(count * times))
        for count in (needed.likely, needed.promised)
    )
    return Needed(likely, promised, needed.reason)


def _by_raters(human: HumanScores, ratings: Ratings) -> list[tuple[int, FloatArray]]:
    """The human mean of each output with one rater and more, shape (outputs,), NaN for outputs that
    have fewer; the last is of all that there are."""
    if not len(ratings):
        return [(1, human.mean)] if not np.isnan(human.mean).all() else []
    most = min(int(np.median(ratings.count[ratings.count > 0])), MOST_RATERS)
    order = np.lexsort((np.random.default_rng(SEED).random(len(ratings)), ratings.output))
    first = np.cumsum(ratings.count) - ratings.count
    place = np.empty(len(ratings), dtype=np.int64)
    place[order] = np.arange(len(ratings)) - first[ratings.output[order]]
    found = []
    for raters in range(1, most + 1):
        chosen = (place < raters) & (ratings.count[ratings.output] >= raters)
        part = Ratings(
            ratings.output[chosen], ratings.rater[chosen], ratings.value[chosen],
            ratings.outputs, ratings.raters,
        )  # fmt: skip
        found.append((raters, part.means()))
    return found


def _seconds_per_rating(project_id: int) -> float | None:
    """The median time that an item of the project's campaigns took, idle time left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.seconds)
               FROM annotations_assignment a
               JOIN annotations_campaign c ON c.id = a.campaign_id
               WHERE c.project_id = %s AND a.state = 'submitted' AND a.seconds IS NOT NULL""",
            [project_id],
        )
        found = cursor.fetchone()[0]
        return None if found is None else float(found)


def _money_per_output(aim: CampaignGoal) -> Decimal | None:
    """What the judges' calls for one output cost, by their runs so far; None where nothing is
    known."""
    judges: list[Judge] = [one for one in aim.sides if isinstance(one, Judge)]
    known = [cost_of(judge).money for judge in judges]
    costs = [money for money in known if money is not None]
    return sum(costs, Decimal(0)) / PER if costs else None


def other_pilots(project: Project, user: object) -> list[Project]:
    """Other projects of a user with ratings and scores, which can be planned from."""
    return [
        one
        for one in Project.objects.seen_by(user).exclude(pk=project.pk).order_by("name")[:50]
        if one.annotators.exists() and one.judges.exists()
    ]
