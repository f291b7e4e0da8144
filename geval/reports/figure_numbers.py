"""The numbers of a criterion's figures, computed from its result and its scores."""

import numpy as np

from geval.reports.drawings.forest import forest_lines, lowest_near_one_rater
from geval.reports.drawings.numbers import (
    MOST_SIDES,
    Bubble,
    Calibrated,
    CriterionNumbers,
    JudgeNumbers,
    SystemMeans,
    Tally,
)
from geval.reports.expert_words import with_brackets
from geval.reports.figures import PEOPLE, Subject
from geval.reports.report import JudgeResult
from geval.reports.words import SYMBOLS
from geval.statistics.calibration import reliability_intervals
from geval.statistics.correlation import mean_by_document
from geval.statistics.types import FloatArray
from geval.texts.numbers import in_brackets, shown

# If there are more distinct values, they are put into this many ranges.
MOST_VALUES = 21
# Circles of values closer than this share of an axis would overlap.
LEAST_GAP = 1 / 24
# Hexagons are used for more values than this on both axes, with at most as many columns.
FEW_VALUES, MOST_COLUMNS = 8, 16
# A hexagon's height relative to the distance of columns.
HEXAGON_HEIGHT = 2 / 3**0.5
# How many outputs of a bubble can be opened.
MOST_MEMBERS = 50


def numbers_for_figures(subject: Subject) -> CriterionNumbers:
    """Return the numbers of a criterion's figures; it must have at least one judge."""
    result, criterion = subject.result, subject.criterion
    best = result.best or result.judges[0]
    sides, people, values = _sides(subject)
    # Of pass or fail nothing is drawn whose axis is a correlation.
    has_ranks = not result.has_pass_fail
    return CriterionNumbers(
        pk=criterion.pk,
        name=criterion.name,
        lowest=criterion.scale.lowest,
        highest=criterion.scale.highest,
        documents=result.documents,
        judges=tuple(_judge(subject, judge) for judge in result.judges),
        best=best.pk,
        sides=tuple(sides) if has_ranks else (),
        people=tuple(people) if has_ranks else (),
        human_label=subject.result.options.human_score_label,
        pairs=_pairs(subject, values) if has_ranks else (),
        measure=(
            f"{result.options.level.capitalize()}-level {SYMBOLS[result.options.coefficient]} with"
            f" {result.options.human_score_in_words}"
        ),
        forest=forest_lines(result) if has_ranks else (),
        bar=lowest_near_one_rater(result),
        is_weighted=result.weights is not None,
        freedom=result.freedom,
    )


def _judge(subject: Subject, judge: JudgeResult) -> JudgeNumbers:
    human, scores = subject.human, subject.scores(judge)
    options, analysis = subject.result.options, judge.analysis
    compared = ~np.isnan(human) & ~np.isnan(scores)
    interval = subject.result.interval_of(judge)
    correlation = f"{shown(judge.shown(options))} {in_brackets(interval)}".rstrip()
    if options.level != "summary":
        interval = judge.intervals[options.coefficient]
    value = f"{SYMBOLS[options.coefficient]} {correlation}"
    half_width = None if interval.width is None else interval.width / 2
    if analysis.passing:
        value, half_width = f"kappa {with_brackets(analysis.passing.kappa)}", None
    tile = _tile(subject, analysis.on_scale, human[compared], scores[compared])
    return JudgeNumbers(
        pk=judge.pk,
        name=judge.named,
        on_scale=analysis.on_scale,
        correlation=value,
        outputs=int(compared.sum()),
        gap=subject.outputs.part(compared).mean((scores - human)[compared])
        if compared.any()
        else 0.0,
        seen=f"{judge.judge}: {judge.seen}." if judge.seen else "",
        bubbles=_bubbles(subject, scores, compared, tile),
        calibration=_calibration(subject, scores) if analysis.on_scale else (),
        systems=_systems(subject, scores, compared),
        documents=judge.correlations.documents_used,
        half_width=half_width,
        tile=tile,
        human_tallies=_tallies(human[compared]),
        tallies=_tallies(scores[compared]),
    )


def _tile(
    subject: Subject, on_scale: bool, human: FloatArray, scores: FloatArray
) -> tuple[float, float] | None:
    """Return the distances between columns and rows of hexagons; None where circles do not
    overlap."""
    kinds = [np.unique(np.round(side, 4)) for side in (human, scores)]
    if min(map(len, kinds)) <= FEW_VALUES:
        return None
    scale = subject.criterion.scale
    wide = scale.highest - scale.lowest
    high = wide if on_scale else float(np.ptp(scores))
    gaps = [float(np.diff(kind).min()) for kind in kinds]
    few = all(len(kind) <= MOST_VALUES for kind in kinds)
    if few and gaps[0] >= LEAST_GAP * wide and gaps[1] >= LEAST_GAP * high:
        return None
    # A column for each human score if there are few.
    column = max(gaps[0], wide / MOST_COLUMNS)
    return column, HEXAGON_HEIGHT * column * high / wide


def _bubbles(
    subject: Subject, scores: FloatArray, compared: np.ndarray, tile: tuple[float, float] | None
) -> tuple[Bubble, ...]:
    indexes = np.flatnonzero(compared)
    if tile is None:
        places = np.stack([_rounded(subject.human[indexes]), _rounded(scores[indexes])])
    else:
        places = _hexagons(subject.human[indexes], scores[indexes], *tile)
    middles, place = np.unique(places, axis=1, return_inverse=True)
    place = place.reshape(-1)
    order = np.argsort(place, kind="stable")
    groups = np.split(indexes[order], np.cumsum(np.bincount(place))[:-1]) if len(indexes) else []
    return tuple(
        Bubble(float(x), float(y), len(group), tuple(_ids(subject, group[:MOST_MEMBERS])))
        for (x, y), group in zip(middles.T, groups, strict=True)
    )


def _hexagons(x: FloatArray, y: FloatArray, column: float, row: float) -> FloatArray:
    """Return the centre of each point's hexagon; shape (2, n). Every other column is half a row
    higher."""
    across, up = (x - x.min()) / column, (y - y.min()) / row
    even = np.stack([2 * np.round(across / 2), np.round(up)])
    odd = np.stack([2 * np.round((across - 1) / 2) + 1, np.round(up - 0.5) + 0.5])
    far = [
        (across - middle[0]) ** 2 + (HEXAGON_HEIGHT * (up - middle[1])) ** 2
        for middle in (even, odd)
    ]
    nearer = np.where(far[0] <= far[1], even, odd)
    return np.round(np.stack([x.min() + column * nearer[0], y.min() + row * nearer[1]]), 4)


def _tallies(values: FloatArray) -> tuple[Tally, ...]:
    kinds, counts = np.unique(_rounded(values), return_counts=True)
    return tuple(Tally(float(kind), int(count)) for kind, count in zip(kinds, counts, strict=True))


def _ids(subject: Subject, places: np.ndarray) -> list[int]:
    return [int(pk) for pk in subject.data.output_ids[places]]


def _rounded(values: FloatArray) -> FloatArray:
    """Round values to four digits, or if there are many distinct ones to the middles of equal
    ranges."""
    values = np.round(values, 4)
    if len(np.unique(values)) <= MOST_VALUES:
        return values
    edges = np.linspace(values.min(), values.max(), MOST_VALUES)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, MOST_VALUES - 2)
    return np.round((edges[place] + edges[place + 1]) / 2, 4)


def _calibration(subject: Subject, scores: FloatArray) -> tuple[Calibrated, ...]:
    reliability = reliability_intervals(subject.outputs, scores, subject.human)
    return tuple(
        Calibrated(bin_.score, bin_.rating, interval.low, interval.high, bin_.outputs)
        for bin_, interval in reliability
    )


def _systems(subject: Subject, scores: FloatArray, compared: np.ndarray) -> tuple[SystemMeans, ...]:
    data = subject.data
    sides = [np.where(compared, side, np.nan) for side in (subject.human, scores)]
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
    raters = [(human.annotators[index], human.ratings.values_of(index)) for index in most]
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
        tuple(None if np.isnan(value) else round(float(value), 4) for value in row)
        for row in values
    )
