"""How sure a judge's score is, by what there is beside it: its distribution, a pass mark, other
judges, and how often similar scores were wrong. One is chosen on training documents."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.risk_control import COVERAGES
from geval.statistics.selection import FOLDS
from geval.statistics.types import FloatArray, IntArray

# Of ridge regression.
PENALTY = 5.0
SIMILAR = "how often similar scores were right"


@dataclass(frozen=True, eq=False)
class Confidence:
    """A measure of confidence: its name, and a value for each output, shape (outputs,); NaN where
    there is none. `held_out` are values that are learned from other documents, where any are."""

    name: str
    values: FloatArray
    held_out: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """What confidence is taken from; arrays have shape (outputs,).

    `distributions` are those of scores, None where there is none; `others` the scores of other
    judges by name. `reach` is how far from the score a probability counts as near it, `mark` the
    score from which an output passes, None on other scales. `doubt` is what an error of the judge
    costs, NaN where nobody rated, `cluster` the document or group, `training` a mask.
    """

    scores: FloatArray
    distributions: Sequence[Mapping[float, float] | None]
    others: Mapping[str, FloatArray]
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


def choose_confidence(judged: JudgeScores) -> Confidence | None:
    """Return the confidence with which kept answers of training documents err least, over all
    coverages; what is learned from errors is learned from other documents. None if nothing varies.
    """
    if not judged.learns.any():
        return None
    measures = [*_measures(judged)]
    measured = [
        each
        for each in (*measures, _by_all(judged, measures))
        if len(np.unique(each.values[judged.training & ~np.isnan(each.values)])) > 1
    ]

    def mean_error(each: Confidence) -> float:
        return _mean_error(judged, each.values if each.held_out is None else each.held_out)

    return min(measured, key=mean_error, default=None)


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


def _measures(judged: JudgeScores) -> Iterator[Confidence]:
    if any(judged.distributions):
        yield Confidence(
            "probability near its score",
            np.array([_near(*each, judged.reach) for each in _with_scores(judged)]),
        )
        yield Confidence(
            "spread of its answers", np.array([-_spread(*each) for each in _with_scores(judged)])
        )
    if judged.mark is not None:
        yield Confidence("distance to the pass mark", np.abs(judged.scores - judged.mark))
    for name, scores in judged.others.items():
        yield Confidence(f"agreement with {name}", -np.abs(_apart(judged, scores)))


def _with_scores(judged: JudgeScores) -> Iterator[tuple[float, Mapping[float, float] | None]]:
    return zip(judged.scores.tolist(), judged.distributions, strict=True)


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


def _apart(judged: JudgeScores, scores: FloatArray) -> FloatArray:
    """Return how far another judge's scores are; by their standardised values where they are not on
    the criterion's scale."""
    if np.nanmin(scores) >= judged.ends[0] and np.nanmax(scores) <= judged.ends[1]:
        return np.asarray(judged.scores - scores)
    own, other = (_standardised(side, judged.learns) for side in (judged.scores, scores))
    return np.where(np.isnan(judged.scores + scores), np.nan, own - other)


def _by_all(judged: JudgeScores, measures: Sequence[Confidence]) -> Confidence:
    """Return minus the doubt expected from the score and all measures, by ridge regression (Hoerl
    and Kennard, 1970); a missing value counts as the mean."""
    columns = [judged.scores, judged.scores**2, *(each.values for each in measures)]
    table = np.stack([_standardised(column, judged.learns) for column in columns], axis=1)

    def sureness(of: np.ndarray) -> FloatArray:
        mean = float(judged.doubt[of].mean()) if of.any() else 0.0
        squares = table[of].T @ table[of] + PENALTY * np.eye(table.shape[1])
        slopes = np.linalg.solve(squares, table[of].T @ (judged.doubt[of] - mean))
        return np.where(np.isnan(judged.scores), np.nan, -mean - table @ slopes)

    held_out = np.full(len(judged.scores), np.nan)
    for left_out in range(FOLDS):
        own = judged.cluster % FOLDS == left_out
        held_out[own] = sureness(judged.learns & ~own)[own]
    name = "all measures together" if measures else SIMILAR
    return Confidence(name, sureness(judged.learns), held_out)


def _standardised(column: FloatArray, learns: np.ndarray) -> FloatArray:
    some = column[learns & ~np.isnan(column)]
    spread = float(some.std()) if len(some) else 0.0
    if not spread:
        return np.zeros(len(column))
    return np.asarray(np.nan_to_num((column - some.mean()) / spread))
