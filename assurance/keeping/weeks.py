"""What a policy in use kept, week by week, and whether its promise still holds; of a large project
a worker computes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from django.db.models import Max

from annotations.models import Campaign
from assurance.keeping.using import undecided_outputs
from evaluations.models import Policy, Project
from evaluations.reports.serving.parts import NotComputedError, PageParts, part_of_page
from evaluations.reports.serving.view import page_view
from geval.improving.policy import error_of
from geval.improving.policy_watch import (
    PromiseToday,
    Sample,
    moved,
    promise_today,
    weight_of_rated,
)
from geval.improving.promises import loss_of, parse_promise
from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.statistics.arrays import Outputs, positions
from geval.statistics.calibration import Isotonic
from geval.statistics.ppi import PpiMean, ppi_table
from geval.statistics.types import FloatArray, IntArray
from geval.texts.numbers import whole_number

TEXTS, JUDGE, PEOPLE = "texts (their length)", "judge (its scores)", "people (beside the judge)"


@dataclass(frozen=True)
class Week:
    """A week from its Monday on: how many outputs were decided and kept, how many of them people
    rated, the mean of people's ratings over all of them as estimated from these and the judge's
    scores (None for too few), and what moved since the proof."""

    begins: datetime
    decided: int
    kept: int
    rated: int
    rate: PpiMean | None
    moved: tuple[str, ...]

    @property
    def coverage(self) -> float:
        return self.kept / self.decided


@dataclass(frozen=True)
class Weeks:
    """Whether a policy's promise holds today, and its weeks, the newest first."""

    today: PromiseToday
    weeks: tuple[Week, ...]


class Decided(NamedTuple):
    """A decision on an output, by id."""

    output: int
    is_kept: bool
    is_by_second: bool
    is_checked: bool
    decided_at: datetime


@dataclass(frozen=True)
class WeeksView:
    """The weeks of a policy, by its id."""

    policy: int
    options: ReportOptions

    @property
    def query(self) -> str:
        return urlencode({"policy": self.policy})


@dataclass(frozen=True)
class PolicyInUse:
    """A policy in use: its weeks, or (None) how far a worker is with them, in words. `waiting`
    outputs are not decided yet."""

    policy: Policy
    campaign: Campaign | None
    weeks: Weeks | None
    coming: str
    waiting: int

    @property
    def error(self) -> str:
        """The error of checked answers, with the interval that is valid at any time."""
        today = self.weeks.today if self.weeks else None
        if today is None or today.error is None:
            return ""
        return error_of(parse_promise(self.policy.promise), today.error, today.low, today.high)


def policy_in_use(policy: Policy) -> PolicyInUse:
    """Return what became of a policy."""
    view = page_view(policy.project, POLICY_WEEKS, WeeksView(policy.pk, ReportOptions()))
    try:
        weeks, coming = view.part("page"), ""
    except NotComputedError:
        weeks, coming = None, view.in_words
    campaign = Campaign.objects.filter(pk=policy.campaign or 0, project=policy.project_id).first()
    return PolicyInUse(policy, campaign, weeks, coming, undecided_outputs(policy).count())


def _weeks(project: Project, data: ReportData, view: WeeksView) -> Weeks | None:
    policy = project.policies.select_related("criterion").filter(pk=view.policy).first()
    if policy is None:
        return None
    decisions = policy.decisions.order_by("pk").values_list(*Decided._fields)
    rows = [Decided(*row) for row in decisions]
    by_week: dict[datetime, list[Decided]] = {}
    for decided in rows:
        day = datetime.combine(decided.decided_at.date(), datetime.min.time())
        by_week.setdefault(day - timedelta(days=day.weekday()), []).append(decided)
    return Weeks(
        _today(policy, data, [row for row in rows if row.is_checked]),
        tuple(
            _week(policy, data, begins, by_week[begins]) for begins in sorted(by_week, reverse=True)
        ),
    )


def _read_view(query: Mapping[str, Any], options: ReportOptions) -> WeeksView:
    return WeeksView(whole_number(str(query.get("policy", "")), default=0), options)


POLICY_WEEKS = PageParts("policy", "judge_list", _read_view, part_of_page(Weeks, _weeks))


def _part(data: ReportData, ids: list[int]) -> IntArray:
    """Return where outputs are in the data, without those that are not there."""
    at = positions(np.array(ids, dtype=np.int64), data.output_ids)
    return at[at >= 0]


def _today(policy: Policy, data: ReportData, checked: list[Decided]) -> PromiseToday:
    """Return whether the promise holds by the checked answers, in the order of their ratings: what
    was looked at earlier must stay as it was."""
    promise, scale = parse_promise(policy.promise), policy.criterion.scale
    content, human = policy.content, data.humans[policy.criterion_id]
    loss = np.full(len(data.output_ids), np.nan)
    sides = [(policy.judge_id, content["calibration"], policy.rule, False)]
    if policy.second_id is not None:
        sides.append((policy.second_id, content["second_calibration"], policy.second_rule, True))
    for judge, pairs, rule, is_second in sides:
        scores = _scores(policy, data, judge)
        answers = Isotonic(*np.array(pairs).T)(scores) if pairs else scores
        own = _part(data, [each.output for each in checked if each.is_by_second == is_second])
        loss[own] = loss_of(promise, human, answers, scale=scale, mark=rule["mark"])[own]
    ratings = policy.criterion.ratings.filter(output__in=[each.output for each in checked])
    rated_at = dict(ratings.order_by().values_list("output").annotate(Max("created_at")))
    ordered = _part(data, sorted(rated_at, key=lambda output: (rated_at[output], output)))
    return promise_today(loss[ordered], promise.bound, scale.highest - scale.lowest)


def _scores(policy: Policy, data: ReportData, judge: int) -> FloatArray:
    missing = np.full(len(data.output_ids), np.nan)
    return data.judges.get((policy.criterion_id, judge), missing)


def _week(policy: Policy, data: ReportData, begins: datetime, decided: list[Decided]) -> Week:
    places = _part(data, [each.output for each in decided])
    # Of the kept outputs, only those drawn at random stand for all of them, whoever else rated any.
    checked, kept = np.zeros((2, len(data.output_ids)), dtype=bool)
    kept[_part(data, [each.output for each in decided if each.is_kept])] = True
    checked[_part(data, [each.output for each in decided if each.is_checked])] = True
    human = np.where(checked | ~kept, data.humans[policy.criterion_id].mean, np.nan)[places]
    scores = _scores(policy, data, policy.judge_id)[places]
    # `geval.rate` on pass or fail takes labels that are equally likely among all passes; here they
    # are among the kept outputs, and among the others. Its estimate by weights has room for that.
    weight = weight_of_rated(kept[places], ~np.isnan(human))
    rate = None
    if weight is not None:
        outputs = Outputs(
            data.units.document[places], np.zeros(len(places), dtype=np.int64),
            data.units.documents, 1, weight,
        )  # fmt: skip
        rate = ppi_table(outputs, human, scores).systems[0].mean
    return Week(
        begins,
        len(decided),
        sum(each.is_kept for each in decided),
        int((~np.isnan(human)).sum()),
        rate,
        _moved(policy, data, places, human, weight),
    )


def _moved(
    policy: Policy, data: ReportData, places: IntArray, human: FloatArray, weight: FloatArray | None
) -> tuple[str, ...]:
    """Return what differs between a week's outputs and those that were there when the policy came
    into use.

    Args:
        human, weight: shape (places,), of those that were drawn; None where they stand for no week.
    """
    scores, rated = _scores(policy, data, policy.judge_id), data.humans[policy.criterion_id].mean
    before = np.flatnonzero((data.output_ids <= policy.after_output) & ~np.isnan(scores))
    document, length = data.units.clustered.document, np.log1p(data.words)

    def sides(then: FloatArray, now: FloatArray, weights: FloatArray) -> tuple[Sample, Sample]:
        return (
            Sample(then[before], np.ones(len(before)), document[before]),
            Sample(now, weights, document[places]),
        )

    equal = np.ones(len(places))
    pairs = {
        TEXTS: sides(length, length[places], equal),
        JUDGE: sides(scores, scores[places], equal),
    }
    if weight is not None:
        pairs[PEOPLE] = sides(rated - scores, human - scores[places], weight)
    return moved(pairs)
