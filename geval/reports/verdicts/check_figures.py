"""What the two checks of a verdict rest on: a judge's figures in a view, over all outputs, within
systems, and with missing scores filled in."""

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
)
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.within_systems import (
    less_system_means,
    level_within,
    outputs_within,
    ratings_within_systems,
)

# If a scale has more points, this many, evenly spaced, are tried as constants.
MOST_CONSTANTS = 11
# Less its system's mean, a constant is 0.
CONSTANT_WITHIN = (0.0,)


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
    `is_blind` says that several systems have too few outputs each for it."""

    overall: CheckFigures
    within: CheckFigures | None
    is_blind: bool = False


def judge_checks(
    outputs: Outputs,
    human: FloatArray,
    ratings: Ratings,
    agreeing: Ratings | None,
    scores: FloatArray,
    scale: Scale,
    view: View,
) -> Checks:
    """Return a judge's figures, over all outputs and within systems.

    Args:
        human, scores: shape (outputs,), NaN for missing.
        agreeing: the ratings of the alternative annotator test, None where the judge is on another
            scale.
    """
    overall = _figures(
        outputs,
        human,
        (ratings, agreeing),
        scores,
        () if agreeing is None else constants_of(agreeing, scale),
        view,
    )
    counting = outputs_within(outputs, human, scores)
    if counting is None:
        scored = ~np.isnan(human + scores)
        return Checks(overall, None, is_blind=len(np.unique(outputs.system[scored])) > 1)
    # Scores on another scale may spread over many powers of ten, so that a mean is its largest.
    inside = np.where(counting, scores, np.nan)
    if agreeing is None:
        inside[counting] = ranks(inside[counting])
    within = _figures(
        outputs,
        less_system_means(outputs, np.where(counting, human, np.nan)),
        (
            ratings_within_systems(outputs, ratings),
            None if agreeing is None else ratings_within_systems(outputs, agreeing),
        ),
        less_system_means(outputs, inside),
        CONSTANT_WITHIN,
        view_within(view, level_within(outputs, counting, len(scale.points)), scale),
    )
    return Checks(overall, within)


def view_within(view: View, level: Level, scale: Scale) -> View:
    """Return the view within systems at a level."""
    is_two = len(scale.points) == 2
    coefficient: Coefficient = "pearson" if is_two else view.coefficient
    return replace(view, level=level, coefficient=coefficient, over="documents")


def _figures(
    outputs: Outputs,
    human: FloatArray,
    ratings: tuple[Ratings, Ratings | None],
    scores: FloatArray,
    constants: tuple[float, ...],
    view: View,
) -> CheckFigures:
    of_all, agreeing = ratings
    about = (outputs, human, scores, view.coefficient, view.level)
    # Comparisons with annotators are over the outputs as they were rated, unweighted.
    as_a_rater = (outputs.unweighted, of_all, scores, view.coefficient, view.level)
    test = None if agreeing is None else annotator_test(outputs, agreeing, scores, view.epsilon)
    return CheckFigures(
        correlation=correlation_at(*about),
        interval=correlation_interval(*about, view.over),
        in_place=judge_as_a_rater(*as_a_rater),
        behind=judge_minus_a_rater(*as_a_rater),
        test=test,
        p_nearer=None if agreeing is None else p_nearer(agreeing, scores, constants, outputs),
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
    points = scale.points
    if len(points) > MOST_CONSTANTS:
        indexes = np.linspace(0, len(points) - 1, MOST_CONSTANTS).round().astype(int)
        points = tuple(points[place] for place in indexes)
    return nearest_constant(ratings, points)


def constants_of(ratings: Ratings, scale: Scale) -> tuple[float, ...]:
    """Return the constants that a judge has to be closer than: the best one, and on a scale with
    two points either, so that the majority is included."""
    return scale.points if len(scale.points) == 2 else (best_constant(ratings, scale),)


def p_nearer(
    agreeing: Ratings, scores: FloatArray, constants: tuple[float, ...], outputs: Outputs
) -> float | None:
    """Return p of the test that scores are no closer to raters than each of some constants."""
    tests = [
        p_of_nearer(agreeing, scores, np.full(len(scores), constant), outputs.clustered.document)
        for constant in constants
    ]
    values = [p for p in tests if p is not None]
    return max(values) if len(values) == len(tests) else None
