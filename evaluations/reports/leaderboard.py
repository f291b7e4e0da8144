"""Systems ranked by people's comparisons (Davidson's model), and how far judges agree with people
on the same pairs."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from annotations.models import Preference
from evaluations.models import Judge, Project
from evaluations.reports.data import ReportData
from evaluations.reports.pairwise import PairwiseJudge, pairwise_judges
from evaluations.statistics.preferences import Davidson, davidson
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate


@dataclass(frozen=True)
class Standing:
    """A system's strength with its 95 % interval; `wins`, `ties` and `losses` are the comparisons
    behind it."""

    system: str
    strength: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class JudgeOnPairs:
    """How often a judge orders two outputs as people do, ties of people left out; half a point for
    a judge's tie."""

    judge: str
    agreement: Estimate
    pairs: int


@dataclass(frozen=True)
class Leaderboard:
    """Results of comparisons; `left_share` is how often the left output won, of the comparisons
    that know sides and have a winner, with its exact interval and p-value against one half."""

    comparisons: int
    standings: tuple[Standing, ...]
    tie: float | None
    left_share: float | None
    left_p: float | None
    left_interval: Interval
    judges: tuple[JudgeOnPairs, ...]
    pairwise: tuple[PairwiseJudge, ...] = ()
    reason: str = ""


def leaderboard(
    project: Project, data: ReportData, judges: list[Judge], criterion_id: int | None
) -> Leaderboard:
    """The ranking by comparisons on a criterion (None: overall)."""
    rows = list(
        Preference.objects.filter(annotator__project=project, criterion=criterion_id).values_list(
            "output_a__document", "output_a__system", "output_b__system", "value", "a_was_left"
        )
    )
    place = {int(pk): index for index, pk in enumerate(data.system_ids)}
    known = [row for row in rows if row[1] in place and row[2] in place]
    size = len(place)
    wins, ties = np.zeros((size, size)), np.zeros((size, size))
    for _document, a, b, value, _left in known:
        first, second = (place[a], place[b]) if value >= 0 else (place[b], place[a])
        if value:
            wins[first, second] += 1
        else:
            ties[first, second] += 1
            ties[second, first] += 1
    compared = np.flatnonzero((wins + wins.T + ties).sum(axis=1) > 0)
    part = np.ix_(compared, compared)
    fitted = davidson(wins[part], ties[part])
    said: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for document, a, b, value, _left in known:
        said[document, a, b].append(value)
    sides = [(value > 0) == left for *_, value, left in known if value and left is not None]
    return Leaderboard(
        comparisons=len(known),
        standings=_standings(data, compared, fitted, wins, ties),
        tie=fitted.tie if fitted.connected else None,
        left_share=float(np.mean(sides)) if sides else None,
        left_p=float(stats.binomtest(sum(sides), len(sides)).pvalue) if sides else None,
        left_interval=_left_interval(sides),
        judges=tuple(
            _on_pairs(data, judge, criterion_id, known, place)
            for judge in judges
            if not judge.compares_pairs
        ),
        pairwise=(
            pairwise_judges(
                project,
                judges,
                criterion_id,
                preferred=said,
                strengths=(
                    dict(
                        zip(
                            data.system_ids[compared].tolist(),
                            fitted.strengths.tolist(),
                            strict=True,
                        )
                    )
                    if fitted.connected
                    else {}
                ),
                names=dict(zip(data.system_ids.tolist(), data.system_names, strict=True)),
            )
            if criterion_id is not None
            else ()
        ),
        reason=(
            ""
            if fitted.connected or not known
            else (
                "some systems have won or lost all comparisons, or were never compared, not even "
                "indirectly; more comparisons are needed"
            )
        ),
    )


def _left_interval(sides: list[bool]) -> Interval:
    """Clopper and Pearson's exact interval of the left output's share."""
    if not sides:
        return Interval(None, None, 0, "no comparison records which output was on the left")
    ends = stats.binomtest(sum(sides), len(sides)).proportion_ci(0.95)
    return Interval(float(ends.low), float(ends.high))


def _standings(
    data: ReportData, compared: np.ndarray, fitted: Davidson, wins: np.ndarray, ties: np.ndarray
) -> tuple[Standing, ...]:
    half = stats.norm.ppf(0.975)
    found = [
        Standing(
            system=data.system_names[column],
            strength=float(fitted.strengths[index]),
            low=float(fitted.strengths[index] - half * fitted.standard_errors[index]),
            high=float(fitted.strengths[index] + half * fitted.standard_errors[index]),
            wins=int(wins[column].sum()),
            ties=int(ties[column].sum()),
            losses=int(wins[:, column].sum()),
        )
        for index, column in enumerate(compared)
    ]
    # Without a fit, by wins less losses.
    return tuple(
        sorted(
            found,
            key=lambda one: one.losses - one.wins if np.isnan(one.strength) else -one.strength,
        )
    )


def _on_pairs(
    data: ReportData, judge: Judge, criterion_id: int | None, rows: list[Any], place: dict[int, int]
) -> JudgeOnPairs:
    tables = [
        table
        for (criterion, pk), table in data.judges.items()
        if pk == judge.pk and criterion == criterion_id
    ]
    if criterion_id is None:  # overall: the mean over the criteria that the judge has scores on
        every = [table for (_criterion, pk), table in data.judges.items() if pk == judge.pk]
        tables = [np.mean(every, axis=0)] if every else []
    if not tables:
        return JudgeOnPairs(judge.label, Estimate.undefined("the judge has no scores"), 0)
    document_place = {int(pk): index for index, pk in enumerate(data.document_ids)}
    points = []
    for document, a, b, value, _left in rows:
        if value and document in document_place:
            gap = (
                tables[0][document_place[document], place[a]]
                - tables[0][document_place[document], place[b]]
            )
            if not np.isnan(gap):
                points.append(0.5 if abs(gap) < 1e-10 else float((gap > 0) == (value > 0)))
    if not points:
        return JudgeOnPairs(
            judge.label,
            Estimate.undefined("the judge has not scored both outputs of any compared pair"),
            0,
        )
    return JudgeOnPairs(judge.label, Estimate(float(np.mean(points))), len(points))
