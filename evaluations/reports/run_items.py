"""The items of a run as a list: each score beside people's mean, the largest differences first.

One statement finds a page's items, another reads what is shown of them, so that a page of a run of
100,000 items takes as many queries as one of ten.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db import connection

from evaluations.models import EvaluationRun, ItemState, RunItem, Score
from evaluations.models.improving import withheld_documents
from evaluations.reports.side_by_side import JudgeCell, ScoreOf, judge_cell

PAGE_SIZE = 50
DISAGREEMENT, ORDER = "disagreement", "order"
SORTS = {DISAGREEMENT: "largest difference first", ORDER: "in the order of the run"}
_CHOSEN = """
    FROM evaluations_runitem i JOIN evaluations_candidateoutput o ON o.id = i.output_id
    WHERE i.run_id = %(run)s
      AND (%(state)s = '' OR i.state = %(state)s)
      AND (%(reason)s = '' OR i.reason = %(reason)s)
      AND (%(criterion)s = 0 OR i.criterion_id = %(criterion)s)
      AND (%(system)s = 0 OR o.system_id = %(system)s)"""
_IN_ORDER = f"SELECT i.id, NULL::float {_CHOSEN} ORDER BY i.id LIMIT %(most)s OFFSET %(after)s"
# Scores of all criteria at once and those of pairs have no difference, and come last, as do those
# of locked documents: an order by differences would tell what is withheld.
_BY_GAP = f"""
    WITH chosen AS MATERIALIZED (
        SELECT i.id, i.output_id, o.document_id, i.criterion_id, i.rival_id {_CHOSEN}),
    rated AS MATERIALIZED (
        SELECT * FROM annotations_human_means(ARRAY(SELECT DISTINCT output_id FROM chosen
            WHERE document_id <> ALL(%(hidden)s::bigint[])))),
    scored AS MATERIALIZED (
        SELECT output_id, criterion_id, value FROM evaluations_score WHERE run_id = %(run)s)
    SELECT c.id, h.mean
    FROM chosen c
    LEFT JOIN rated h ON h.output_id = c.output_id AND h.criterion_id = c.criterion_id
    LEFT JOIN scored s ON s.output_id = c.output_id AND s.criterion_id = c.criterion_id
        AND c.rival_id IS NULL
    ORDER BY abs(s.value - h.mean) DESC NULLS LAST, c.id LIMIT %(most)s OFFSET %(after)s"""


@dataclass(frozen=True)
class ItemsView:
    """Which items of a run are listed, and in which order. `criterion` and `system` are ids, 0 for
    all."""

    state: str = ""
    reason: str = ""
    criterion: int = 0
    system: int = 0
    sort: str = DISAGREEMENT

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ItemsView":
        """What an address asks for; what it cannot mean is left out."""
        state, sort = query.get("state", ""), query.get("sort", "")
        return cls(
            state=state if state in ItemState.values else "",
            reason=query.get("reason", "")[:50].replace("\0", ""),
            criterion=_id(query.get("criterion", "")),
            system=_id(query.get("system", "")),
            sort=sort if sort in SORTS else DISAGREEMENT,
        )

    def without_reason(self) -> str:
        """The same view with all reasons, as an address's query."""
        other = replace(self, reason="")
        return urlencode({name: value for name, value in vars(other).items() if value})


@dataclass(frozen=True)
class ItemRow:
    """An item with its score, None without one, and people's mean."""

    item: RunItem
    cell: JudgeCell | None
    mean: float | None


def _id(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def count_items(run: EvaluationRun, view: ItemsView) -> int:
    """How many items a view has."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {_CHOSEN}", _given(run, view))
        return int(cursor.fetchone()[0])


def item_rows(run: EvaluationRun, view: ItemsView, *, page: int) -> list[ItemRow]:
    """A page of a view, counted from 1."""
    hidden = withheld_documents(run.project_id)
    by_gap = view.sort == DISAGREEMENT and run.judge.rates_on_scale
    with connection.cursor() as cursor:
        cursor.execute(
            _BY_GAP if by_gap else _IN_ORDER,
            _given(run, view)
            | {"most": PAGE_SIZE, "after": PAGE_SIZE * (page - 1), "hidden": hidden},
        )
        ids = [pk for pk, _mean in cursor.fetchall()]
    items = RunItem.objects.select_related(
        "output__document", "output__system", "rival__system", "criterion"
    ).in_bulk(ids)
    listed = [items[pk] for pk in ids]
    rated = [one for one in listed if one.output.document_id not in set(hidden)]
    means, scores = _means(rated), _scores(run, listed)
    return [_row(run, item, means, scores) for item in listed]


def _given(run: EvaluationRun, view: ItemsView) -> dict[str, Any]:
    return {"run": run.pk} | vars(view)


def _means(items: Iterable[RunItem]) -> dict[tuple[int, int], float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT output_id, criterion_id, mean FROM annotations_human_means(%s)",
            [sorted({item.output_id for item in items})],
        )
        return {(output, criterion): mean for output, criterion, mean in cursor.fetchall()}


def _scores(run: EvaluationRun, items: Iterable[RunItem]) -> dict[tuple[int, int | None], Score]:
    found = Score.objects.filter(run=run, output__in={item.output_id for item in items})
    return {(score.output_id, score.criterion_id): score for score in found}


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
        return ItemRow(item, JudgeCell(run.judge.name, score.value, (), None), mean)
    known = ScoreOf(
        score.value, score.criterion_id, score.distribution or {}, run.judge.rates_on_scale
    )
    return ItemRow(item, judge_cell(run.judge.name, known, mean, item.criterion.scale), mean)
