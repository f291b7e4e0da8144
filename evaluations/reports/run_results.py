"""A run's results so far: the distribution of its scores, their agreement with people, how precise
that is, and when it will be more.
"""

from collections.abc import Collection, Container
from dataclasses import dataclass, replace

from django.db.models import Count, Min, Q
from django.utils.safestring import SafeString, mark_safe

from evaluations.judging.runs.counts import count_seldom
from evaluations.models import EvaluationRun
from evaluations.models.query_arrays import fetch_numbers
from evaluations.reports.data import fill_judges
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.live import live_data
from geval.reports.drawings.narrowing import narrowing_band
from geval.reports.drawings.rendering import as_page_part
from geval.reports.so_far import (
    CriterionSoFar,
    KnownSoFar,
    OpenItems,
    ahead_of,
    criterion_so_far,
    in_order,
    next_goal_in_words,
)
from geval.statistics.anytime import narrowing


def so_far(run: EvaluationRun) -> list[CriterionSoFar]:
    """Return a run's current results on each of its criteria."""
    criteria = run.judged_criteria()
    # Scores for every criterion are shown with each.
    criteria = criteria or list(run.project.criteria.all())
    if not criteria:
        return []
    data = live_data(run.project)
    tables = replace(data, judges={})
    fill_judges(tables, [run.judge_id], [criterion.pk for criterion in criteria], run=run)
    searches = searches_behind(run.project)
    criteria_so_far = [
        replace(
            criterion_so_far(criterion, tables, run.judge_id, on_scale=run.judge.rates_on_scale),
            is_seen=searches.made(criterion.pk, run.judge_id),
        )
        for criterion in criteria
    ]
    rival = run.goal_rival_id
    if rival is None:
        return criteria_so_far
    return [
        ahead_of(
            criterion_results, tables, run.judge_id, data.judges.get((criterion_results.pk, rival))
        )
        for criterion_results in criteria_so_far
    ]


@dataclass(frozen=True)
class Precision:
    """A criterion's confidence band on the page of a run, and a sentence about the next goal."""

    criterion: str
    picture: SafeString
    said: str


def precisions(run: EvaluationRun, criteria: list[CriterionSoFar], rate: float) -> list[Precision]:
    """Return the bands of the criteria that have an interval.

    Args:
        criteria: the run's results so far.
        rate: items per minute.
    """
    open_items = _open_items(run) if criteria and run.is_active else {}
    shown = []
    for criterion in criteria:
        order = _order(run, criterion)
        values = in_order(criterion, order)
        if steps := narrowing(*values, largest=criterion.largest, lowest=criterion.lowest):
            left = open_items.get(criterion.pk) or open_items.get(None)
            sentence = next_goal_in_words(steps[-1], len(order), criterion, left, rate)
            drawn = as_page_part(narrowing_band(criterion.named, steps, criterion.agreement))
            drawing = mark_safe(drawn)  # noqa: S308 (escaped)
            shown.append(Precision(criterion.named, drawing, sentence))
    return shown


def describe_agreement(run: EvaluationRun, criteria: Container[int]) -> str:
    """Describe a run's agreement with people so far, with intervals that are valid at any time;
    empty before any criterion has ten documents.

    Args:
        criteria: ids of the criteria to include.
    """
    sentences = (
        KnownSoFar.of(criterion, *in_order(criterion, _order(run, criterion)))
        for criterion in so_far(run)
        if criterion.pk in criteria
    )
    return ", ".join(map(str, filter(None, sentences)))


def goal_progress(run: EvaluationRun, criterion: CriterionSoFar) -> KnownSoFar | None:
    """Return what is known about a run's goal from the documents that are completely judged on a
    criterion."""
    open_ = (
        run.items.open()
        .filter(Q(criterion=criterion.pk) | Q(criterion=None))
        .order_by()
        .values_list("output__document", flat=True)
    )
    order = _order(run, criterion, without=set(open_))
    if criterion.ahead is None:
        return KnownSoFar.of(criterion, *in_order(criterion, order))
    same = criterion.ahead.at([index for index in order if index < len(criterion.ahead.counting)])
    return KnownSoFar.of(criterion, same.difference, same.weight, ranked=same.ranked)


def _order(
    run: EvaluationRun, criterion: CriterionSoFar, *, without: Collection[int] = frozenset()
) -> list[int]:
    """Return the positions of documents in the order of their first scores; `without` are ids of
    documents to exclude. A session has one position, that of its first score, and is excluded as a
    whole. Documents of groups have none, as no interval over single documents holds for them."""
    if criterion.is_grouped:
        return []
    rows = fetch_numbers(
        ["o.document_id", "min(s.id)"],
        f"""FROM evaluations_score s JOIN evaluations_candidateoutput o ON o.id = s.output_id
            WHERE s.run_id = {int(run.pk)}
                AND (s.criterion_id = {int(criterion.pk)} OR s.criterion_id IS NULL)
            GROUP BY o.document_id""",
    )
    left_out = {criterion.places[pk] for pk in without if pk in criterion.places}
    ordered = rows[rows[:, 1].argsort(kind="stable"), 0].astype(int).tolist()
    places = dict.fromkeys(criterion.places[pk] for pk in ordered if pk in criterion.places)
    return [place for place in places if place not in left_out]


def _open_items(run: EvaluationRun) -> dict[int | None, OpenItems]:
    """Count open items by criterion; for a large run the counts may be some seconds old."""
    return count_seldom(run.pk, run.item_count, (run.stage, "open"), lambda: _count_open_items(run))


def _count_open_items(run: EvaluationRun) -> dict[int | None, OpenItems]:
    rows = run.items.open().order_by().values("criterion")
    counted = rows.annotate(items=Count("pk"), first=Min("pk")).order_by("first")
    counts: dict[int | None, OpenItems] = {}
    before = 0
    for row in counted:
        counts[row["criterion"]] = OpenItems(row["items"], before)
        before += row["items"]
    return counts
