"""Systems ranked by people's comparisons (Davidson's model), and how far judges agree with people
on the same pairs."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.pairwise import PairVerdict, PairwiseJudge, pairwise_judges
from geval.reports.samples import marked
from geval.statistics.arrays import positions
from geval.statistics.comparisons import (
    Agreed,
    ChoiceAgreement,
    PairChoice,
    agreement_among,
    agreement_with,
    decided,
    share_interval,
)
from geval.statistics.jackknife import LeftOut, no_interval
from geval.statistics.preferences import MOST_RANKED, Davidson, davidson_intervals
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate
from geval.texts.subjects import JudgeLike
from geval.texts.turns import question_of

OVERALL = "overall"
# Means of several scores are inexact as floats: a gap this small is a tie.
SAME = 1e-10
NOT_RANKED = "{:,} systems are compared; at most {} are ranked"


@dataclass(frozen=True)
class ComparedSystems:
    """A person's comparison of two systems' outputs for a document, by ids."""

    document: int
    first: int
    second: int
    value: int
    first_was_left: bool | None
    annotator: int

    @property
    def pair(self) -> tuple[int, int, int]:
        return self.document, self.first, self.second


@dataclass(frozen=True)
class Side:
    """How often people agree with each other, or a judge with people, on comparisons; `is_seen`
    says that the judge's search has seen documents behind it."""

    name: str
    agreement: ChoiceAgreement
    is_people: bool
    is_seen: bool = False

    @property
    def words(self) -> str:
        if self.is_people:
            return "people with each other"
        return f"{marked(self.name, is_seen=self.is_seen)} with people"

    @property
    def setups(self) -> tuple[Agreed, Agreed]:
        return self.agreement.with_ties, self.agreement.without_ties


@dataclass(frozen=True)
class SystemStanding:
    """A system's strength with its 95 % interval over documents; `wins`, `ties` and `losses` are
    the comparisons behind it."""

    system: str
    strength: float
    interval: Interval
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class JudgeOnPairs:
    """How often a judge orders two outputs like people, without people's ties; half a point for a
    judge's tie."""

    judge: str
    agreement: Estimate
    pairs: int
    is_seen: bool = False

    @property
    def named(self) -> str:
        """The judge's name next to its numbers."""
        return marked(self.judge, is_seen=self.is_seen)


@dataclass(frozen=True)
class Leaderboard:
    """Results of comparisons; `left_share` is how often the left output won, among comparisons with
    known sides and a winner, with its interval over documents."""

    comparisons: int
    standings: tuple[SystemStanding, ...]
    tie: float | None
    left_share: float | None
    left_interval: Interval
    judges: tuple[JudgeOnPairs, ...]
    pairwise: tuple[PairwiseJudge, ...] = ()
    agreement: tuple[Side, ...] = ()
    reason: str = ""


def with_seen(board: Leaderboard, seen: Collection[str]) -> Leaderboard:
    """Mark in a leaderboard the judges whose search has seen documents behind their numbers.

    Args:
        seen: labels of judges.
    """
    return replace(
        board,
        judges=tuple(replace(row, is_seen=row.judge in seen) for row in board.judges),
        pairwise=tuple(replace(row, is_seen=row.judge in seen) for row in board.pairwise),
        agreement=tuple(
            replace(row, is_seen=not row.is_people and row.name in seen) for row in board.agreement
        ),
    )


def leaderboard(
    data: ReportData,
    judges: Sequence[JudgeLike],
    criterion_id: int | None,
    compared_pairs: Sequence[ComparedSystems],
    verdicts: Mapping[int, Sequence[PairVerdict]],
) -> Leaderboard:
    """Return the ranking by comparisons on a criterion (None: overall).

    Args:
        compared_pairs: people's choices.
        verdicts: choices of pairwise judges, by judge id.
    """
    names = dict(zip(data.system_ids.tolist(), data.system_names, strict=True))
    pairs = compared_pairs
    met = sorted({system for row in pairs for system in (row.first, row.second)})
    place = {system: index for index, system in enumerate(met)}
    compared = positions(np.array(met, dtype=np.int64), data.system_ids)
    answers_of_pairs: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    question, questions = _questions(data, pairs)
    documents = LeftOut.each(questions)
    is_ranked = len(met) <= MOST_RANKED
    size = len(met) if is_ranked else 0
    wins, ties = np.zeros((2, documents.groups, size, size))
    counts = np.zeros((3, len(met)), dtype=int)
    won, tied, lost = counts
    left, sided = np.zeros((2, questions))
    for row, position in zip(pairs, question, strict=True):
        answers_of_pairs[row.pair].append(row.value)
        sides = (place[row.first], place[row.second])
        first, second = sides if row.value >= 0 else sides[::-1]
        if row.value:
            won[first] += 1
            lost[second] += 1
        else:
            tied[[first, second]] += 1
        if is_ranked:
            group = documents.group[position]
            if row.value:
                wins[group, first, second] += 1
            else:
                ties[group, first, second] += 1
                ties[group, second, first] += 1
        if row.value and row.first_was_left is not None:
            sided[position] += 1
            left[position] += (row.value > 0) == row.first_was_left
    fitted, intervals = (
        davidson_intervals(wins, ties, documents, questions) if is_ranked else _unranked(len(met))
    )
    scored = {pk for _criterion, pk in data.judges}
    strengths = zip(met, fitted.strengths.tolist(), strict=True)
    return Leaderboard(
        comparisons=len(pairs),
        standings=_standings(data, compared, fitted, intervals, counts),
        tie=fitted.tie if fitted.connected else None,
        left_share=float(left.sum() / sided.sum()) if sided.any() else None,
        left_interval=share_interval(left[sided > 0], sided[sided > 0]),
        judges=tuple(
            _on_pairs(data, judge, criterion_id, pairs)
            for judge in judges
            if judge.pk in scored and judge.pk not in verdicts and not judge.compares_pairs
        ),
        pairwise=pairwise_judges(
            judges,
            verdicts,
            preferred=answers_of_pairs,
            strengths=dict(strengths) if fitted.connected else {},
            names=names,
        ),
        agreement=_agreement(data, judges, criterion_id, pairs, question, verdicts),
        reason=_no_strengths(fitted, len(met)),
    )


def _unranked(systems: int) -> tuple[Davidson, tuple[Interval, ...]]:
    unknown = np.full(systems, np.nan)
    none = no_interval("systems are not ranked")
    return Davidson(unknown, np.nan, np.empty((0, 0)), False), (none,) * systems


def _no_strengths(fitted: Davidson, systems: int) -> str:
    """Return why systems have no strengths, or an empty text."""
    if fitted.connected or not systems:
        return ""
    if systems > MOST_RANKED:
        return NOT_RANKED.format(systems, MOST_RANKED)
    return (
        "some systems have won or lost all comparisons (ties apart), or were never "
        "compared, not even indirectly; more comparisons are needed"
    )


def _questions(data: ReportData, rows: Sequence[ComparedSystems]) -> tuple[list[int], int]:
    """Return the document of each comparison, numbered from 0, turns of a question counting as one;
    and their number."""
    names = dict(zip(data.document_ids.tolist(), data.doc_ids, strict=True))
    numbers: dict[str, int] = {}
    each = [numbers.setdefault(question_of(names[row.document]), len(numbers)) for row in rows]
    return each, len(numbers)


def _agreement(
    data: ReportData,
    judges: Sequence[JudgeLike],
    criterion_id: int | None,
    comparisons: Sequence[ComparedSystems],
    question: Sequence[int],
    verdicts: Mapping[int, Sequence[PairVerdict]],
) -> tuple[Side, ...]:
    """Return the agreement of people with each other, then of each judge with people, the highest
    first.

    Args:
        question: the document of each comparison, turns of a question counting as one.
    """
    if not comparisons:
        return ()
    choices = [
        PairChoice(index, row.pair, row.annotator, int(np.sign(row.value)))
        for row, index in zip(comparisons, question, strict=True)
    ]
    sides = []
    for judge in judges:
        decisions: dict[Hashable, int] = {}
        if judge.pk in verdicts:
            for verdict in verdicts[judge.pk]:
                pair = (verdict.document, verdict.first, verdict.second)
                decisions[pair] = decided(verdict.value, verdict.tie, verdict.left)
        elif not judge.compares_pairs:
            for pair, gap in _gaps(data, judge, criterion_id, comparisons).items():
                decisions[pair] = 0 if abs(gap) < SAME else int(np.sign(gap))
        if decisions:
            sides.append(Side(judge.label, agreement_with(decisions, choices), is_people=False))
    sides.sort(key=lambda side: -(side.agreement.with_ties.estimate.value or 0.0))
    return Side("people", agreement_among(choices), is_people=True), *sides


def _standings(
    data: ReportData,
    compared: np.ndarray,
    fitted: Davidson,
    intervals: Sequence[Interval],
    counts: np.ndarray,
) -> tuple[SystemStanding, ...]:
    strengths = [
        SystemStanding(
            system=data.system_names[column],
            strength=float(fitted.strengths[index]),
            interval=intervals[index],
            wins=won,
            ties=tied,
            losses=lost,
        )
        for index, (column, (won, tied, lost)) in enumerate(
            zip(compared, counts.T.tolist(), strict=True)
        )
    ]
    # Without a fit, by wins minus losses.
    return tuple(
        sorted(
            strengths,
            key=lambda standing: (
                standing.losses - standing.wins
                if np.isnan(standing.strength)
                else -standing.strength
            ),
        )
    )


def _gaps(
    data: ReportData, judge: JudgeLike, criterion_id: int | None, rows: Sequence[ComparedSystems]
) -> dict[tuple[int, int, int], float]:
    """Return a judge's score of the first output minus that of the second, where it scored both."""
    on_criteria = [
        scores
        for (criterion, pk), scores in data.judges.items()
        if pk == judge.pk and criterion_id in (None, criterion)
    ]
    if not on_criteria or not rows:
        return {}
    # Overall: the mean over the criteria on which the judge has scores.
    scores = np.mean(on_criteria, axis=0)
    document = positions(np.array([row.document for row in rows]), data.document_ids)
    first, second = (
        data.outputs.at(document, positions(np.array(systems), data.system_ids))
        for systems in zip(*((row.first, row.second) for row in rows), strict=True)
    )
    are_compared = (first >= 0) & (second >= 0)
    differences = np.where(are_compared, scores[first] - scores[second], np.nan)
    gaps = {row.pair: float(gap) for row, gap in zip(rows, differences, strict=True)}
    return {pair: gap for pair, gap in gaps.items() if not np.isnan(gap)}


def _on_pairs(
    data: ReportData, judge: JudgeLike, criterion_id: int | None, rows: Sequence[ComparedSystems]
) -> JudgeOnPairs:
    gaps = _gaps(data, judge, criterion_id, rows)
    points = [
        0.5 if abs(gaps[row.pair]) < SAME else float((gaps[row.pair] > 0) == (row.value > 0))
        for row in rows
        if row.value and row.pair in gaps
    ]
    if not points:
        return JudgeOnPairs(
            judge.label,
            Estimate.undefined("the judge has not scored both outputs of any compared pair"),
            0,
        )
    return JudgeOnPairs(judge.label, Estimate(float(np.mean(points))), len(points))
