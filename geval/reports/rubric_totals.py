"""Ratings and scores of rubrics, which are not stored, from those of their items."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.human_scores import HumanScores, Rater, Sampled, human_scores_of
from geval.statistics.rubrics import Rubric
from geval.statistics.scales import NO_POINT
from geval.statistics.types import FloatArray, IntArray, tie_close_values


def fill_totals_of_people(data: ReportData, rubric: Rubric) -> None:
    """Replace people's ratings on a rubric by the totals of each rater's answers on its items.

    Where only means of several people are stated, the total is that of the means. An output counts
    by the largest of its items' sampling weights, as it has a total where all items were drawn.
    """
    humans = [data.humans[item.pk] for item in rubric.items]
    names = {pk: name for human in humans for pk, name in _named(human)}
    raters = np.array(sorted({*names, *(pk for human in humans for pk in _na_of(human)[:, 1])}))
    rated = [_cells(h.ratings.output, np.array(h.annotator_ids)[h.ratings.rater], raters)
             for h in humans]  # fmt: skip
    na_cells = [_cells(na[:, 0], na[:, 1], raters) for na in map(_na_of, humans)]
    cells = np.unique(np.concatenate([*rated, *na_cells]))
    passed = np.full((len(humans), len(cells)), np.nan)
    skipped = np.zeros(passed.shape, dtype=bool)
    for at, (human, item) in enumerate(zip(humans, rubric.items, strict=True)):
        skipped[at, np.searchsorted(cells, na_cells[at])] = True
        passed[at, np.searchsorted(cells, rated[at])] = item.passes(human.ratings.value)
    skipped &= np.isnan(passed)
    total = rubric.totals(passed, skipped)
    output, rater = np.divmod(cells, max(1, len(raters)))
    has_total, is_na = ~np.isnan(total), skipped.all(axis=0)
    human = human_scores_of(
        output[has_total],
        rater[has_total],
        total[has_total],
        outputs=len(data.outputs),
        raters=[Rater(pk, names.get(pk, "")) for pk in raters.tolist()],
        in_sight=max(human.in_sight for human in humans),
    )
    human = replace(
        human,
        mean=np.where(np.isnan(human.mean), _of_stated_means(rubric, humans), human.mean),
        decided=_decided(rubric, humans, human.mean),
        said_na=np.column_stack((output, raters[rater]))[is_na] if is_na.any() else None,
    )
    data.humans[rubric.pk] = _weighed(human, humans)


def fill_totals_of_judge(data: ReportData, rubric: Rubric, judge: int) -> None:
    """Replace a judge's scores on a rubric by the totals of its scores on the items."""
    none = np.full(len(data.outputs), np.nan)
    keys = [(item.pk, judge) for item in rubric.items]
    passed = np.stack(
        [
            item.passes(data.judges.get(key, none))
            for item, key in zip(rubric.items, keys, strict=True)
        ]
    )
    of_items = [data.not_applicable.get(key, np.zeros(len(none), dtype=bool)) for key in keys]
    skipped = np.stack(of_items) & np.isnan(passed)
    total = rubric.totals(passed, skipped)
    is_na = np.asarray(skipped.all(axis=0))
    key = rubric.pk, judge
    data.judges.pop(key, None)
    data.not_applicable.pop(key, None)
    if not np.isnan(total).all():
        data.judges[key] = tie_close_values(total)
    if is_na.any():
        data.not_applicable[key] = is_na


def _named(human: HumanScores) -> Iterable[tuple[int, str]]:
    return zip(human.annotator_ids, human.annotators, strict=True)


def _na_of(human: HumanScores) -> IntArray:
    return np.empty((0, 2), dtype=np.int64) if human.said_na is None else human.said_na


def _cells(output: IntArray, annotator: IntArray, raters: IntArray) -> IntArray:
    """Return a number for each pair of an output's index and a rater's id."""
    at: IntArray = np.searchsorted(raters, annotator)
    return output.astype(np.int64) * len(raters) + at


def _of_stated_means(rubric: Rubric, humans: list[HumanScores]) -> FloatArray:
    """Return the totals of outputs of which no individual rated any item."""
    stated = [np.where(human.ratings.count == 0, human.mean, np.nan) for human in humans]
    shares = [item.shares(mean) for item, mean in zip(rubric.items, stated, strict=True)]
    return tie_close_values(rubric.totals(np.stack(shares), np.zeros((len(shares), 1), dtype=bool)))


def _decided(rubric: Rubric, humans: list[HumanScores], mean: FloatArray) -> FloatArray | None:
    """Return the totals of outputs on which adjudicators decided an item: of decisions, and of the
    mean rating of each other item; NO_POINT where no item applies, as in `HumanScores`."""
    if all(human.decided is None for human in humans):
        return None
    none = np.full(len(mean), np.nan)
    decided = np.stack([none if each.decided is None else each.decided for each in humans])
    open_ = np.isnan(decided)
    is_na = np.stack([np.isin(np.arange(len(mean)), _na_of(each)[:, 0]) for each in humans])
    values = np.where(open_, np.stack([human.mean for human in humans]), decided)
    skipped = (decided == NO_POINT) | (open_ & is_na & np.isnan(values))
    with np.errstate(invalid="ignore"):
        shares = [item.shares(of) for item, of in zip(rubric.items, values, strict=True)]
    total = np.where(skipped.all(axis=0), NO_POINT, rubric.totals(np.stack(shares), skipped))
    return np.where(open_.all(axis=0), np.nan, total)


def _weighed(human: HumanScores, items: list[HumanScores]) -> HumanScores:
    """Return totals with the sampling weights of their items."""
    tops = [item.top for item in items if item.top is not None]
    if not tops and all(item.weight is None for item in items):
        return human
    weights = [
        np.where(np.isnan(item.mean), 0.0, 1.0) if item.weight is None else item.weight
        for item in items
    ]
    weight = np.max(weights, axis=0)
    probability = np.divide(1.0, weight, out=np.zeros(len(weight)), where=weight > 0)
    top = np.any(tops, axis=0) if tops else np.zeros(len(weight), dtype=bool)
    return Sampled(probability, top).weighing(human)
