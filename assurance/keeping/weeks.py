"""What a policy in use kept, week by week, and whether its promise still holds."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np

from annotations.models import Campaign
from assurance.keeping.using import undecided_outputs
from evaluations.models import Policy
from evaluations.reports.serving.live import live_data
from geval.improving.policy import error_of
from geval.improving.policy_watch import PromiseToday, Sample, moved, promise_today
from geval.improving.promises import loss_of, parse_promise
from geval.reports.data import ReportData
from geval.statistics.arrays import Outputs, positions
from geval.statistics.calibration import Isotonic
from geval.statistics.ppi import ppi_table
from geval.statistics.types import FloatArray, IntArray

TEXTS, JUDGE, PEOPLE = "texts (their length)", "judge (its scores)", "people (beside the judge)"


@dataclass(frozen=True)
class Week:
    """A week: how many outputs were decided and kept, how many of them people rated, the mean of
    people's ratings over all of them as estimated from these and the judge's scores, with its
    interval (None for too few), and what moved since the proof."""

    begins: date
    decided: int
    kept: int
    rated: int
    rate: float | None
    low: float | None
    high: float | None
    moved: tuple[str, ...]

    @property
    def coverage(self) -> float:
        return self.kept / self.decided


class Decided(NamedTuple):
    """A decision on an output, by id."""

    output: int
    is_kept: bool
    is_by_second: bool
    is_checked: bool
    decided_at: datetime


@dataclass(frozen=True)
class PolicyInUse:
    """The weeks of a policy, the newest first; `waiting` outputs are not decided yet."""

    policy: Policy
    campaign: Campaign | None
    today: PromiseToday
    weeks: tuple[Week, ...]
    waiting: int

    @property
    def error(self) -> str:
        """The error of checked answers, with the interval that is valid at any time."""
        today = self.today
        if today.error is None:
            return ""
        return error_of(parse_promise(self.policy.promise), today.error, today.low, today.high)


def policy_in_use(policy: Policy) -> PolicyInUse:
    """Return what became of a policy."""
    data = live_data(policy.project)
    rows = [
        Decided(*row)
        for row in policy.decisions.order_by("pk").values_list(
            "output", "is_kept", "is_by_second", "is_checked", "decided_at"
        )
    ]
    by_week: dict[date, list[Decided]] = {}
    for decided in rows:
        at = decided.decided_at
        by_week.setdefault(at.date() - timedelta(days=at.weekday()), []).append(decided)
    return PolicyInUse(
        policy,
        Campaign.objects.filter(pk=policy.campaign or 0, project=policy.project_id).first(),
        _today(policy, data, [row for row in rows if row.is_checked]),
        tuple(
            _week(policy, data, begins, by_week[begins]) for begins in sorted(by_week, reverse=True)
        ),
        undecided_outputs(policy).count(),
    )


def _part(data: ReportData, ids: list[int]) -> IntArray:
    """Return where outputs are in the data, without those that are not there."""
    at = positions(np.array(ids, dtype=np.int64), data.output_ids)
    return at[at >= 0]


def _today(policy: Policy, data: ReportData, checked: list[Decided]) -> PromiseToday:
    """Return whether the promise holds by the checked answers, in the order of decisions."""
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
    ordered = _part(data, [each.output for each in checked])
    return promise_today(loss[ordered], promise.bound, scale.highest - scale.lowest)


def _scores(policy: Policy, data: ReportData, judge: int) -> FloatArray:
    missing = np.full(len(data.output_ids), np.nan)
    return data.judges.get((policy.criterion_id, judge), missing)


def _week(policy: Policy, data: ReportData, begins: date, decided: list[Decided]) -> Week:
    places = _part(data, [each.output for each in decided])
    # Of the kept outputs, only those drawn at random stand for all of them, whoever else rated any.
    checked, kept = np.zeros((2, len(data.output_ids)), dtype=bool)
    kept[_part(data, [each.output for each in decided if each.is_kept])] = True
    checked[_part(data, [each.output for each in decided if each.is_checked])] = True
    human = np.where(checked | ~kept, data.humans[policy.criterion_id].mean, np.nan)
    weight = np.where(kept, 1 / policy.check_share, 1.0)
    outputs = Outputs(
        data.units.document[places], np.zeros(len(places), dtype=np.int64), data.units.documents, 1,
        weight[places],
    )  # fmt: skip
    mean = (
        ppi_table(outputs, human[places], _scores(policy, data, policy.judge_id)[places])
        .systems[0]
        .mean
    )
    return Week(
        begins,
        len(decided),
        sum(each.is_kept for each in decided),
        int((~np.isnan(human[places])).sum()),
        None if mean is None else mean.estimate,
        None if mean is None else mean.low,
        None if mean is None else mean.high,
        _moved(policy, data, places, human, weight),
    )


def _moved(
    policy: Policy, data: ReportData, places: IntArray, human: FloatArray, weight: FloatArray
) -> tuple[str, ...]:
    """Return what differs between a week's outputs and those that were there when the policy came
    into use.

    Args:
        human, weight: shape (outputs,), of the week's outputs that were drawn.
    """
    scores, rated = _scores(policy, data, policy.judge_id), data.humans[policy.criterion_id].mean
    before = np.flatnonzero((data.output_ids <= policy.after_output) & ~np.isnan(scores))
    document, equal = data.units.clustered.document, np.ones(len(data.output_ids))

    def sides(then: FloatArray, now: FloatArray, weights: FloatArray) -> tuple[Sample, Sample]:
        return (
            Sample(then[before], equal[before], document[before]),
            Sample(now[places], weights[places], document[places]),
        )

    return moved(
        {
            TEXTS: sides(np.log1p(data.words), np.log1p(data.words), equal),
            JUDGE: sides(scores, scores, equal),
            PEOPLE: sides(rated - scores, human - scores, weight),
        }
    )
