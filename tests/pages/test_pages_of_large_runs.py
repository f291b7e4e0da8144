"""Pages of a run with many items read what they show, from its first moment on, and list the same
items as pages of a small one."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import Annotator, Rating
from evaluations.corpus.store import GROWING
from evaluations.judging.runs import counts as run_counts
from evaluations.judging.runs.counts import finished_items
from evaluations.judging.runs.lifecycle import (
    close_if_finished,
    lay_out_rest,
    lay_out_run,
    pause_run,
    resume_run,
)
from evaluations.judging.runs.starting import start_run
from evaluations.models import (
    CandidateOutput,
    EvaluationRun,
    Judge,
    Project,
    RunItem,
    Score,
    sizes,
)
from evaluations.models.improving import shown_means
from evaluations.models.sizes import refresh_statistics
from evaluations.pages.jobs import jobs_of
from evaluations.pages.runs import run_items
from evaluations.pages.runs.progress import run_progress
from evaluations.pages.runs.run_items import DISAGREEMENT, ORDER, PAGE_SIZE, ItemsView, item_rows

pytestmark = pytest.mark.django_db(transaction=True)
CRITERIA, DOCUMENTS, SYSTEMS, SCORED = 5, 200, 4, 60
ITEMS = CRITERIA * DOCUMENTS * SYSTEMS


@pytest.fixture(autouse=True)
def _nothing_is_known() -> Iterator[None]:
    yield
    sizes.forget()


@pytest.fixture
def begun(project: Project) -> EvaluationRun:
    """A run of 4,000 items that has just begun: 60 are judged, half of them rated by somebody."""
    criteria = [project.criteria.create(name=name) for name in "abcde"]
    with connection.cursor() as cursor:
        for statement in (
            """INSERT INTO evaluations_system (project_id, name, kind)
               SELECT %(project)s, 's' || n, 'llm' FROM generate_series(1, %(systems)s) AS n""",
            """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references")
               SELECT %(project)s, 'd' || n, 'A source.', '', '[]'
               FROM generate_series(1, %(documents)s) AS n""",
            """INSERT INTO evaluations_candidateoutput (document_id, system_id, text)
               SELECT d.id, s.id, 'A summary.' FROM evaluations_document d, evaluations_system s
               WHERE d.project_id = %(project)s AND s.project_id = %(project)s""",
        ):
            cursor.execute(
                statement, {"project": project.pk, "systems": SYSTEMS, "documents": DOCUMENTS}
            )
    refresh_statistics(GROWING)  # as a load does
    endpoint = project.endpoints.create(name="e", base_url="http://127.0.0.1:1/v1")
    judge = Judge.objects.create(
        project=project, name="j", endpoint=endpoint, mode="direct", model="m", use_steps=False
    )
    run = start_run(judge, criteria)
    lay_out_run(run.pk)
    lay_out_rest(run.pk)
    first = list(run.items.order_by("pk")[:SCORED])
    person = Annotator.objects.create(project=project, name="Ada", kind="person")
    for number, item in enumerate(first):
        Score.objects.create(
            run=run, output=item.output, criterion=item.criterion, value=1 + number % 5
        )
        if number % 2:
            Rating.objects.create(
                annotator=person, output=item.output, criterion=item.criterion, score=3
            )
    RunItem.objects.filter(pk__in=[item.pk for item in first]).update(state="done")
    run.refresh_from_db()
    return run


def rows_read(plan: dict[str, Any]) -> float:
    """The most rows that a part of a plan gives, or reads and leaves out."""
    own = sum(
        plan["Actual Loops"] * plan.get(name, 0)
        for name in ("Actual Rows", "Rows Removed by Join Filter", "Rows Removed by Filter")
    )
    return max([own, *(rows_read(part) for part in plan.get("Plans", ()))])


def plans_of(work: Any) -> list[dict[str, Any]]:
    """What PostgreSQL does for each query of some work in which it reads items or outputs, where it
    may not read whole tables, as it does with those of a test because they are small."""
    plans = []
    other_ways = ("seqscan", "hashjoin", "mergejoin")

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "evaluations_runitem" in sql or "evaluations_candidateoutput" in sql:
            with connection.connection.cursor() as cursor:
                for way in other_ways:
                    cursor.execute(f"SET enable_{way} = off")
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
                plans.append(cursor.fetchone()[0][0]["Plan"])
                for way in other_ways:
                    cursor.execute(f"RESET enable_{way}")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        work()
    return plans


@pytest.mark.parametrize(
    "view",
    [
        ItemsView(),
        ItemsView(sort=ORDER),
        ItemsView(state="pending"),
        ItemsView(reason="refusal"),
    ],
    ids=str,
)
def test_a_page_reads_what_it_shows_and_not_all_items(
    begun: EvaluationRun, view: ItemsView
) -> None:
    plans = plans_of(lambda: item_rows(begun, view, page=1))

    assert plans
    assert max(map(rows_read, plans)) <= 2 * PAGE_SIZE + SCORED


def expected(run: EvaluationRun, view: ItemsView) -> list[int]:
    """All items of a view, sorted here."""
    scores = {(s.output_id, s.criterion_id): s.value for s in run.scores.all()}
    rated = CandidateOutput.objects.filter(pk__in={output for output, _ in scores})
    means = shown_means(rated, run.project_id)
    chosen = [
        item
        for item in run.items.select_related("output").order_by("pk")
        if view.state in ("", item.state)
        and view.criterion in (0, item.criterion_id)
        and view.system in (0, item.output.system_id)
    ]

    def gap(item: RunItem) -> float:
        key = (item.output_id, item.criterion_id or 0)
        return -abs(scores[key] - means[key]) if key in scores and key in means else 1.0

    return [item.pk for item in (sorted(chosen, key=gap) if view.sort == DISAGREEMENT else chosen)]


def test_every_filter_and_order_lists_what_it_did_page_by_page(
    begun: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_items, "PAGE_SIZE", 700)
    criteria = [0, begun.judged_criteria()[0].pk]
    systems = [0, begun.project.systems.earliest("pk").pk]

    for sort, state, criterion, system in product(
        (DISAGREEMENT, ORDER), ("", "done", "pending"), criteria, systems
    ):
        view = ItemsView(state=state, criterion=criterion, system=system, sort=sort)
        ids = expected(begun, view)
        pages = range(1, len(ids) // 700 + 2)
        listed = [row.item.pk for page in pages for row in item_rows(begun, view, page=page)]

        assert listed == ids, view
        assert run_items.count_items(begun, view) == len(ids)


def test_counts_of_a_small_run_are_new_each_time(begun: EvaluationRun) -> None:
    before = run_progress(begun).done
    begun.items.filter(state="pending").update(state="done")

    assert before == SCORED
    assert run_progress(begun).done == jobs_of(begun.project).runs[0].finished == ITEMS


def done_of_first_criterion(run: EvaluationRun) -> ItemsView:
    return ItemsView(state="done", criterion=run.judged_criteria()[0].pk)


def test_counts_of_a_large_run_are_kept_until_they_are_old_or_its_state_changes(
    begun: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_counts, "LARGE_RUN", 1000)
    monkeypatch.setattr(run_counts, "KEPT_SECONDS", 1000.0)
    view = done_of_first_criterion(begun)
    assert run_items.count_items(begun, view) == SCORED
    begun.items.filter(state="pending").update(state="done")

    with CaptureQueriesContext(connection) as queries:
        assert run_items.count_items(begun, view) == SCORED
        assert run_progress(begun).done == jobs_of(begun.project).runs[0].finished == ITEMS
        assert finished_items([begun]) == {begun.pk: (ITEMS, ITEMS)}

    assert not any(
        "count(" in query["sql"].lower() and "evaluations_runitem" in query["sql"]
        for query in queries
        if "'failed'" not in query["sql"]
    )
    begun.state = "done"
    assert run_items.count_items(begun, view) == ITEMS // CRITERIA


@pytest.mark.parametrize("first", ["paused", "done"])
def test_counts_from_before_a_run_was_resumed_do_not_come_back_with_its_state(
    begun: EvaluationRun, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr(run_counts, "LARGE_RUN", 1000)
    monkeypatch.setattr(run_counts, "KEPT_SECONDS", 1000.0)

    view = done_of_first_criterion(begun)

    def done() -> list[int]:
        begun.refresh_from_db()
        return [run_progress(begun).done, run_items.count_items(begun, view)]

    def end() -> None:
        if first == "paused":
            assert pause_run(begun.pk, "For now.")
        else:
            begun.items.filter(state="pending").update(state="failed", reason="refusal")
            assert close_if_finished(begun.pk)

    end()
    assert done() == [SCORED, SCORED]
    assert resume_run(begun, retry_failed=True)
    begun.items.filter(state="pending").update(state="done")
    if first == "paused":
        end()
    else:
        assert close_if_finished(begun.pk)

    assert done() == [ITEMS, ITEMS // CRITERIA]
    assert begun.state == first
