"""The items of a run: score, human mean, difference and distribution, the largest differences
first."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluations.models import EvaluationRun
from evaluations.pages.runs.run_items import ORDER, ItemsView, count_items, item_rows

pytestmark = pytest.mark.django_db


def differences(run: EvaluationRun, view: ItemsView, page: int = 1) -> list[float | None]:
    return [row.cell.difference if row.cell else None for row in item_rows(run, view, page=page)]


def test_the_largest_differences_come_first_and_those_without_one_last(run: EvaluationRun) -> None:
    found = differences(run, ItemsView())

    sizes = [abs(value) for value in found if value is not None]
    assert len(found) == 12
    assert sizes == sorted(sizes, reverse=True)
    assert found[-1] is None


def test_the_mean_is_the_one_of_the_house(run: EvaluationRun) -> None:
    row = next(row for row in item_rows(run, ItemsView(), page=1) if row.cell)

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT mean FROM annotations_human_means(%s) WHERE criterion_id = %s",
            [[row.item.output_id], row.item.criterion_id],
        )
        mean = cursor.fetchone()[0]
    assert row.mean == mean
    assert row.cell
    assert row.cell.difference == row.cell.value - mean


def test_items_are_filtered_by_criterion_system_state_and_reason(run: EvaluationRun) -> None:
    criterion = run.project.criteria.get(name="fluency")
    system = run.project.systems.get(name="odd")
    both = ItemsView(criterion=criterion.pk, system=system.pk)

    rows = item_rows(run, both, page=1)

    assert {(row.item.criterion, row.item.output.system) for row in rows} == {(criterion, system)}
    assert count_items(run, both) == 3
    assert count_items(run, ItemsView(state="failed")) == 1
    assert count_items(run, ItemsView(reason="refusal")) == 1
    assert count_items(run, ItemsView(reason="timeout")) == 0


def test_a_page_takes_as_many_queries_for_one_item_as_for_twelve(run: EvaluationRun) -> None:
    assert run.judge.rates_on_scale
    with CaptureQueriesContext(connection) as many:
        item_rows(run, ItemsView(sort=ORDER), page=1)
    with CaptureQueriesContext(connection) as one:
        item_rows(run, ItemsView(reason="refusal", sort=ORDER), page=1)

    assert len(many) == len(one)


def test_scores_on_another_scale_have_no_difference_and_keep_the_runs_order(
    run: EvaluationRun,
) -> None:
    run.judge.kind = "rouge"

    rows = item_rows(run, ItemsView(), page=1)

    assert [row.item.pk for row in rows] == sorted(row.item.pk for row in rows)
    assert {row.cell.difference for row in rows if row.cell} == {None}
