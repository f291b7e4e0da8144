"""Analyse judges that compare two outputs: agreement with people, position bias, ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geval.reports.samples import marked
from geval.statistics.correlation import coefficient_of
from geval.statistics.preferences import MOST_RANKED, bradley_terry
from geval.statistics.types import Estimate
from geval.texts.subjects import JudgeLike

# Means of several verdicts are inexact as floats: 0.5 prefers neither.
SAME = 1e-9


@dataclass(frozen=True)
class PairVerdict:
    """A judge's preference in one document between two systems."""

    document: int
    first: int
    second: int
    value: float
    tie: float
    left: float | None


@dataclass(frozen=True)
class PairwiseJudge:
    """A pairwise judge on one criterion.

    `agreement` is how often it prefers the same output as a person, over `asked` comparisons with a
    winner, half a point where it is undecided. `left` is the share of its preference for the text
    shown first, over both orders: 0.5 means no position bias. `ranking` holds systems with their
    Bradley-Terry strengths, the best first; `tau` is Kendall's with people's strengths.
    """

    judge: str
    pairs: int
    agreement: Estimate
    comparisons: int
    left: float | None
    tie: float
    ranking: tuple[tuple[str, float], ...]
    tau: Estimate
    is_seen: bool = False

    @property
    def named(self) -> str:
        """The judge's name next to its numbers."""
        return marked(self.judge, is_seen=self.is_seen)


def pairwise_judges(
    judges: Sequence[JudgeLike],
    by_judge: Mapping[int, Sequence[PairVerdict]],
    *,
    preferred: Mapping[tuple[int, int, int], Sequence[int]],
    strengths: Mapping[int, float],
    names: Mapping[int, str],
) -> tuple[PairwiseJudge, ...]:
    """Analyse the judges that compared outputs on a criterion.

    Args:
        by_judge: their verdicts, by judge id.
        preferred: people's choice for (document, system, system): positive for the first, negative
            for the second.
        strengths: people's Bradley-Terry or Davidson strengths by system.
        names: names of the systems to include.
    """
    return tuple(
        _judge(judge.label, by_judge[judge.pk], preferred, strengths, names)
        for judge in judges
        if by_judge.get(judge.pk)
    )


def _judge(
    label: str,
    verdicts: Sequence[PairVerdict],
    preferred: Mapping[tuple[int, int, int], Sequence[int]],
    strengths: Mapping[int, float],
    names: Mapping[int, str],
) -> PairwiseJudge:
    points = [
        0.5 if abs(verdict.value - 0.5) < SAME else float((verdict.value > 0.5) == (preference > 0))
        for verdict in verdicts
        for preference in preferred.get((verdict.document, verdict.first, verdict.second), ())
        if preference
    ]
    lefts = [verdict.left for verdict in verdicts if verdict.left is not None]
    systems = sorted({system for verdict in verdicts for system in (verdict.first, verdict.second)})
    place = {system: index for index, system in enumerate(systems)}
    of_judge: dict[int, float] = {}
    if len(systems) <= MOST_RANKED:
        wins = np.zeros((len(systems), len(systems)))
        for chosen in verdicts:
            wins[place[chosen.first], place[chosen.second]] += chosen.value
            wins[place[chosen.second], place[chosen.first]] += 1 - chosen.value
        fitted = bradley_terry(wins)
        of_judge = (
            dict(zip(systems, fitted.strengths.tolist(), strict=True)) if fitted.connected else {}
        )
    common = [system for system in systems if system in of_judge and system in strengths]
    return PairwiseJudge(
        judge=label,
        pairs=len(verdicts),
        agreement=(
            Estimate(float(np.mean(points)))
            if points
            else Estimate.undefined("people preferred none of the two in the pairs it compared")
        ),
        comparisons=len(points),
        left=float(np.mean(lefts)) if lefts else None,
        tie=float(np.mean([verdict.tie for verdict in verdicts])),
        ranking=tuple(
            (names[system], of_judge[system])
            for system in sorted(of_judge, key=lambda system: -of_judge[system])
        ),
        tau=coefficient_of(
            np.array([of_judge[system] for system in common]),
            np.array([strengths[system] for system in common]),
            "kendall",
            of="systems",
        ),
    )
