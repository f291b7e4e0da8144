"""What the two checks of a verdict rest on: a judge's figures in a view, over all outputs, within
systems, and with missing scores filled in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from geval.statistics.agreement import BehindARater, judge_as_a_rater, judge_minus_a_rater
from geval.statistics.alt_test import (
    AltTest,
    alt_test,
    nearest_constant,
    p_of_nearer,
    raters_that_agree,
)
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.coefficients import ranks
from geval.statistics.correlation import Coefficient, Level, correlation_at
from geval.statistics.jackknife import correlation_interval
from geval.statistics.resampling import Interval, Over
from geval.statistics.scales import Scale
from geval.statistics.thresholds import (
    ALT_TEST_ANNOTATORS,
    ALT_TEST_EPSILON,
    ALT_TEST_OUTPUTS,
    SCORED_SHARE,
    VERDICT_OUTPUTS,
    VERDICT_RATERS,
)
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.within_systems import (
    less_system_means,
    level_within,
    outputs_within,
    p_beyond_length,
    ratings_within_systems,
)

# If a scale has more points, this many, evenly spaced, are tried as constants.
MOST_CONSTANTS = 11


def are_too_few_for_a_bar(raters: int, ratings: int, rated: int) -> bool:
    """Return whether people cannot be the bar: they are too few, or hardly an output was rated
    again by somebody else. Then the verdict is by an expert's labels.

    Args:
        ratings, rated: how many ratings there are, and of how many outputs.
    """
    return raters < VERDICT_RATERS or ratings - rated < min(VERDICT_OUTPUTS, rated)


@dataclass(frozen=True)
class View:
    """The correlation that a reader chose, and the units of its interval."""

    level: Level = "summary"
    coefficient: Coefficient = "spearman"
    over: Over = "documents"
    epsilon: float = ALT_TEST_EPSILON


@dataclass(frozen=True)
class CheckFigures:
    """A judge's figures for the two checks: its correlation with people's mean and the interval,
    its correlation in a rater's place and how far that is behind the rater, the alternative
    annotator test, and p of the test that it is no closer to raters than the best constant (None
    where they do not apply)."""

    correlation: Estimate
    interval: Interval
    in_place: Estimate
    behind: BehindARater
    test: AltTest | None
    p_nearer: float | None

    @property
    def passes(self) -> bool:
        """Whether it passes the alternative annotator test."""
        return self.test is not None and self.test.passes


@dataclass(frozen=True)
class Checks:
    """A judge's figures over all outputs, and within systems; None where that cannot be looked at.
    `p_beyond` is p of the test that it follows people only by what the length of a text tells, and
    who wrote it where that can be looked at; None where all lengths are equal. `is_blind` says that
    several systems have too few outputs each to look within them."""

    overall: CheckFigures
    within: CheckFigures | None
    p_beyond: float | None = None
    is_blind: bool = False


def judge_checks(
    outputs: Outputs,
    human: FloatArray,
    ratings: Ratings,
    agreeing: Ratings | None,
    scores: FloatArray,
    words: FloatArray,
    scale: Scale,
    view: View,
) -> Checks:
    """Return a judge's figures, over all outputs and within systems.

    Args:
        human, scores: shape (outputs,), NaN for missing.
        words: shape (outputs,), the length of each text, NaN where it is not known.
        agreeing: the ratings of the alternative annotator test, None where the judge is on another
            scale.
    """
    constants = [] if agreeing is None else constants_of(agreeing, scale)
    overall = _figures(
        (outputs, human, ratings, scores),
        _closeness(outputs, agreeing, scores, constants, view),
        view,
    )
    counting = outputs_within(outputs, human, scores)
    if counting is None:
        scored = ~np.isnan(human + scores)
        return Checks(
            overall,
            None,
            p_beyond_length(outputs, human, scores, words, by_system=False),
            is_blind=len(np.unique(outputs.system[scored])) > 1,
        )
    inside, rated = (np.where(counting, values, np.nan) for values in (scores, human))
    p_beyond = p_beyond_length(outputs, rated, inside, words, by_system=True)
    # Closeness is that of the scores themselves: less a mean, the ties of few points are none.
    constants = (
        [] if agreeing is None else [system_constants(outputs, agreeing, tried_points(scale))]
    )
    close = _closeness(outputs, agreeing, inside, constants, view)
    # Scores on another scale may spread over many powers of ten, so that a mean is its largest.
    if agreeing is None:
        inside[counting] = ranks(inside[counting])
    within = _figures(
        (
            outputs,
            less_system_means(outputs, rated),
            ratings_within_systems(outputs, ratings),
            less_system_means(outputs, inside),
        ),
        close,
        view_within(view, level_within(outputs, counting, len(scale.points)), scale),
    )
    return Checks(overall, within, p_beyond)


def view_within(view: View, level: Level, scale: Scale) -> View:
    """Return the view within systems at a level."""
    is_two = len(scale.points) == 2
    coefficient: Coefficient = "pearson" if is_two else view.coefficient
    return replace(view, level=level, coefficient=coefficient, over="documents")


def _figures(
    ranked: tuple[Outputs, FloatArray, Ratings, FloatArray],
    close: tuple[AltTest | None, float | None],
    view: View,
) -> CheckFigures:
    """Return the figures of both checks.

    Args:
        ranked: outputs, people's mean, ratings and scores to correlate.
        close: the alternative annotator test, and p of being no closer than the best constant.
    """
    outputs, human, ratings, scores = ranked
    about = (outputs, human, scores, view.coefficient, view.level)
    # Comparisons with annotators are over the outputs as they were rated, unweighted.
    as_a_rater = (outputs.unweighted, ratings, scores, view.coefficient, view.level)
    return CheckFigures(
        correlation=correlation_at(*about),
        interval=correlation_interval(*about, view.over),
        in_place=judge_as_a_rater(*as_a_rater),
        behind=judge_minus_a_rater(*as_a_rater),
        test=close[0],
        p_nearer=close[1],
    )


def _closeness(
    outputs: Outputs,
    agreeing: Ratings | None,
    scores: FloatArray,
    constants: Sequence[FloatArray],
    view: View,
) -> tuple[AltTest | None, float | None]:
    """Return the alternative annotator test, and p of the test that scores are no closer to raters
    than constants; None on another scale."""
    if agreeing is None:
        return None, None
    return (
        annotator_test(outputs, agreeing, scores, view.epsilon),
        p_nearer(agreeing, scores, constants, outputs),
    )


def filled_scores(
    human: FloatArray, scores: FloatArray, agreeing: Ratings | None, scale: Scale
) -> FloatArray | None:
    """Return the scores with those of rated outputs that are missing as the best constant would
    have them: the point that is nearest to raters, and on another scale the judge's median; shape
    (outputs,). None where enough are there.

    Args:
        human, scores: shape (outputs,), NaN for missing.
    """
    rated, missing = ~np.isnan(human), np.isnan(scores)
    if (rated & ~missing).sum() >= SCORED_SHARE * rated.sum() or missing.all():
        return None
    constant = (
        float(np.median(scores[~missing])) if agreeing is None else best_constant(agreeing, scale)
    )
    return np.where(rated & missing, constant, scores)


def annotator_test(
    outputs: Outputs, agreeing: Ratings, scores: FloatArray, epsilon: float
) -> AltTest:
    """Run the alternative annotator test with a report's sizes."""
    return alt_test(
        agreeing,
        scores,
        epsilon=epsilon,
        documents=outputs.clustered.document,
        least_outputs=ALT_TEST_OUTPUTS,
        least_annotators=ALT_TEST_ANNOTATORS,
    )


@lru_cache(maxsize=4)
def agreeing_ratings(outputs: Outputs, ratings: Ratings) -> tuple[Ratings, tuple[int, ...]]:
    """Return the ratings of raters who are shown to agree with others, and the positions of the
    other raters: a careless rater would make every judge look close to somebody. It is cached for
    all judges on a criterion."""
    agrees = raters_that_agree(ratings, outputs.clustered.document)
    if agrees.all():
        return ratings, ()
    kept = ratings.among(np.ones(ratings.outputs, dtype=bool), agrees)
    return kept, tuple(np.flatnonzero(~agrees).tolist())


def best_constant(ratings: Ratings, scale: Scale) -> float:
    """Return the point of a scale that wins most often against raters as a constant score."""
    return nearest_constant(ratings, tried_points(scale))


def tried_points(scale: Scale) -> tuple[float, ...]:
    """Return the points of a scale that are tried as constants."""
    points = scale.points
    if len(points) > MOST_CONSTANTS:
        indexes = np.linspace(0, len(points) - 1, MOST_CONSTANTS).round().astype(int)
        points = tuple(points[place] for place in indexes)
    return points


def constants_of(ratings: Ratings, scale: Scale) -> list[FloatArray]:
    """Return the constants that a judge has to be closer than, as scores of shape (outputs,): the
    best one, and on a scale with two points either, so that the majority is included."""
    points = scale.points if len(scale.points) == 2 else (best_constant(ratings, scale),)
    return [np.full(ratings.outputs, point) for point in points]


@lru_cache(maxsize=4)
def system_constants(outputs: Outputs, agreeing: Ratings, points: tuple[float, ...]) -> FloatArray:
    """Return the best constant of each output's system; shape (outputs,). It is cached for all
    judges on a criterion."""
    everybody = np.ones(agreeing.raters, dtype=bool)
    best = [
        nearest_constant(agreeing.among(outputs.system == system, everybody), points)
        for system in range(outputs.systems)
    ]
    return np.array(best)[outputs.system]


def p_nearer(
    agreeing: Ratings, scores: FloatArray, others: Sequence[FloatArray], outputs: Outputs
) -> float | None:
    """Return p of the test that scores are no closer to raters than each of some other scores."""
    tests = [p_of_nearer(agreeing, scores, each, outputs.clustered.document) for each in others]
    values = [p for p in tests if p is not None]
    return max(values) if len(values) == len(tests) else None
