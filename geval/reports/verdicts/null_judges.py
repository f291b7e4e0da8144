"""Null judges' results on the same ratings as a judge, in a report's view."""

from dataclasses import dataclass, replace

import numpy as np

from geval.reports.verdicts.check_figures import (
    View,
    annotator_test,
    best_constant,
    constants_of,
    p_nearer,
)
from geval.statistics.agreement import judge_as_a_rater
from geval.statistics.alt_test import p_of_nearer
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import correlation_at
from geval.statistics.jackknife import correlation_interval, difference_interval, no_interval
from geval.statistics.null_judges import (
    KNOWN_WITHIN,
    SHOWN_NULLS,
    NullName,
    annotator_scores,
    constant_scores,
    document_scores,
    group_scores,
    is_met,
    length_scores,
    like_length_scores,
    shuffled_scores,
    shuffles_of,
    system_scores,
)
from geval.statistics.pass_fail import PassFail, majority_of, pass_fail
from geval.statistics.resampling import Interval
from geval.statistics.scales import Scale
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.weighted_kappa import kappa_lead

# The name of each in tables and sentences.
TITLES: dict[NullName, str] = {
    "constant": "always the same score",
    "majority": "the majority",
    "shuffled": "its scores, shuffled",
    "length": "length alone",
    "like_length": "texts of like length",
    "system": "who wrote it",
    "document": "the document alone",
    "group": "the group alone",
    "annotator": "who rated it",
}
NOTHING_RANKED = "a judge that gives all outputs the same score ranks nothing"


@dataclass(frozen=True)
class NullDraw:
    """The results of some scores: correlation with people and its interval, the alternative
    annotator test, correlation in each rater's place, and p of the test that they are no closer to
    raters than the best constant.

    `ahead` is the interval of how far the real judge's correlation is above theirs on the same
    outputs (None for scores that rank nothing), `p_farther` p of the test that the judge is no
    closer to raters than they are, and `passing` compares them with people's pass or fail, where
    they rank and the scale has two points. `kappa_behind` is how far their weighted kappa is below
    the real judge's, where they rank and the verdict is by labels."""

    correlation: Estimate
    interval: Interval
    winning_rate: float | None
    passes: bool
    in_place: Estimate
    p_nearer: float | None = None
    ahead: Interval | None = None
    p_farther: float | None = None
    passing: PassFail | None = None
    kappa_behind: Interval | None = None


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
        best constant, as a judge must be, and the judge is not shown to be closer than it."""
        return is_met(
            [
                draw.passes
                and _is_shown(draw.p_nearer, error)
                and not _is_shown(draw.p_farther, error)
                for draw in self.draws
            ]
        )

    @property
    def may_rank_as_well(self) -> bool:
        """Whether it can rank, and the judge is not shown to rank better."""
        ahead = self.draws[0].ahead
        return ahead is not None and (ahead.low is None or ahead.low <= 0)

    @property
    def is_shown(self) -> bool:
        """Whether pages show it, as it may earn something."""
        return self.name in SHOWN_NULLS

    @property
    def passing(self) -> PassFail | None:
        """Its verdicts beside people's; None where it does not rank, or the scale has more points
        than two."""
        return self.draws[0].passing

    @property
    def kappa_behind(self) -> Interval | None:
        """How far its weighted kappa is below the real judge's; None where it does not rank, or
        the verdict is not by labels."""
        return self.draws[0].kappa_behind

    @property
    def is_known_within(self) -> bool:
        """Whether a look within systems takes off what it knows."""
        return self.name in KNOWN_WITHIN


def _is_shown(p: float | None, error: float) -> bool:
    return p is not None and p <= error


# Any constant: a report computed twice has the same null judges.
SEED = 0


@dataclass(frozen=True)
class NullView:
    """The input: people's mean and ratings, and scores, in a view.

    `human`, `scores` and `words` (of each output) have shape (outputs,), NaN for missing;
    `agreeing` are the ratings of the alternative annotator test, None where the judge is on another
    scale. `is_by_labels` says that the verdict is by labels: of pass or fail, or an expert's.
    """

    outputs: Outputs
    human: FloatArray
    ratings: Ratings
    agreeing: Ratings | None
    scores: FloatArray
    words: FloatArray
    scale: Scale
    view: View
    is_by_labels: bool = False


def null_judges(view: NullView) -> tuple[NullJudge, ...]:
    """Return the null judges: the best constant, on a scale with two points the majority, the
    judge's scores shuffled over outputs, and those that rank: length alone, where texts differ in
    it, and what people's other ratings of the system, document or group, or by the annotator,
    tell."""
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
    ranking: dict[NullName, FloatArray | None] = {
        "length": _by_length(view),
        "like_length": (
            like_length_scores(view.outputs, view.human, view.words) if view.is_by_labels else None
        ),
        "system": system_scores(view.outputs, view.human),
        "document": document_scores(view.outputs, view.human),
        "group": group_scores(view.outputs, view.human),
        "annotator": annotator_scores(view.outputs, view.ratings),
    }
    for name, scores in ranking.items():
        if scores is not None and len(np.unique(_counting(view, scores))) > 1:
            scored = np.where(np.isnan(view.scores), np.nan, scores)
            nulls.append(NullJudge(name, (_draw(view, scored, ranks=True),)))
    return tuple(nulls)


def _counting(view: NullView, scores: FloatArray) -> FloatArray:
    """Return the null judge's scores of the outputs that the judge scored."""
    return scores[~np.isnan(scores + view.scores)]


def _by_length(view: NullView) -> FloatArray | None:
    """Return the judge's scores in the order of length; None for texts of equal or unknown length:
    all would get the mean of the judge's scores, which may be closer to raters than any point of
    the scale."""
    lengths = np.unique(_counting(view, view.words))
    if len(lengths) < 2:
        return None
    # Longer or shorter texts, whichever people prefer.
    of_words = correlation_at(
        view.outputs, view.human, view.words, view.view.coefficient, view.view.level
    ).value
    sign = -1.0 if (of_words or 0.0) < 0 else 1.0
    # Missing texts are treated as neither long nor short.
    words = np.where(np.isnan(view.words), np.median(lengths), view.words)
    return length_scores(view.scores, sign * words)


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


def _draw(view: NullView, scores: FloatArray, *, ranks: bool) -> NullDraw:
    """
    Args:
        ranks: whether the scores can rank at all, so that intervals are worth computing.
    """
    agreeing, outputs, shown = view.agreeing, view.outputs, view.view
    test = None if agreeing is None else annotator_test(outputs, agreeing, scores, shown.epsilon)
    passes = bool(test and test.passes)
    about = (outputs, view.human, scores, shown.coefficient, shown.level)
    draw = NullDraw(
        correlation=correlation_at(*about),
        interval=correlation_interval(*about, shown.over) if ranks else no_interval(NOTHING_RANKED),
        winning_rate=test.winning_rate.value if test else None,
        passes=passes,
        p_nearer=(
            p_nearer(agreeing, scores, constants_of(agreeing, view.scale), outputs)
            if agreeing is not None and passes
            else None
        ),
        in_place=Estimate.undefined(NOTHING_RANKED),
    )
    if not ranks:
        return draw
    return replace(
        draw,
        in_place=judge_as_a_rater(
            outputs.unweighted, view.ratings, scores, shown.coefficient, shown.level
        ),
        ahead=difference_interval(
            outputs, (view.human, view.scores), (view.human, scores), shown.coefficient, shown.level
        ),
        p_farther=(
            p_of_nearer(agreeing, view.scores, scores, outputs.clustered.document)
            if agreeing is not None and passes
            else None
        ),
        passing=pass_fail(outputs, view.human, scores, view.scale),
        kappa_behind=(
            kappa_lead(outputs, view.human, view.scores, scores) if view.is_by_labels else None
        ),
    )
