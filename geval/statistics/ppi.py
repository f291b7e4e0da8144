"""Prediction-powered inference: a mean human rating from few ratings and many scores.

Angelopoulos et al. (2023), "Prediction-powered inference"; Angelopoulos, Duchi and Zrnic (2023),
"PPI++", whose lambda weights the judge by how much it helps. Valid if the rated outputs are a
random subset, or if the probability with which each was rated is known: then errors of the judge
count by their weights (Zrnic and Candès, 2024, "Active statistical inference"). Turns of a session
are correlated: their contributions to a mean are summed by session, for its error.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from geval.statistics.arrays import Outputs, mean_of
from geval.statistics.distributions import normal_ppf
from geval.statistics.jackknife import t_quantile
from geval.statistics.thresholds import CONFIDENCE, PPI_RANDOM, PPI_RATINGS
from geval.statistics.types import FloatArray
from geval.statistics.weighted import weighted_mean

# Of squares that differ from 0 by rounding alone.
ROUNDING = 1e-20


@lru_cache
def _z(confidence: float) -> float:
    return float(normal_ppf((1 + confidence) / 2))


@dataclass(frozen=True)
class PpiMean:
    """A mean with its interval, where there is one. `effective_ratings` is the number of ratings
    alone that would give this standard error."""

    weight: float
    estimate: float
    standard_error: float
    low: float | None
    high: float | None
    effective_ratings: float


def ppi_mean(
    human: FloatArray,
    judge_rated: FloatArray,
    judge_others: FloatArray,
    *,
    weight: float | None = None,
    confidence: float = CONFIDENCE,
) -> PpiMean:
    """Return the mean human rating over all outputs.

    Args:
        human: shape (n,), ratings of the outputs that were rated.
        judge_rated: shape (n,), the judge's scores of the same outputs.
        judge_others: shape (N,), its scores of unrated outputs.
        weight: lambda; 0 ignores the judge, 1 is plain PPI, None finds the best (PPI++).

    Raises:
        ValueError: nothing was rated, or the arrays do not fit.
    """
    n, others = len(human), len(judge_others)
    if not n or n != len(judge_rated):
        raise ValueError("ratings and the judge's scores of the same outputs are needed")
    if not others:
        weight = 0.0
    if weight is None:
        variance = np.concatenate([judge_rated, judge_others]).var(ddof=1)
        covariance = ((human - human.mean()) * (judge_rated - judge_rated.mean())).mean()
        weight = float(covariance / ((1 + n / others) * variance)) if variance > 0 else 0.0
    estimate = human.mean() - weight * judge_rated.mean()
    squared = (human - weight * judge_rated).var() / n
    if weight:
        estimate += weight * judge_others.mean()
        squared += weight**2 * judge_others.var() / others
    error = float(np.sqrt(squared))
    half = _z(confidence) * error
    effective = float(human.var() / squared) if squared > 0 else float(n)
    return PpiMean(
        float(weight),
        float(estimate),
        error,
        float(estimate - half),
        float(estimate + half),
        effective,
    )


@dataclass(frozen=True)
class Parts:
    """Units' contributions to a mean: `human` from weighted ratings, and `judge` from the judge's
    scores of rated outputs minus those of all outputs. A unit is a document (a session, where there
    are sessions) or an output.

    The mean is `mean` - lambda * `shift`, where the squared standard error is the sum of the
    squares of `human` - lambda * `judge`; shape (units,) each. `rated` outputs have a rating, and
    `units` have such an output.
    """

    mean: float
    shift: float
    human: FloatArray
    judge: FloatArray
    rated: int
    units: int

    @classmethod
    def of(cls, human: FloatArray, judge: FloatArray, weight: FloatArray) -> "Parts":
        """Compute the contributions of the outputs that the judge scored, each a unit; `human` is
        NaN for unrated outputs."""
        rated = ~np.isnan(human)
        weights = np.where(rated, weight, 0.0) / weight[rated].sum()
        mean = weighted_mean(human[rated], weight[rated])
        of_rated = weighted_mean(judge[rated], weight[rated])
        return cls(
            mean,
            of_rated - float(judge.mean()),
            weights * (np.nan_to_num(human) - mean),
            weights * (judge - of_rated) - (judge - judge.mean()) / len(judge),
            int(rated.sum()),
            int(rated.sum()),
        )

    @classmethod
    def by_document(
        cls, outputs: Outputs, human: FloatArray, judge: FloatArray, weight: FloatArray
    ) -> "Parts":
        """Compute the contributions with documents as units, summing those of a document's
        outputs."""
        parts = cls.of(human, judge, weight)
        return replace(
            parts,
            human=outputs.by_document(parts.human),
            judge=outputs.by_document(parts.judge),
            units=int(outputs.documents_with(~np.isnan(human)).sum()),
        )

    def estimate(self) -> PpiMean:
        """Return the mean with the lambda that minimises its error, and an interval that allows for
        skewed contributions, as most outputs have similar ratings and few are far off."""
        squared, alone = float((self.judge**2).sum()), float((self.human**2).sum())
        # Where all outputs are rated, only rounding is left of the judge's contributions.
        is_rounding = squared <= ROUNDING * alone
        weight = 0.0 if is_rounding else float((self.human * self.judge).sum() / squared)
        estimate = self.mean - weight * self.shift
        added = self.human - weight * self.judge
        variance = float((added**2).sum())
        low, high = None, None
        if self.units >= PPI_RATINGS and variance > 0:
            low, high = _skewed_interval(estimate, added, self.units)
        effective = self.rated * alone / variance if variance > 0 else float(self.rated)
        return PpiMean(weight, estimate, float(np.sqrt(variance)), low, high, effective)


def _skewed_interval(estimate: float, added: FloatArray, rated: int) -> tuple[float, float]:
    """Return the 95 % interval of a sum of contributions by Hall's transformation (1992, "On the
    removal of skewness by transformation"), with Student's t and degrees of freedom for the mean
    and lambda.

    Args:
        added: shape (units,), each unit's contribution to the estimate minus the mean contribution.
        rated: how many of them have a rating.
    """
    freedom = rated - 2
    added = added * np.sqrt(rated / freedom)
    variance = float((added**2).sum())
    error, skewness = np.sqrt(variance), float((added**3).sum()) / variance**1.5
    t = t_quantile(freedom)
    if abs(skewness) < 1e-9:
        return float(estimate - error * t), float(estimate + error * t)
    high, low = (
        float(estimate - error * 3 / skewness * (np.cbrt(1 + skewness * (x - skewness / 6)) - 1))
        for x in (-t, t)
    )
    return low, high


@dataclass(frozen=True)
class SystemMean:
    """A system's mean human rating by PPI++; `rated` of its `outputs` have a rating."""

    mean: PpiMean | None
    rated: int
    outputs: int


@dataclass(frozen=True)
class PpiTable:
    """What a judge's scores add to few ratings: each system's mean.

    `unlike` is the p-value of a Kolmogorov-Smirnov test that the judge scores rated and unrated
    outputs alike; a small one means that the rated outputs are not a random sample, so that the
    intervals are not valid. None without unrated outputs.
    """

    systems: tuple[SystemMean, ...]
    unlike: float | None

    @property
    def is_random(self) -> bool:
        return self.unlike is None or self.unlike >= PPI_RANDOM


def ppi_table(outputs: Outputs, human: FloatArray, judge: FloatArray) -> PpiTable:
    """Return each system's mean.

    Args:
        human, judge: shape (outputs,), NaN for missing; the judge scores more outputs than people
            rated.
    """
    outputs, judge, human = _scored(outputs, judge, human)
    rated = ~np.isnan(human)
    if outputs.weight is not None:
        return _table_by_document(outputs, human, judge, outputs.weight)
    if not outputs.has_cells:
        table = _table_by_document(outputs, human, judge, np.ones(len(outputs)))
        return replace(table, unlike=_unlike(*_means_by_document(outputs, judge, rated)))
    order = np.argsort(outputs.system, kind="stable")
    of_systems = np.split(order, np.cumsum(outputs.by_system()).astype(int)[:-1])
    systems = []
    for of_system in of_systems:
        has, lacks = of_system[rated[of_system]], of_system[~rated[of_system]]
        mean = None
        if len(has) > 1:
            mean = _with_enough(ppi_mean(human[has], judge[has], judge[lacks]), len(has))
        systems.append(SystemMean(mean, len(has), len(of_system)))
    return PpiTable(tuple(systems), _unlike(judge[rated], judge[~rated]))


def _unlike(rated: FloatArray, others: FloatArray) -> float | None:
    """Return the p-value that a judge scores two groups alike; None where one is empty."""
    if not len(rated) or not len(others):
        return None
    from scipy import stats  # noqa: PLC0415 (takes most of a second)

    return float(stats.ks_2samp(rated, others).pvalue)


def _means_by_document(outputs: Outputs, judge: FloatArray, rated: np.ndarray) -> list[FloatArray]:
    """Return the judge's mean score of a document's rated outputs, and of its unrated ones, for
    documents that have them."""
    means = []
    for some in (rated, ~rated):
        part = outputs.part(some)
        mean = mean_of(part.by_document(judge[some]), part.by_document())
        means.append(mean[~np.isnan(mean)])
    return means


def _table_by_document(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    weight: FloatArray,
) -> PpiTable:
    """Return the table where outputs were rated with different probabilities, or where sessions
    have several outputs of a system. Without `unlike`: where probabilities differ, rated and
    unrated outputs are meant to have different scores."""
    systems = []
    for index in range(outputs.systems):
        of_system = outputs.system == index
        rated = int((~np.isnan(human[of_system])).sum())
        mean = None
        if rated > 1:
            mean = Parts.by_document(
                outputs.part(of_system), human[of_system], judge[of_system], weight[of_system]
            ).estimate()
        systems.append(SystemMean(mean, rated, int(of_system.sum())))
    return PpiTable(tuple(systems), None)


def _scored(
    outputs: Outputs, judge: FloatArray, human: FloatArray
) -> tuple[Outputs, FloatArray, FloatArray]:
    """Select the outputs that the judge scored, rated or not."""
    scored = ~np.isnan(judge)
    return outputs.part(scored), judge[scored], human[scored]


def _with_enough(mean: PpiMean, rated: int) -> PpiMean:
    """Return the mean with an interval for few ratings: by Student's t, with degrees of freedom for
    the mean and the weight; without an interval if there are too few ratings or all are equal."""
    if rated < PPI_RATINGS or not mean.standard_error > 0:
        return replace(mean, low=None, high=None)
    freedom = rated - 2
    half = t_quantile(freedom) * mean.standard_error * np.sqrt(rated / freedom)
    return replace(mean, low=float(mean.estimate - half), high=float(mean.estimate + half))
