"""Compare two judges' probabilities of scale points with people's single ratings: their quality,
calibration, and possible use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.arrays import Outputs, positions
from geval.statistics.probability_calibration import (
    Measured,
    ProbabilityCalibration,
    ReadNothing,
    brier_difference,
    counts_of_ratings,
    probability_calibration,
    read_nothing,
    shares_of_ratings,
    why_too_few,
)
from geval.statistics.thresholds import CALIBRATION_MARGIN, SIGNIFICANCE
from geval.statistics.types import FloatArray
from geval.texts.numbers import in_brackets, two_decimals, whole_percent
from geval.texts.sentences import listed
from geval.texts.subjects import CriterionLike

# By criterion and judge: shape (outputs, points), NaN where a judge gave none.
Probabilities = Mapping[tuple[int, int], FloatArray]
# Scales with more points are not compared by point.
MOST_POINTS = 11
# The number of intervals behind sentences, per criterion: gain, overconfidence and calibration
# error, over all outputs and by system and length, of both judges, and the difference of the
# judges.
SAID_TOGETHER = 11
Guessing = Literal["better", "worse", "undecided"]
Fit = Literal["right", "uneven", "overconfident", "too cautious", "undecided"]
# Shares are stored rounded; with a smaller sum over the scale's points they belong to another
# scale.
LEAST_ON_SCALE = 0.98
# Steps such as 0.1 are inexact as floats.
NEAR = 1e-6


@dataclass(frozen=True)
class PairProbabilities:
    """Two judges' probabilities on a criterion, on the same outputs. `judges` has both judges'
    numbers; if empty, `reason` says why."""

    criterion: int
    name: str
    outputs: int = 0
    documents: int = 0
    judges: tuple[ProbabilityCalibration, ...] = ()
    difference: Measured | None = None
    nothing: ReadNothing | None = None
    reason: str = ""

    @property
    def better(self) -> int:
        """Which judge has the better probabilities: 1, 2, or 0 where it is undecided."""
        if self.difference is None or not self.difference.joint.leaves_out_zero:
            return 0
        return 1 if self.difference.value < 0 else 2


def pair_probabilities(
    data: ReportData,
    criteria: Sequence[CriterionLike],
    probabilities: Probabilities,
    first: int,
    second: int,
) -> tuple[PairProbabilities, ...]:
    """Compare two judges on criteria. All statements together err in at most 5 % of reports.

    Args:
        first, second: the judges' ids.
    """
    joint = 1 - SIGNIFICANCE / (SAID_TOGETHER * max(1, len(criteria)))
    return tuple(
        _on_criterion(
            data,
            criterion,
            [probabilities.get((criterion.pk, judge)) for judge in (first, second)],
            joint,
        )
        for criterion in criteria
    )


def _on_criterion(
    data: ReportData, criterion: CriterionLike, stated: list[FloatArray | None], joint: float
) -> PairProbabilities:
    points = criterion.scale.points
    first, second = stated
    if len(points) > MOST_POINTS:
        return _without(criterion, f"the scale has more than {MOST_POINTS} points")
    if first is None or second is None:
        return _without(criterion, "not both judges gave probabilities")
    human = data.humans[criterion.pk]
    counts = counts_of_ratings(human.ratings, points)
    people = shares_of_ratings(human.ratings, points)
    # Outputs that campaigns took from the top of a list have ratings, but no human score.
    has_all = ~np.isnan(people[:, 0] + first[:, 0] + second[:, 0] + human.mean)
    outputs = data.units_on(criterion.pk).part(has_all)
    documents = int(outputs.documents_with().sum())
    if reason := why_too_few(outputs):
        return _without(criterion, reason, outputs, documents)
    first, second, people, counts = (side[has_all] for side in (first, second, people, counts))
    words = data.words[has_all]
    return PairProbabilities(
        criterion.pk,
        criterion.name,
        len(outputs),
        documents,
        tuple(
            probability_calibration(outputs, judge, people, words=words, joint=joint)
            for judge in (first, second)
        ),
        brier_difference(outputs, first, second, people, joint=joint),
        read_nothing(outputs, people, counts),
    )


def _without(
    criterion: CriterionLike, reason: str, outputs: Outputs | None = None, documents: int = 0
) -> PairProbabilities:
    count = 0 if outputs is None else len(outputs)
    return PairProbabilities(criterion.pk, criterion.name, count, documents, reason=reason)


def beside_guessing(judge: ProbabilityCalibration) -> Guessing:
    """Return whether probabilities are better than guessing from the frequencies of points."""
    if not judge.gain.joint.leaves_out_zero:
        return "undecided"
    return "better" if judge.gain.value < 0 else "worse"


def fit_of(judge: ProbabilityCalibration) -> Fit:
    """Return whether probabilities are calibrated, within the margin; "uneven" if they are over all
    outputs and not shown to be by system or by length."""
    over, error = judge.over.joint.ends, judge.error.joint.ends
    if over is None or error is None:
        return "undecided"
    margin = CALIBRATION_MARGIN
    if -margin <= over[0] and over[1] <= margin and error[1] <= margin:
        highs = [part.joint.high for part in judge.parts.values()]
        return "right" if all(high is not None and high <= margin for high in highs) else "uneven"
    if not judge.over.joint.leaves_out_zero:
        return "undecided"
    return "overconfident" if judge.over.value > 0 else "too cautious"


def can_be_taken(judge: ProbabilityCalibration) -> bool:
    """Return whether probabilities can be used unchanged: better than guessing, and calibrated."""
    return beside_guessing(judge) == "better" and fit_of(judge) == "right"


def in_words(judge: ProbabilityCalibration, nothing: ReadNothing) -> str:
    """Return how a judge's probabilities can be used, and why; the consequence first."""
    guessing, fit = beside_guessing(judge), fit_of(judge)
    scores = (
        f"(Brier score {two_decimals(judge.brier.value)}, guessing"
        f" {two_decimals(nothing.marginal)})"
    )
    than = f"than guessing from how often people give each point {scores}"
    likeliest = (
        f"its likeliest point has a probability of {whole_percent(judge.confidence)} on average,"
        f" and {whole_percent(judge.right)} of ratings gave it"
    )
    if can_be_taken(judge):
        stand = "For these raters its probabilities can be taken as they stand"
        return f"{stand}: they are better {than}, and {likeliest}."
    first = {
        "better": f"Its probabilities are better {than}.",
        "worse": f"Do not use its probabilities: they are worse {than}.",
        "undecided": f"Its probabilities are not shown to be better {than}.",
    }[guessing]
    second = {
        "right": f"They are as high as they should be: {likeliest}.",
        "uneven": f"They are as high as they should be on average: {likeliest}. {_uneven(judge)}.",
        "overconfident": f"It is overconfident: {likeliest}.",
        "too cautious": f"It is too cautious: {likeliest}.",
        "undecided": f"Whether they are as high as they should be is undecided: {likeliest}.",
    }[fit]
    return f"{first} {second}"


def _uneven(judge: ProbabilityCalibration) -> str:
    """Return by what probabilities differ from what they should be, or may."""
    off = {
        name: part
        for name, part in judge.parts.items()
        if part.joint.high is None or part.joint.high > CALIBRATION_MARGIN
    }
    shown = [
        f"by {name} they are off by {two_decimals(part.value)}"
        for name, part in off.items()
        if (part.joint.low or 0.0) > CALIBRATION_MARGIN
    ]
    words = listed(shown) or f"by {listed([*off])} that is not shown"
    return words[:1].upper() + words[1:]


def lead_in_words(pairs: Sequence[PairProbabilities], names: tuple[str, str]) -> str:
    """Return the conclusion for two judges: on which criteria each one's probabilities can be used
    unchanged, and whose are better; empty where nothing is compared."""
    compared = [pair for pair in pairs if pair.nothing is not None]
    if not compared:
        return ""
    usable = [
        [pair.name for pair in compared if can_be_taken(pair.judges[place])] for place in (0, 1)
    ]
    sentences = [
        f"On {listed(criteria)} the probabilities of {name} can be taken as they stand,"
        " for these raters."
        for name, criteria in zip(names, usable, strict=True)
        if criteria
    ]
    if neither := [pair.name for pair in compared if not any(pair.name in part for part in usable)]:
        sentences.append(
            f"On {listed(neither)} neither judge is shown to have probabilities that can be taken"
            " as they stand."
        )
    return " ".join([*sentences, *_better_in_words(compared, names)])


def _better_in_words(compared: list[PairProbabilities], names: tuple[str, str]) -> list[str]:
    """Return whose probabilities are closer to ratings, in words."""
    sentences = [
        f"{name} has the better probabilities on {listed(criteria)}."
        for place, name in enumerate(names, start=1)
        if (criteria := [pair.name for pair in compared if pair.better == place])
    ]
    if undecided := [pair.name for pair in compared if not pair.better]:
        sentences.append(f"Whose probabilities are better on {listed(undecided)} is undecided.")
    return sentences


def lines_in_words(pair: PairProbabilities, names: tuple[str, str]) -> list[str]:
    """Return lines of text about a criterion: each judge's numbers and the conclusion."""
    if pair.nothing is None or pair.difference is None:
        return [f"{pair.name}, probabilities: –, {pair.reason}"]
    lines = [
        f"{pair.name}, probabilities of {name}: Brier score {_shown(judge.brier)}, calibration"
        f" error {_shown(judge.error)}, overconfidence {_shown(judge.over)}."
        f" {in_words(judge, pair.nothing)}"
        for name, judge in zip(names, pair.judges, strict=True)
    ]
    (follows,) = _better_in_words([pair], names)
    return [*lines, f"{pair.name}, first less second: {_shown(pair.difference)}. {follows}"]


def _shown(measured: Measured) -> str:
    return f"{two_decimals(measured.value)} {in_brackets(measured.interval)}".strip()


def pair_probabilities_json(pair: PairProbabilities) -> dict[str, Any]:
    """Return a criterion's numbers for the API, or the reason why there are none."""
    if pair.nothing is None or pair.difference is None:
        return {"reason": pair.reason}
    first, second = (_judge_json(judge, pair.nothing) for judge in pair.judges)
    return {
        "outputs": pair.outputs,
        "documents": pair.documents,
        "first": first,
        "second": second,
        "brier_difference": _measured_json(pair.difference),
        "better": ("", "first", "second")[pair.better],
        "brier_of_guessing": pair.nothing.marginal,
        "brier_of_equal_probabilities": pair.nothing.uniform,
        "brier_of_people": pair.nothing.people,
    }


def _judge_json(judge: ProbabilityCalibration, nothing: ReadNothing) -> dict[str, Any]:
    return {
        "brier": _measured_json(judge.brier),
        "less_guessing": _measured_json(judge.gain),
        "calibration_error": _measured_json(judge.error),
        "overconfidence": _measured_json(judge.over),
        "calibration_error_by": {name: _measured_json(part) for name, part in judge.parts.items()},
        "likeliest_probability": judge.confidence,
        "likeliest_given": judge.right,
        "beside_guessing": beside_guessing(judge),
        "fit": fit_of(judge),
        "in_words": in_words(judge, nothing),
        "diagram": [
            {
                "probability": bin_.score,
                "share_of_ratings": bin_.rating,
                "low": interval.low,
                "high": interval.high,
                "count": bin_.outputs,
            }
            for bin_, interval in judge.curve
        ],
    }


def _measured_json(measured: Measured) -> dict[str, Any]:
    return {
        "value": measured.value,
        "low": measured.interval.low,
        "high": measured.interval.high,
    }


def on_scale(
    data: ReportData,
    points: tuple[float, ...],
    output: FloatArray,
    point: FloatArray,
    share: FloatArray,
) -> FloatArray:
    """Arrange shares by output and point; shape (outputs, points), NaN where they belong to another
    scale.

    Args:
        output, point, share: the output's id and the point of each share.
    """
    scale = np.array(points)
    indexes = positions(output, data.output_ids)
    nearest = np.abs(np.nan_to_num(point, nan=np.inf)[:, None] - scale).argmin(axis=1)
    is_there = (indexes >= 0) & (np.abs(point - scale[nearest]) <= NEAR) & np.isfinite(share)
    table = np.zeros((len(data.output_ids), len(scale)))
    table[indexes[is_there], nearest[is_there]] = share[is_there]
    total = table.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total >= LEAST_ON_SCALE, table / total, np.nan)
