"""The alternative annotator test: can a judge replace an annotator? (Calderon, Reichart and Dror,
2025.)

Each annotator is left out in turn. The judge and that annotator are compared, output by output, by
how near they are to the remaining annotators; the judge "wins" against an annotator if it is shown
to be at most `epsilon` worse.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.pairing import FloatArray, IntArray
from evaluations.statistics.results import Estimate
from evaluations.statistics.significance import benjamini_yekutieli

Q = 0.05
MOST_EPSILON = 1.0
STEP = 0.01
# What the paper asks for: outputs of each annotator, and annotators. With two, one chance win is
# half of all.
LEAST_OUTPUTS = 30
LEAST_ANNOTATORS = 3


@dataclass(frozen=True)
class AltTest:
    """The test at one epsilon.

    `winning_rate` is the share of annotators the judge wins against (it passes at 0.5), `advantage`
    the mean probability that the judge is as near to the others as the annotator. `p` and
    `advantages` are by annotator, whose positions are in `annotators`. `smallest_epsilon` is the
    smallest, in steps of 0.01, at which it passes; None if it passes at none.
    """

    epsilon: float
    winning_rate: Estimate
    advantage: Estimate
    p: tuple[float, ...]
    advantages: tuple[float, ...]
    outputs: int
    smallest_epsilon: float | None = None
    annotators: tuple[int, ...] = ()

    @property
    def passes(self) -> bool:
        return self.winning_rate.value is not None and self.winning_rate.value >= 0.5


@dataclass(frozen=True)
class _Duel:
    """The judge compared with one annotator: the mean of (annotator wins - judge wins), its
    standard error, degrees of freedom."""

    annotator: int
    mean: float
    error: float
    freedom: int
    outputs: int
    advantage: float

    def p(self, epsilon: float) -> float:
        """p of a one-sided t test that the mean difference is below epsilon."""
        if self.error == 0:
            return 0.0 if self.mean < epsilon else 1.0
        return float(stats.t.cdf((self.mean - epsilon) / self.error, self.freedom))


def alt_test(
    ratings: FloatArray,
    judge: FloatArray,
    *,
    epsilon: float = 0.2,
    q: float = Q,
    documents: IntArray | None = None,
    least_outputs: int = 2,
    least_annotators: int = 1,
) -> AltTest:
    """Test a judge against all annotators, by negative root mean squared distance to the others.

    Args:
        ratings: shape (raters, outputs), NaN for missing.
        judge: shape (outputs,), NaN for missing.
        epsilon: how much worse than an annotator the judge may be, as a probability, since
            annotators cost more: 0.2 in place of experts, 0.15 of skilled annotators, 0.1 of a
            crowd.
        documents: shape (outputs,), which document each belongs to: outputs of a document are
            alike, so the standard error is clustered by document. None takes outputs as unrelated.
        least_outputs, least_annotators: an annotator with fewer outputs does not count; with fewer
            annotators there is no test.
    """
    duels = _duels(ratings, judge, documents, least_outputs)
    if len(duels) < least_annotators:
        reason = (
            f"{least_annotators} annotators with {least_outputs} outputs each, rated by others too"
            f" and scored by the judge, are needed; there are {len(duels)}"
            if least_annotators > 1
            else "no output was rated by two annotators and scored by the judge"
        )
        nothing = Estimate.undefined(reason)
        return AltTest(epsilon, nothing, nothing, (), (), 0)
    smallest = _smallest(duels, q)
    p_values = [duel.p(epsilon) for duel in duels]
    return AltTest(
        epsilon,
        Estimate(_winning_rate(p_values, q)),
        Estimate(float(np.mean([duel.advantage for duel in duels]))),
        tuple(p_values),
        tuple(duel.advantage for duel in duels),
        max(duel.outputs for duel in duels),
        smallest,
        tuple(duel.annotator for duel in duels),
    )


def smallest_epsilon(ratings: FloatArray, judge: FloatArray, *, step: float = STEP) -> float | None:
    """The smallest epsilon, in steps, at which the judge passes; None if it passes at none up to
    1."""
    return _smallest(_duels(ratings, judge), Q, step)


def _smallest(duels: list[_Duel], q: float, step: float = STEP) -> float | None:
    """By bisection: the larger epsilon, the easier it is to pass."""
    grid = [round(index * step, 10) for index in range(int(MOST_EPSILON / step) + 1)]
    place = bisect_left(
        grid, 1, key=lambda epsilon: _winning_rate([duel.p(epsilon) for duel in duels], q) >= 0.5
    )
    return grid[place] if duels and place < len(grid) else None


def _winning_rate(p_values: list[float], q: float) -> float:
    return (
        float(np.mean([value <= q for value in benjamini_yekutieli(p_values)])) if p_values else 0.0
    )


def _duels(
    ratings: FloatArray,
    judge: FloatArray,
    documents: IntArray | None = None,
    least_outputs: int = 2,
) -> list[_Duel]:
    found = []
    if documents is None:
        documents = np.arange(ratings.shape[1])
    for left_out in range(len(ratings)):
        person = ratings[left_out]
        others = np.delete(ratings, left_out, axis=0)
        rated = ~np.isnan(person) & ~np.isnan(judge) & (~np.isnan(others)).any(axis=0)
        n = int(rated.sum())
        if n < least_outputs:
            continue
        by_judge, by_person = (_nearness(others[:, rated], side[rated]) for side in (judge, person))
        judge_wins = by_judge >= by_person - 1e-12
        person_wins = by_person >= by_judge - 1e-12
        differences = person_wins.astype(float) - judge_wins.astype(float)
        error, freedom = _standard_error(
            differences, documents[rated] if documents is not None else np.arange(n)
        )
        found.append(
            _Duel(left_out, float(differences.mean()), error, freedom, n, float(judge_wins.mean()))
        )
    return found


def _standard_error(differences: FloatArray, clusters: IntArray) -> tuple[float, int]:
    """Of a mean over clusters of outputs, and its degrees of freedom; 0 where all are the same."""
    _, of_output = np.unique(clusters, return_inverse=True)
    count = int(of_output.max()) + 1
    if count < 2 or not np.ptp(differences):
        return 0.0, max(1, count - 1)
    sums = np.bincount(of_output, differences - differences.mean())
    return float(np.sqrt(count / (count - 1) * (sums**2).sum()) / len(differences)), count - 1


def _nearness(others: FloatArray, values: FloatArray) -> FloatArray:
    """Negative root mean squared distance of a value to the others' ratings of the same output."""
    squared = (others - values) ** 2
    present = ~np.isnan(squared)
    mean = np.where(present, squared, 0.0).sum(axis=0) / present.sum(axis=0)
    nearness: FloatArray = -np.sqrt(mean)
    return nearness
