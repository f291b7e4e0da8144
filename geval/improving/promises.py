"""What a policy may promise of the answers that it keeps, and what breaks each promise."""

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from geval.measuring.inputs import InputError
from geval.reports.human_scores import HumanScores
from geval.statistics.arrays import Outputs, complete, mean_of, sums
from geval.statistics.calibration import Isotonic, cross_validated_error, isotonic
from geval.statistics.pass_fail import best_threshold
from geval.statistics.scales import Scale, short
from geval.statistics.thresholds import PROMISED_ERRORS
from geval.statistics.types import FloatArray, IntArray
from geval.texts.sentences import did_you_mean

_WITHIN = re.compile(r"within (\d+(?:\.\d+)?|\.\d+)")
ROUNDING = 1e-9
SEED = 0  # the same ratings give the same policy


class PolicyError(InputError):
    """Nothing can be promised of these ratings, or there is no such promise; the message says what
    to do."""


class PromiseKind(StrEnum):
    """Whether kept answers agree with people as one person does, are near people's mean, or seldom
    pass what people fail."""

    ONE_PERSON = "as one person"
    WITHIN = "within"
    FALSE_PASSES = "few false passes"


@dataclass(frozen=True)
class Promise:
    """A promise; `distance` in points for `WITHIN`."""

    kind: PromiseKind
    distance: float = 0.0

    @property
    def bound(self) -> float | None:
        """The share of errors that is promised at most; None for a mean difference below 0."""
        return None if self.kind == PromiseKind.ONE_PERSON else PROMISED_ERRORS

    @property
    def error_name(self) -> str:
        """What is counted as an error, as the subject of a sentence."""
        return "False passes" if self.kind == PromiseKind.FALSE_PASSES else "Errors"

    def __str__(self) -> str:
        return f"within {short(self.distance)}" if self.kind == PromiseKind.WITHIN else self.kind

    @property
    def sentence(self) -> str:
        """What is promised of the kept answers."""
        if self.kind == PromiseKind.ONE_PERSON:
            return "at least as close to people as one person is"
        if self.kind == PromiseKind.WITHIN:
            right, points = 100 * (1 - PROMISED_ERRORS), short(self.distance)
            return f"{right:.0f} % of them within {points} points of people's mean"
        return f"people fail at most {100 * PROMISED_ERRORS:.0f} % of what it passes"


def parse_promise(text: str) -> Promise:
    """Parse a promise, such as "within 0.5".

    Raises:
        PolicyError: there is no such promise.
    """
    names = (PromiseKind.ONE_PERSON, PromiseKind.FALSE_PASSES, "within 0.5")
    text = text.strip() if isinstance(text, str) else str(text)
    if match := _WITHIN.fullmatch(text):
        return Promise(PromiseKind.WITHIN, float(match[1]))
    if text in names:
        return Promise(PromiseKind(text))
    raise PolicyError(
        f"There is no promise {text[:80]!r}.{did_you_mean(text, names)} Promises:"
        f" {', '.join(names)} (any number of points)."
    )


def possible_promises(scale: Scale, raters: int) -> tuple[PromiseKind, ...]:
    """Return what can be promised on a scale, where so many people rated an output at most."""
    is_possible = {
        PromiseKind.ONE_PERSON: raters >= 2,
        PromiseKind.WITHIN: True,
        PromiseKind.FALSE_PASSES: len(scale.points) == 2,
    }
    return tuple(kind for kind in PromiseKind if is_possible[kind])


@dataclass(frozen=True, eq=False)
class PromiseLosses:
    """The losses of a judge, and of answers that only know who wrote an output, for a promise; each
    array has shape (outputs,), NaN where nobody rated or nothing is at stake.

    `doubt` is what any error of the judge costs, `null_confidence` how sure the answers by system
    are; `mark` is the score from which the judge passes an output, None on other scales. `answers`
    are its scores, brought to people's scale by `calibration` where that is closer to them, and
    `confidence_by_system` tells only how well the judge did on each system.
    """

    answers: FloatArray
    calibration: Isotonic | None
    loss: FloatArray
    doubt: FloatArray
    null: FloatArray
    null_confidence: FloatArray
    confidence_by_system: FloatArray
    mark: float | None


def losses_of(
    promise: Promise,
    human: HumanScores,
    scores: FloatArray,
    *,
    outputs: Outputs,
    training: np.ndarray,
    scale: Scale,
) -> PromiseLosses:
    """Return the losses for a promise; whatever is fitted is fitted on training outputs.

    Args:
        scores: shape (outputs,), the judge's, NaN for missing.
        training: a mask of shape (outputs,).

    Raises:
        PolicyError: the ratings are not of the kind that the promise takes.
    """
    mean, middle = human.mean, sum(scale.points) / 2
    possible = possible_promises(scale, int(human.ratings.count.max(initial=0)))
    if promise.kind not in possible:
        raise PolicyError(_why_not(promise, scale, possible))
    learns = training & ~np.isnan(mean + scores)
    mark = None
    if len(scale.points) == 2:
        is_given = bool(np.isin(scores[~np.isnan(scores)], scale.points).all())
        mark = middle if is_given else best_threshold(mean[learns] >= middle, scores[learns])
    if promise.kind == PromiseKind.FALSE_PASSES and mark is not None:
        calibration, answers = None, scores
        people = np.where(np.isnan(mean), np.nan, mean >= middle)
        doubt = np.abs(np.where(np.isnan(scores), np.nan, scores >= mark) - people)
        loss, null = loss_of(promise, human, scores, scale=scale, mark=mark), 1 - people
    else:
        calibration = _calibration(outputs, mean, scores, learns)
        answers = scores if calibration is None else calibration(scores)
        usual = _nearest_by_system(mean, outputs.system, learns, promise)
        loss, null = (
            loss_of(promise, human, each, scale=scale, mark=mark) for each in (answers, usual)
        )
        doubt = loss
    by_system, of_judge = (_by_system(outputs, learns, side) for side in (null, doubt))
    return PromiseLosses(answers, calibration, loss, doubt, null, by_system, of_judge, mark)


def _why_not(promise: Promise, scale: Scale, possible: tuple[PromiseKind, ...]) -> str:
    if promise.kind == PromiseKind.ONE_PERSON:
        return (
            f'"{promise}" takes outputs that two people rated, and each of these has one rating.'
            ' Promise "within 0.5" points, or have a second person rate.'
        )
    other = ', or "as one person"' if PromiseKind.ONE_PERSON in possible else ""
    return (
        f'"{promise}" takes a criterion that outputs pass or fail; this one has the scale {scale}.'
        f' Promise "within 0.5" points{other}.'
    )


def loss_of(
    promise: Promise,
    human: HumanScores,
    answers: FloatArray,
    *,
    scale: Scale,
    mark: float | None,
) -> FloatArray:
    """Return what each answer loses, shape (outputs,), NaN where nobody rated or nothing is at
    stake.

    Args:
        answers: shape (outputs,), on people's scale.
        mark: the score from which the judge passes an output, if any.
    """
    if promise.kind == PromiseKind.WITHIN:
        return _is_apart(answers, human.mean, promise.distance)
    if promise.kind == PromiseKind.ONE_PERSON:
        return _farther_than_one(human, answers)
    fails = np.where(np.isnan(human.mean), np.nan, human.mean < sum(scale.points) / 2)
    passes = answers >= (np.inf if mark is None else mark)
    return np.where(passes, fails, np.nan)


def _by_system(outputs: Outputs, learns: np.ndarray, loss: FloatArray) -> FloatArray:
    """Return minus each system's mean loss; systems of which nothing is known come last."""
    part, (own,) = complete(outputs.unweighted, np.where(learns, loss, np.nan))
    mean = mean_of(part.by_system(own), part.by_system())
    return -np.nan_to_num(mean, nan=np.inf)[outputs.system]


def _calibration(
    outputs: Outputs, mean: FloatArray, scores: FloatArray, learns: np.ndarray
) -> Isotonic | None:
    """Return the monotonic map of scores to people's scale, learned on training outputs; None where
    scores as they are come closer, by cross-validation."""
    if not learns.any():
        return None
    people = np.where(learns, mean, np.nan)
    error = cross_validated_error(outputs, people, scores, rng=np.random.default_rng(SEED))
    if error is None or error.after >= error.before:
        return None
    weight = None if outputs.weight is None else outputs.weight[learns]
    return isotonic(scores[learns], mean[learns], weight)


def _is_apart(scores: FloatArray, mean: FloatArray, distance: float) -> FloatArray:
    apart = np.abs(scores - mean)
    return np.where(np.isnan(apart), np.nan, apart > distance + ROUNDING)


def _farther_than_one(human: HumanScores, scores: FloatArray) -> FloatArray:
    """Return by how many points a score is farther from an output's other raters than one rater is,
    over its raters in turn; shape (outputs,), NaN for outputs with one rating."""
    ratings = human.ratings
    farther = np.abs(scores[ratings.output] - ratings.others)
    farther -= np.abs(ratings.value - ratings.others)
    counts = ~np.isnan(farther)
    output = ratings.output[counts]
    total = sums(output, farther[counts], len(scores))
    return mean_of(total, sums(output, None, len(scores)))


def _nearest_by_system(
    mean: FloatArray, system: IntArray, learns: np.ndarray, promise: Promise
) -> FloatArray:
    """Return the score that is best for each system's training outputs; for all of them where it
    has none. Shape (outputs,)."""
    if not learns.any():
        return np.full(len(mean), np.nan)
    usual = _nearest(mean[learns], promise)
    nearest = np.full(len(mean), usual)
    for each in np.unique(system):
        own = learns & (system == each)
        if own.any():
            nearest[system == each] = _nearest(mean[own], promise)
    return nearest


def _nearest(mean: FloatArray, promise: Promise) -> float:
    """Return the score that keeps most promises."""
    if promise.kind == PromiseKind.ONE_PERSON:
        return float(np.median(mean))
    values, counts = np.unique(mean, return_counts=True)
    # An interval of twice the distance that begins at a value holds most.
    ends = np.searchsorted(values, values + 2 * promise.distance + ROUNDING, side="right")
    before = np.append(0, np.cumsum(counts))
    best = int(np.argmax(before[ends] - before[:-1]))
    return float(values[best] + values[ends[best] - 1]) / 2
