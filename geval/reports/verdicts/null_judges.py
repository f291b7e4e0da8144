"""Null judges' results on the same ratings as a judge, in a report's view."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.agreement import judge_as_a_rater
from geval.statistics.alt_test import AltTest, alt_test, nearest_constant, p_of_nearer
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import Coefficient, Level, correlation_at
from geval.statistics.jackknife import correlation_interval, no_interval
from geval.statistics.null_judges import (
    NullName,
    constant_scores,
    is_met,
    length_scores,
    shuffled_scores,
    shuffles_of,
)
from geval.statistics.pass_fail import majority_of
from geval.statistics.resampling import Interval, Over
from geval.statistics.scales import Scale
from geval.statistics.types import Estimate, FloatArray

# The name of each in tables and sentences.
TITLES: dict[NullName, str] = {
    "constant": "always the same score",
    "majority": "the majority",
    "shuffled": "its scores, shuffled",
    "length": "length alone",
}


@dataclass(frozen=True)
class NullDraw:
    """The results of some scores: correlation with people and its interval, the alternative
    annotator test, correlation in each rater's place, and p of the test that they are no closer to
    raters than the best constant."""

    correlation: Estimate
    interval: Interval
    winning_rate: float | None
    passes: bool
    in_place: Estimate
    p_nearer: float | None = None


@dataclass(frozen=True)
class NullJudge:
    """A null judge for a real judge; shuffled scores have several draws. `value` is the score of a
    constant or of the majority."""

    name: NullName
    draws: tuple[NullDraw, ...]
    value: float | None = None

    @property
    def title(self) -> str:
        if self.value is None:
            return TITLES[self.name]
        always = f"always {self.value:g}"
        return f"{TITLES[self.name]}, {always}" if self.name == "majority" else always

    @property
    def correlation(self) -> Estimate:
        """The mean over draws."""
        values = self._correlations
        return Estimate(float(np.mean(values))) if values else self.draws[0].correlation

    @property
    def interval(self) -> Interval:
        """The interval; of several draws the range of correlations."""
        if len(self.draws) == 1:
            return self.draws[0].interval
        values = self._correlations
        return Interval(min(values), max(values)) if values else no_interval("no draw has a value")

    @property
    def _correlations(self) -> list[float]:
        """The correlations of draws where it is defined."""
        values = (draw.correlation.value for draw in self.draws)
        return [value for value in values if value is not None]

    @property
    def winning_rate(self) -> float | None:
        rates = [draw.winning_rate for draw in self.draws if draw.winning_rate is not None]
        return float(np.mean(rates)) if rates else None

    @property
    def passes(self) -> bool:
        """Whether it passes the alternative annotator test, more often than by chance."""
        return is_met([draw.passes for draw in self.draws])

    def scores_like_a_rater(self, error: float) -> bool:
        """Return whether it passes the test and is shown at this error level to be closer than the
        best constant, as a judge must be."""
        return is_met(
            [
                draw.passes and draw.p_nearer is not None and draw.p_nearer <= error
                for draw in self.draws
            ]
        )


# If a scale has more points, this many, evenly spaced, are tried as constants.
MOST_CONSTANTS = 11
# Any constant: a report computed twice has the same null judges.
SEED = 0


@dataclass(frozen=True)
class NullView:
    """The input: people's mean and ratings, and scores, in a view.

    `human`, `scores` and `words` (of each output) have shape (outputs,), NaN for missing;
    `agreeing` are the ratings of the alternative annotator test, None where the judge is on another
    scale.
    """

    outputs: Outputs
    human: FloatArray
    ratings: Ratings
    agreeing: Ratings | None
    scores: FloatArray
    words: FloatArray
    scale: Scale
    level: Level
    coefficient: Coefficient
    over: Over
    epsilon: float
    least_outputs: int
    least_annotators: int


def null_judges(view: NullView) -> tuple[NullJudge, ...]:
    """Return the null judges: the best constant, on a scale with two points the majority, the
    judge's scores shuffled over outputs, and length alone, where texts differ in it."""
    nulls = []
    always: dict[NullName, float | None] = {
        "constant": best_constant(view.agreeing, view.scale) if view.agreeing is not None else None,
        "majority": _majority(view),
    }
    for name, value in always.items():
        if value is not None:
            constant = _draw(view, constant_scores(view.scores, value), ranks=False)
            nulls.append(NullJudge(name, (constant,), value))
    rng = np.random.default_rng(SEED)
    shuffled = tuple(
        _draw(view, shuffled_scores(view.scores, rng), ranks=False)
        for _ in range(shuffles_of(len(view.ratings)))
    )
    nulls.append(NullJudge("shuffled", shuffled))
    # For texts of equal or unknown length, length gives all the same score: the mean of the
    # judge's, which may be closer to raters than any point of the scale.
    lengths = np.unique(view.words[~np.isnan(view.words + view.scores)])
    if len(lengths) < 2:
        return tuple(nulls)
    # Longer or shorter texts, whichever people prefer.
    of_words = correlation_at(
        view.outputs, view.human, view.words, view.coefficient, view.level
    ).value
    sign = -1.0 if (of_words or 0.0) < 0 else 1.0
    # Missing texts are treated as neither long nor short.
    words = np.where(np.isnan(view.words), np.median(lengths), view.words)
    by_length = length_scores(view.scores, sign * words)
    nulls.append(NullJudge("length", (_draw(view, by_length, ranks=True),)))
    return tuple(nulls)


def _majority(view: NullView) -> float | None:
    """Return people's most common verdict on a scale with two points; None on other scales, or
    where nothing is rated."""
    if len(view.scale.points) != 2:
        return None
    rated = ~np.isnan(view.human + view.scores)
    if not rated.any():
        return None
    people = view.human[rated] >= sum(view.scale.points) / 2
    weight = None if view.outputs.weight is None else view.outputs.weight[rated]
    return view.scale.points[int(majority_of(people, weight).passes)]


def best_constant(ratings: Ratings, scale: Scale) -> float:
    """Return the point of a scale that wins most often against raters as a constant score."""
    points = scale.points
    if len(points) > MOST_CONSTANTS:
        indexes = np.linspace(0, len(points) - 1, MOST_CONSTANTS).round().astype(int)
        points = tuple(points[place] for place in indexes)
    return nearest_constant(ratings, points)


def p_nearer(agreeing: Ratings, scores: FloatArray, scale: Scale, outputs: Outputs) -> float | None:
    """Return p of the test that scores are no closer to raters than the best constant; on a scale
    with two points than either point, so that the majority is included."""
    points = scale.points if len(scale.points) == 2 else (best_constant(agreeing, scale),)
    tests = [
        p_of_nearer(agreeing, scores, np.full(len(scores), point), outputs.document)
        for point in points
    ]
    values = [p for p in tests if p is not None]
    return max(values) if len(values) == len(tests) else None


def _draw(view: NullView, scores: FloatArray, *, ranks: bool) -> NullDraw:
    """
    Args:
        ranks: whether the scores can rank at all, so that intervals are worth computing.
    """
    test: AltTest | None = None
    if view.agreeing is not None:
        test = alt_test(
            view.agreeing,
            scores,
            epsilon=view.epsilon,
            documents=view.outputs.document,
            least_outputs=view.least_outputs,
            least_annotators=view.least_annotators,
        )
    about = (view.outputs, view.human, scores, view.coefficient, view.level)
    return NullDraw(
        correlation=correlation_at(*about),
        interval=(
            correlation_interval(*about, view.over)
            if ranks
            else no_interval("a judge that reads nothing ranks nothing")
        ),
        winning_rate=test.winning_rate.value if test else None,
        passes=bool(test and test.passes),
        p_nearer=(
            p_nearer(view.agreeing, scores, view.scale, view.outputs)
            if view.agreeing is not None and test and test.passes
            else None
        ),
        in_place=(
            judge_as_a_rater(
                view.outputs.unweighted, view.ratings, scores, view.coefficient, view.level
            )
            if ranks
            else Estimate.undefined("a judge that reads nothing ranks nothing")
        ),
    )
