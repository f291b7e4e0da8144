"""How sure a judge's score is, by what there is beside it: its distribution, a pass mark, other
judges, and how often similar scores were wrong. One is chosen on training documents."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.risk_control import COVERAGES
from geval.statistics.selection import FOLDS
from geval.statistics.types import FloatArray, IntArray

# Of ridge regression.
PENALTY = 5.0
SIMILAR = "how often similar scores were right"


# A mean and a standard deviation.
Moments = tuple[float, float]


@dataclass(frozen=True, eq=False)
class ScoredOutputs:
    """Scores of outputs, shape (outputs,), NaN for missing; their `distributions`, None where there
    is none; and the scores of `others`, other judges by name."""

    scores: FloatArray
    distributions: Sequence[Mapping[float, float] | None]
    others: Mapping[str, FloatArray]


@dataclass(frozen=True)
class ConfidenceRule:
    """A chosen confidence with all that was learned on training documents, so that outputs that
    come later get the same.

    `others` has for each other judge the moments of both judges' scores where these are on
    different scales, None where they are compared as they are. All measures together are a weighted
    sum of standardised `columns`: the score, its square, then the measures by name.
    """

    name: str
    reach: float
    mark: float | None
    others: dict[str, tuple[Moments, Moments] | None]
    columns: dict[str, Moments]
    slopes: tuple[float, ...]
    mean: float

    def values_of(self, outputs: ScoredOutputs) -> FloatArray:
        """Return the confidence of outputs, shape (outputs,), NaN where there is none."""
        missing = np.full(len(outputs.scores), np.nan)
        if not self.name:
            return np.where(np.isnan(outputs.scores), np.nan, 0.0)
        values = dict(_measures(outputs, self))
        if self.name in self.columns:
            return values.get(self.name, missing)
        columns = _table(outputs.scores, values, self.columns)
        return np.where(np.isnan(outputs.scores), np.nan, -self.mean - columns @ self.slopes)


@dataclass(frozen=True, eq=False)
class JudgeScores(ScoredOutputs):
    """What confidence is taken from; arrays have shape (outputs,).

    `reach` is how far from the score a probability counts as near it, `mark` the score from which
    an output passes, None on other scales. `doubt` is what an error of the judge costs, NaN where
    nobody rated, `cluster` the document or group, `training` a mask.
    """

    ends: tuple[float, float]
    reach: float
    mark: float | None
    doubt: FloatArray
    cluster: IntArray
    training: np.ndarray

    @property
    def learns(self) -> np.ndarray:
        """The training outputs with scores and ratings, as a mask."""
        return self.training & ~np.isnan(self.doubt) & ~np.isnan(self.scores)


def choose_confidence(judged: JudgeScores, *, comparable: bool = False) -> ConfidenceRule:
    """Return the confidence with which kept answers of training documents err least, over all
    coverages; what is learned from errors is learned from other documents. Without a name, where
    nothing varies: then all answers are equal.

    Args:
        comparable: whether a threshold also holds for another judge; then the confidence is minus
            the expected error.
    """
    rule = ConfidenceRule("", judged.reach, judged.mark, _scales_of(judged), {}, (), 0.0)
    if not judged.learns.any():
        return rule
    measures = dict(_measures(judged, rule))
    rule, held_out = _by_all(judged, measures, rule)
    if comparable:
        return rule
    values = measures | {rule.name: rule.values_of(judged)}
    varying = [
        name
        for name, each in values.items()
        if len(np.unique(each[judged.training & ~np.isnan(each)])) > 1
    ]
    tried = measures | {rule.name: held_out}
    chosen = min(varying, key=lambda name: _mean_error(judged, tried[name]), default=rule.name)
    return replace(rule, name=chosen)


def _mean_error(judged: JudgeScores, confidence: FloatArray) -> float:
    """Return the mean over coverages of the doubt of what is kept; outputs of equal confidence
    count with their mean."""
    counts = judged.learns
    # Answers without a confidence are kept last.
    sure = np.nan_to_num(confidence[counts], nan=-np.inf)
    _values, place = np.unique(-sure, return_inverse=True)
    mean = np.bincount(place, judged.doubt[counts]) / np.bincount(place)
    ordered = np.sort(place)
    errors = np.cumsum(mean[ordered]) / np.arange(1, len(ordered) + 1)
    at = [max(1, round(coverage * len(errors))) - 1 for coverage in COVERAGES]
    return float(errors[at].mean())


def _measures(outputs: ScoredOutputs, rule: ConfidenceRule) -> Iterator[tuple[str, FloatArray]]:
    """Yield measures of confidence with a value for each output, NaN where there is none."""
    if any(outputs.distributions):
        pairs = list(zip(outputs.scores.tolist(), outputs.distributions, strict=True))
        near = np.array([_near(*each, rule.reach) for each in pairs])
        yield "probability near its score", near
        yield "spread of its answers", np.array([-_spread(*each) for each in pairs])
    if rule.mark is not None:
        yield "distance to the pass mark", np.abs(outputs.scores - rule.mark)
    for name, moments in rule.others.items():
        if name in outputs.others:
            apart = _apart(outputs.scores, outputs.others[name], moments)
            yield f"agreement with {name}", -np.abs(apart)


def _near(score: float, shares: Mapping[float, float] | None, reach: float) -> float:
    if not shares:
        return np.nan
    return float(
        sum(share for point, share in shares.items() if abs(point - score) <= reach + 1e-9)
    )


def _spread(score: float, shares: Mapping[float, float] | None) -> float:
    if not shares:
        return np.nan
    return math.sqrt(sum(share * (point - score) ** 2 for point, share in shares.items()))


def _scales_of(judged: JudgeScores) -> dict[str, tuple[Moments, Moments] | None]:
    """Return the moments of both judges' scores for others that are not on the criterion's
    scale."""
    low, high = judged.ends
    return {
        name: None
        if np.nanmin(scores) >= low and np.nanmax(scores) <= high
        else (_moments(judged.scores, judged.learns), _moments(scores, judged.learns))
        for name, scores in judged.others.items()
    }


def _apart(
    scores: FloatArray, others: FloatArray, moments: tuple[Moments, Moments] | None
) -> FloatArray:
    """Return how far another judge's scores are."""
    if moments is None:
        return np.asarray(scores - others)
    own, other = (
        _standardised(side, of) for side, of in zip((scores, others), moments, strict=True)
    )
    return np.where(np.isnan(scores + others), np.nan, own - other)


def _by_all(
    judged: JudgeScores, measures: Mapping[str, FloatArray], rule: ConfidenceRule
) -> tuple[ConfidenceRule, FloatArray]:
    """Return what was learned of the doubt expected from the score and all measures, by ridge
    regression (Hoerl and Kennard, 1970); and minus this doubt, shape (outputs,), as learned from
    other documents. A missing value counts as the mean."""
    columns = _columns(judged.scores, measures)
    moments = {name: _moments(column, judged.learns) for name, column in columns.items()}
    table = _table(judged.scores, measures, moments)

    def learned(of: np.ndarray) -> tuple[FloatArray, float]:
        mean = float(judged.doubt[of].mean()) if of.any() else 0.0
        squares = table[of].T @ table[of] + PENALTY * np.eye(table.shape[1])
        return np.linalg.solve(squares, table[of].T @ (judged.doubt[of] - mean)), mean

    held_out = np.full(len(judged.scores), np.nan)
    for left_out in range(FOLDS):
        own = judged.cluster % FOLDS == left_out
        slopes, mean = learned(judged.learns & ~own)
        held_out[own] = np.where(np.isnan(judged.scores), np.nan, -mean - table @ slopes)[own]
    name = "all measures together" if measures else SIMILAR
    slopes, mean = learned(judged.learns)
    rule = replace(rule, name=name, columns=moments, slopes=tuple(slopes.tolist()), mean=mean)
    return rule, held_out


def _columns(scores: FloatArray, measures: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {"score": scores, "score squared": scores**2, **measures}


def _table(
    scores: FloatArray, measures: Mapping[str, FloatArray], moments: Mapping[str, Moments]
) -> FloatArray:
    """Return the standardised columns, shape (outputs, columns), 0 where one is missing."""
    columns, missing = _columns(scores, measures), np.full(len(scores), np.nan)
    return np.stack(
        [_standardised(columns.get(name, missing), of) for name, of in moments.items()], axis=1
    )


def _moments(column: FloatArray, learns: np.ndarray) -> Moments:
    some = column[learns & ~np.isnan(column)]
    return (float(some.mean()), float(some.std())) if len(some) else (0.0, 0.0)


def _standardised(column: FloatArray, moments: Moments) -> FloatArray:
    mean, spread = moments
    if not spread:
        return np.zeros(len(column))
    return np.asarray(np.nan_to_num((column - mean) / spread))
