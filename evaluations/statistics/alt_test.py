"""The alternative annotator test: may a judge replace an annotator? (Calderon, Reichart and Dror, 2025.)

Each annotator is left out in turn. The judge and that annotator are compared, output by output, by how near they are to
the remaining annotators; the judge "wins" against an annotator if it is shown to be at most `epsilon` worse.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.results import Estimate
from evaluations.statistics.significance import benjamini_yekutieli

Q = 0.05
MOST_EPSILON = 1.0
LEAST_OUTPUTS = 30


@dataclass(frozen=True)
class AltTest:
    """The test at one epsilon.

    `winning_rate` is the share of annotators the judge wins against (it passes at 0.5), `advantage` the mean
    probability that the judge is as near to the others as the annotator. `p` and `advantages` are by annotator.
    """

    epsilon: float
    winning_rate: Estimate
    advantage: Estimate
    p: tuple[float, ...]
    advantages: tuple[float, ...]
    outputs: int

    @property
    def passes(self) -> bool:
        return self.winning_rate.value is not None and self.winning_rate.value >= 0.5


def alt_test(ratings: FloatArray, judge: FloatArray, *, epsilon: float = 0.2, q: float = Q) -> AltTest:
    """Test a judge against all annotators, by negative root mean squared distance to the others.

    Args:
        ratings: shape (raters, outputs), NaN for missing.
        judge: shape (outputs,), NaN for missing.
        epsilon: how much worse than an annotator the judge may be, as a probability, since annotators cost more.
    """
    p_values, advantages, used = [], [], 0
    for left_out in range(len(ratings)):
        person = ratings[left_out]
        others = np.delete(ratings, left_out, axis=0)
        rated = ~np.isnan(person) & ~np.isnan(judge) & (~np.isnan(others)).any(axis=0)
        if rated.sum() < 2:
            continue
        by_judge, by_person = (_nearness(others[:, rated], side[rated]) for side in (judge, person))
        judge_wins = by_judge >= by_person - 1e-12
        person_wins = by_person >= by_judge - 1e-12
        used = max(used, int(rated.sum()))
        p_values.append(_one_sided(person_wins.astype(float) - judge_wins.astype(float), epsilon))
        advantages.append(float(judge_wins.mean()))
    if not p_values:
        nothing = Estimate.undefined("no output was rated by two annotators and scored by the judge")
        return AltTest(epsilon, nothing, nothing, (), (), 0)
    rejected = [value <= q for value in benjamini_yekutieli(p_values)]
    return AltTest(
        epsilon,
        Estimate(sum(rejected) / len(rejected)),
        Estimate(float(np.mean(advantages))),
        tuple(p_values),
        tuple(advantages),
        used,
    )


def smallest_epsilon(ratings: FloatArray, judge: FloatArray, *, step: float = 0.01) -> float | None:
    """The smallest epsilon, in steps, at which the judge passes; None if it passes at none up to 1."""
    for index in range(int(MOST_EPSILON / step) + 1):
        epsilon = round(index * step, 10)
        if alt_test(ratings, judge, epsilon=epsilon).passes:
            return epsilon
    return None


def _nearness(others: FloatArray, values: FloatArray) -> FloatArray:
    """Negative root mean squared distance of a value to the others' ratings of the same output."""
    return -np.sqrt(np.nanmean((others - values) ** 2, axis=0))


def _one_sided(differences: FloatArray, epsilon: float) -> float:
    """p of a one-sided t test that the mean difference is below epsilon."""
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] < epsilon else 1.0
    return float(stats.ttest_1samp(differences, epsilon, alternative="less").pvalue)
