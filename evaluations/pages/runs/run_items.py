"""The items of a run as a list: each score next to people's mean, largest differences first.

One statement selects items with a difference, another fills the page, and a third reads their
contents, so that a page of a run of 100,000 items takes as many queries as one of ten.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from evaluations.judging.runs.counts import LAID_OUT_SECONDS, count_seldom
from evaluations.models import CandidateOutput, EvaluationRun, ItemState, RunItem, Score
from evaluations.models.improving import shown_means, withheld_documents
from geval.reports.score_cells import ScoreCell, ScoreOf, judge_cell
from geval.statistics.types import IntArray
from geval_site.sql import fetch_rows, fetch_value

Read = TypeVar("Read")
PAGE_SIZE = 50
DISAGREEMENT, ORDER = "disagreement", "order"
SORTS = {DISAGREEMENT: "largest difference first", ORDER: "in the order of the run"}
# Joined only if needed: counting half a million rows is twice as fast without it.
_OUTPUT = "JOIN evaluations_candidateoutput o ON o.id = i.output_id"
_IN_ORDER = """
    SELECT i.id FROM evaluations_runitem i {chosen} AND i.id <> ALL(%(ranked)s::bigint[])
    ORDER BY i.id LIMIT %(most)s OFFSET %(after)s"""
# Scores for all criteria at once and scores of pairs have no difference and come last, as do those
# of locked documents, because an order by difference would reveal withheld ratings. Only scored
# items are read, which are few when a run begins. Scores and means are matched by grouping, which
# takes the same time even before PostgreSQL knows their number; a join may then take minutes.
# All views of a run share one order, as most of the time goes into people's means.
_BY_GAP = """
    WITH scored AS MATERIALIZED (
        SELECT s.output_id, s.criterion_id, o.system_id, s.value
        FROM evaluations_score s JOIN evaluations_candidateoutput o ON o.id = s.output_id
        WHERE s.run_id = %(run)s AND s.criterion_id IS NOT NULL
          AND o.document_id <> ALL(%(hidden)s::bigint[])),
    both_sides AS (
        SELECT output_id, criterion_id, system_id, value, NULL::float AS mean FROM scored
        UNION ALL
        SELECT output_id, criterion_id, NULL, NULL, mean
        FROM annotations_human_means(ARRAY(SELECT DISTINCT output_id FROM scored))),
    gaps AS MATERIALIZED (
        SELECT output_id, criterion_id, max(system_id) AS system_id,
               abs(max(value) - max(mean)) AS gap
        FROM both_sides GROUP BY output_id, criterion_id)
    SELECT i.id, i.criterion_id, g.system_id, i.state = 'done'
    FROM gaps g JOIN evaluations_runitem i
        ON i.run_id = %(run)s AND i.output_id = g.output_id AND i.criterion_id = g.criterion_id
       AND i.rival_id IS NULL
    WHERE g.gap IS NOT NULL
    ORDER BY g.gap DESC, i.id"""


@dataclass(frozen=True)
class ItemsView:
    """Selects and orders the listed items of a run. `criterion` and `system` are ids, 0 for all."""

    state: str = ""
    reason: str = ""
    criterion: int = 0
    system: int = 0
    sort: str = DISAGREEMENT

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ItemsView":
        """Parse a query; invalid values are ignored."""
        state, sort = query.get("state", ""), query.get("sort", "")
        return cls(
            state=state if state in ItemState.values else "",
            reason=query.get("reason", "")[:50].replace("\0", ""),
            criterion=_id(query.get("criterion", "")),
            system=_id(query.get("system", "")),
            sort=sort if sort in SORTS else DISAGREEMENT,
        )

    @property
    def condition(self) -> str:
        """The SQL after FROM that selects the listed items `i` of the run."""
        conditions = ["i.run_id = %(run)s"]
        if self.state:
            conditions.append("i.state = %(state)s")
        if self.reason:
            # Only failed items have a reason, so the index of failed items is used.
            conditions.append("i.state = 'failed' AND i.reason = %(reason)s")
        if self.criterion:
            conditions.append("i.criterion_id = %(criterion)s")
        if self.system:
            conditions.append("o.system_id = %(system)s")
        return f"{_OUTPUT if self.system else ''} WHERE {' AND '.join(conditions)}"


@dataclass(frozen=True)
class ItemRow:
    """An item with its score (None without one) and people's mean."""

    item: RunItem
    cell: ScoreCell | None
    mean: float | None


def _id(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def count_items(run: EvaluationRun, view: ItemsView) -> int:
    """Return how many items a view has; for a large run the count may be some seconds old."""
    if view.system:
        return len(_all_ids(run, view))
    if not view.criterion and not view.reason:
        counts = run.items_by_state()
        return counts[view.state] if view.state else sum(counts.values())
    return _seldom(run, view, "count", lambda: _count(run, view))


def _seldom(run: EvaluationRun, view: ItemsView, what: str, read: Callable[[], Read]) -> Read:
    """Return a value of a view, whatever its order. It is read each time for a small run and cached
    for a large one, for longer if it does not depend on the items' results."""
    shown = replace(view, sort="")
    if view.state or view.reason:
        return count_seldom(run.pk, run.item_count, (run.stage, shown, what), read)
    items = run.item_count  # more while the run is laid out
    return count_seldom(run.pk, items, (items, shown, what), read, seconds=LAID_OUT_SECONDS)


def _count(run: EvaluationRun, view: ItemsView) -> int:
    value = fetch_value(
        f"SELECT count(*) FROM evaluations_runitem i {view.condition}", _given(run, view)
    )
    return int(value)


def item_rows(run: EvaluationRun, view: ItemsView, *, page: int) -> list[ItemRow]:
    """Return a page of a view, counted from 1."""
    ids = _ids_on(page, run, view)
    items = RunItem.objects.select_related(
        "output__document", "output__system", "rival__system", "criterion"
    ).in_bulk(ids)
    listed = [items[pk] for pk in ids if pk in items]  # cached ids may have been deleted
    outputs = CandidateOutput.objects.filter(pk__in={item.output_id for item in listed})
    means, scores = shown_means(outputs, run.project_id), _scores(run, listed)
    return [_row(run, item, means, scores) for item in listed]


def _ids_on(page: int, run: EvaluationRun, view: ItemsView) -> list[int]:
    """Yield a page's ids: items with a difference first if the view is sorted by it, all others in
    their order."""
    ranked = _ranked(run, view)
    begin = PAGE_SIZE * (page - 1)
    shown = ranked[begin : begin + PAGE_SIZE]
    after, most = max(0, begin - len(ranked)), PAGE_SIZE - len(shown)
    if not most:
        others = shown[:0]
    elif view.system:
        others = np.setdiff1d(_all_ids(run, view), ranked)[after : after + most]
    else:
        others = _ids(_IN_ORDER, run, view, ranked=ranked.tolist(), most=most, after=after)
    return [*shown.tolist(), *others.tolist()]


def _ranked(run: EvaluationRun, view: ItemsView) -> IntArray:
    """Return the ids of a view's items with a difference, in their order; none in other orders."""
    is_by_gap = view.sort == DISAGREEMENT and run.judge.rates_on_scale
    if not is_by_gap or view.reason or view.state not in ("", ItemState.DONE):
        return np.empty(0, np.int64)
    hidden = withheld_documents(run.project_id)

    def read() -> IntArray:
        selected = fetch_rows(_BY_GAP, {"run": run.pk, "hidden": hidden})
        rows = np.array(selected, np.int64).reshape(-1, 4)
        done: IntArray = rows[rows[:, 3] == 1]
        return done

    ranked = count_seldom(run.pk, run.item_count, (run.stage, "gaps", tuple(hidden)), read)
    for column, pk in enumerate((view.criterion, view.system), start=1):
        ranked = ranked[ranked[:, column] == pk] if pk else ranked
    return ranked[:, 0]


def _all_ids(run: EvaluationRun, view: ItemsView) -> IntArray:
    """Return the ids of all items of a system in a view, for which no index has this order."""
    return _seldom(
        run, view, "ids", lambda: _ids(_IN_ORDER, run, view, ranked=[], most=None, after=0)
    )


def _ids(query: str, run: EvaluationRun, view: ItemsView, **more: Any) -> IntArray:
    rows = fetch_rows(query.format(chosen=view.condition), _given(run, view) | more)
    return np.fromiter((pk for (pk,) in rows), np.int64)


def _given(run: EvaluationRun, view: ItemsView) -> dict[str, Any]:
    return {"run": run.pk} | vars(view)


def _scores(run: EvaluationRun, items: Iterable[RunItem]) -> dict[tuple[int, int | None], Score]:
    scores = Score.objects.filter(run=run, output__in={item.output_id for item in items})
    return {(score.output_id, score.criterion_id): score for score in scores}


def _row(
    run: EvaluationRun,
    item: RunItem,
    means: Mapping[tuple[int, int], float],
    scores: Mapping[tuple[int, int | None], Score],
) -> ItemRow:
    mean = means.get((item.output_id, item.criterion_id or 0))
    score = scores.get((item.output_id, item.criterion_id)) if item.rival_id is None else None
    if score is None:
        return ItemRow(item, None, mean)
    if item.criterion is None:
        return ItemRow(item, ScoreCell(run.judge.name, score.value, (), None), mean)
    given_score = ScoreOf(
        score.value, score.criterion_id, score.distribution or {}, run.judge.rates_on_scale
    )
    return ItemRow(item, judge_cell(run.judge.name, given_score, mean, item.criterion.scale), mean)
