"""What a policy in use kept, week by week, and whether its promise still holds."""

from dataclasses import dataclass
from datetime import date, timedelta

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
    rows = list(
        policy.decisions.values_list("output", "is_kept", "is_checked", "decided_at").order_by("pk")
    )
    by_week: dict[date, list[tuple[int, bool]]] = {}
    for pk, is_kept, _is_checked, at in rows:
        monday = at.date() - timedelta(days=at.weekday())
        by_week.setdefault(monday, []).append((pk, is_kept))
    return PolicyInUse(
        policy,
        Campaign.objects.filter(pk=policy.campaign or 0, project=policy.project_id).first(),
        _today(policy, data, [pk for pk, _kept, is_checked, _at in rows if is_checked]),
        tuple(
            _week(policy, data, begins, by_week[begins]) for begins in sorted(by_week, reverse=True)
        ),
        undecided_outputs(policy).count(),
    )


def _part(data: ReportData, ids: list[int]) -> IntArray:
    """Return where outputs are in the data, without those that are not there."""
    at = positions(np.array(ids, dtype=np.int64), data.output_ids)
    return at[at >= 0]


def _today(policy: Policy, data: ReportData, checked: list[int]) -> PromiseToday:
    """Return whether the promise holds by the checked answers, in the order of decisions."""
    promise, scale = parse_promise(policy.promise), policy.criterion.scale
    scores, human = _scores(policy, data), data.humans[policy.criterion_id]
    pairs = policy.content["calibration"]
    answers = Isotonic(*np.array(pairs).T)(scores) if pairs else scores
    loss = loss_of(promise, human, answers, scale=scale, mark=policy.rule["mark"])
    return promise_today(loss[_part(data, checked)], promise.bound, scale.highest - scale.lowest)


def _scores(policy: Policy, data: ReportData) -> FloatArray:
    missing = np.full(len(data.output_ids), np.nan)
    return data.judges.get((policy.criterion_id, policy.judge_id), missing)


def _week(policy: Policy, data: ReportData, begins: date, decided: list[tuple[int, bool]]) -> Week:
    places = _part(data, [pk for pk, _is_kept in decided])
    kept = np.zeros(len(data.output_ids), dtype=bool)
    kept[_part(data, [pk for pk, is_kept in decided if is_kept])] = True
    human, scores = data.humans[policy.criterion_id].mean[places], _scores(policy, data)[places]
    weight = np.where(kept[places], 1 / policy.check_share, 1.0)
    outputs = Outputs(
        data.units.document[places], np.zeros(len(places), dtype=np.int64), data.units.documents, 1,
        weight,
    )  # fmt: skip
    mean = ppi_table(outputs, human, scores).systems[0].mean
    return Week(
        begins,
        len(decided),
        sum(is_kept for _pk, is_kept in decided),
        int((~np.isnan(human)).sum()),
        None if mean is None else mean.estimate,
        None if mean is None else mean.low,
        None if mean is None else mean.high,
        _moved(policy, data, places, weight),
    )


def _moved(
    policy: Policy, data: ReportData, places: IntArray, weight: FloatArray
) -> tuple[str, ...]:
    """Return what differs between a week's outputs and those that were there when the policy came
    into use."""
    human, scores = data.humans[policy.criterion_id].mean, _scores(policy, data)
    before = np.flatnonzero((data.output_ids <= policy.after_output) & ~np.isnan(scores))
    equal = np.ones(len(data.output_ids))

    def sides(values: FloatArray, of_rated: bool = False) -> tuple[Sample, Sample]:
        document = data.units.clustered.document
        weights = weight if of_rated else equal[places]
        return (
            Sample(values[before], equal[before], document[before]),
            Sample(values[places], weights, document[places]),
        )

    return moved(
        {
            TEXTS: sides(np.log1p(data.words)),
            JUDGE: sides(scores),
            PEOPLE: sides(human - scores, of_rated=True),
        }
    )
