"""The numbers of a criterion's figures, computed from its result and its scores."""

import numpy as np

from evaluations.reports.figures import PEOPLE, Subject
from evaluations.reports.report import JudgeResult
from evaluations.reports.words import SYMBOLS
from geval.drawings.numbers import (
    MOST_SIDES,
    Bubble,
    Calibrated,
    CriterionNumbers,
    JudgeNumbers,
    SystemMeans,
)
from geval.statistics.calibration import reliability_intervals
from geval.statistics.correlation import mean_by_document
from geval.statistics.types import FloatArray
from geval.texts.numbers import in_brackets, shown

# Values of more kinds than this are put into as many ranges.
MOST_VALUES = 21
# Of each bubble so many outputs can be opened.
MOST_MEMBERS = 50


def numbers_for_figures(subject: Subject) -> CriterionNumbers:
    """The numbers of a criterion's figures; it has at least one judge."""
    result, criterion = subject.result, subject.criterion
    best = result.best or result.judges[0]
    sides, people, values = _sides(subject)
    return CriterionNumbers(
        pk=criterion.pk,
        name=criterion.name,
        lowest=criterion.scale.lowest,
        highest=criterion.scale.highest,
        documents=result.documents,
        judges=tuple(_judge(subject, judge) for judge in result.judges),
        best=best.pk,
        sides=tuple(sides),
        people=tuple(people),
        human_label=subject.result.options.human_score_label,
        pairs=_pairs(subject, values),
        is_weighted=result.weights is not None,
        freedom=result.freedom,
    )


def _judge(subject: Subject, judge: JudgeResult) -> JudgeNumbers:
    human, scores = subject.human, subject.scores(judge)
    options, analysis = subject.result.options, judge.analysis
    both = ~np.isnan(human) & ~np.isnan(scores)
    interval = judge.intervals[options.coefficient]
    value = f"{SYMBOLS[options.coefficient]} {shown(judge.shown(options))}"
    return JudgeNumbers(
        pk=judge.pk,
        name=judge.named,
        on_scale=analysis.on_scale,
        correlation=f"{value} {in_brackets(analysis.shown)}".rstrip(),
        outputs=int(both.sum()),
        gap=subject.outputs.part(both).mean((scores - human)[both]) if both.any() else 0.0,
        seen=f"{judge.judge}: {judge.seen}." if judge.seen else "",
        bubbles=_bubbles(subject, scores, both),
        calibration=_calibration(subject, scores) if analysis.on_scale else (),
        systems=_systems(subject, scores, both),
        documents=judge.correlations.documents_used,
        half_width=None if interval.width is None else interval.width / 2,
    )


def _bubbles(subject: Subject, scores: FloatArray, both: np.ndarray) -> tuple[Bubble, ...]:
    at = np.flatnonzero(both)
    human, given = _rounded(subject.human[at]), _rounded(scores[at])
    found, place = np.unique(np.stack([human, given]), axis=1, return_inverse=True)
    place = place.reshape(-1)
    order = np.argsort(place, kind="stable")
    groups = np.split(at[order], np.cumsum(np.bincount(place))[:-1]) if len(at) else []
    return tuple(
        Bubble(float(x), float(y), len(group), tuple(_ids(subject, group[:MOST_MEMBERS])))
        for (x, y), group in zip(found.T, groups, strict=True)
    )


def _ids(subject: Subject, places: np.ndarray) -> list[int]:
    return [int(pk) for pk in subject.data.output_ids[places]]


def _rounded(values: FloatArray) -> FloatArray:
    """Values to four digits, or of many different ones the middles of ranges of equal width."""
    values = np.round(values, 4)
    if len(np.unique(values)) <= MOST_VALUES:
        return values
    edges = np.linspace(values.min(), values.max(), MOST_VALUES)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, MOST_VALUES - 2)
    return np.round((edges[place] + edges[place + 1]) / 2, 4)


def _calibration(subject: Subject, scores: FloatArray) -> tuple[Calibrated, ...]:
    found = reliability_intervals(subject.outputs, scores, subject.human)
    return tuple(
        Calibrated(one.score, one.rating, interval.low, interval.high, one.outputs)
        for one, interval in found
    )


def _systems(subject: Subject, scores: FloatArray, both: np.ndarray) -> tuple[SystemMeans, ...]:
    data = subject.data
    sides = [np.where(both, side, np.nan) for side in (subject.human, scores)]
    means = [data.system_means(side, subject.criterion.pk) for side in sides]
    return tuple(
        SystemMeans(name, float(human), float(judge))
        for name, human, judge in zip(data.system_names, *means, strict=True)
        if not np.isnan(human)
    )


def _sides(subject: Subject) -> tuple[list[str], list[bool], list[FloatArray]]:
    """Judges in the order of the report, and the annotators with most ratings: names, which are
    annotators, and their values."""
    judges = [judge for judge in subject.sides.items() if judge[0] != PEOPLE][:MOST_SIDES]
    human = subject.data.humans[subject.criterion.pk]
    ratings = np.bincount(human.ratings.rater, minlength=human.ratings.raters)
    most = np.sort(np.argsort(-ratings, kind="stable")[:MOST_SIDES])
    raters = [(human.annotators[at], human.ratings.values_of(at)) for at in most]
    names = [name for name, _ in (*judges, *raters)]
    people = [False] * len(judges) + [True] * len(raters)
    return names, people, [values for _, values in (*judges, *raters)]


def _pairs(subject: Subject, sides: list[FloatArray]) -> tuple[tuple[float | None, ...], ...]:
    values = np.full((len(sides), len(sides)), np.nan)
    for first in range(len(sides)):
        for second in range(first):
            rho = mean_by_document(subject.data.outputs, sides[first], sides[second])
            values[first, second] = values[second, first] = rho
    return tuple(
        tuple(None if np.isnan(one) else round(float(one), 4) for one in row) for row in values
    )
