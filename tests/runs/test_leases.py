"""Leases last a minute, and those of a batch ten; items whose workers are lost with them fail at
the fifth; claims stay within what the run and the month may cost."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.db.models.expressions import RawSQL
from django.utils import timezone

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import close_if_finished
from evaluations.models import (
    Batch,
    CandidateOutput,
    Conversation,
    EvaluationRun,
    ItemState,
    Project,
    RunItem,
    RunState,
    Score,
)
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from tests.runs.laid_out import run

__all__ = ["run"]
pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(minutes=5)


def seconds_left(pk: int) -> float:
    """By the clock of the database, which stands still within a test."""
    left = RawSQL("extract(epoch FROM lease_until - now())", [])
    return float(RunItem.objects.annotate(left=left).get(pk=pk).left)


def lose(run: EvaluationRun) -> None:
    run.items.filter(state="leased").update(lease_until=timezone.now() - LONG_AGO)


# For how long


def test_a_claim_is_for_a_minute_and_renewed_for_another(run: EvaluationRun) -> None:
    first, second = leases.claim(run.pk, "a", most=2)
    assert seconds_left(first.id) == 60
    lose(run)

    leases.renew_leases([first.id, second.id], "b")
    assert seconds_left(first.id) < 0
    leases.renew_leases([first.id], "a")
    leases.renew_leases([], "a")

    assert seconds_left(first.id) == 60
    assert seconds_left(second.id) < 0


def test_a_run_is_worked_on_while_a_lease_holds(run: EvaluationRun) -> None:
    assert leases.is_being_worked_on(run.pk) is False
    leases.claim(run.pk, "a", most=1)
    assert leases.is_being_worked_on(run.pk) is True
    lose(run)
    assert leases.is_being_worked_on(run.pk) is False


# Which


def test_items_are_claimed_in_their_order_from_an_id_on(run: EvaluationRun) -> None:
    ids = list(run.items.order_by("pk").values_list("pk", flat=True))

    assert [item.id for item in leases.claim(run.pk, "a", most=2)] == ids[:2]
    assert [item.id for item in leases.claim(run.pk, "a", most=3, after_id=ids[6])] == ids[7:10]
    assert [item.id for item in leases.claim(run.pk, "a", most=2)] == ids[2:4]


@pytest.mark.parametrize(("lost", "fails"), [(4, False), (5, True), (6, True)])
def test_an_item_whose_workers_are_lost_with_it_fails_at_the_fifth(
    run: EvaluationRun, lost: int, fails: bool
) -> None:
    assert leases.MOST_LOST_WORKERS == 5
    (item,) = leases.claim(run.pk, "lost", most=1)
    run.items.filter(pk=item.id).update(attempts=lost)
    lose(run)

    claimed = leases.claim(run.pk, "next", most=2)

    row = run.items.get(pk=item.id)
    assert (item.id in [one.id for one in claimed]) is not fails
    assert len(claimed) == 2 - fails
    if fails:
        assert (row.state, row.reason, row.lease_until) == ("failed", "worker_lost", None)
        assert row.detail.startswith(f"{lost} workers ended")
    else:
        assert (row.state, row.attempts, row.leased_by) == ("leased", lost + 1, "next")


def test_what_is_given_back_was_no_attempt(run: EvaluationRun) -> None:
    mine, tried = leases.claim(run.pk, "a", most=2)
    (other,) = leases.claim(run.pk, "b", most=1)
    run.items.filter(pk=mine.id).update(attempts=0)
    run.items.filter(pk=tried.id).update(attempts=3)

    leases.give_back(run.pk, "a")

    rows = {row.pk: row for row in run.items.all()}
    assert [rows[one.id].attempts for one in (mine, tried, other)] == [0, 2, 1]
    assert [rows[one.id].state for one in (mine, tried, other)] == ["pending", "pending", "leased"]
    assert (rows[mine.id].leased_by, rows[mine.id].lease_until) == ("", None)


def test_finished_items_keep_no_lease(run: EvaluationRun) -> None:
    """Of millions of items, only what explains their scores takes space."""
    scored, failed, lost = leases.claim(run.pk, "a", most=3)
    outcomes = [(scored, Scored(4.0, {4.0: 1.0}, 0.9)), (failed, Failure(Reason.ENDPOINT, "No."))]
    results.store(run, [results.FinishedItem(one, "", outcome) for one, outcome in outcomes], "a")
    run.items.filter(pk=lost.id).update(
        attempts=leases.MOST_LOST_WORKERS, lease_until="2000-01-01T00:00Z"
    )
    leases.claim(run.pk, "b", most=1)

    rows = run.items.in_bulk([scored.id, failed.id, lost.id]).values()
    assert {row.state for row in rows} == {"done", "failed"}
    assert {(row.leased_by, row.lease_until) for row in rows} == {("", None)}
    assert {row.attempts for row in rows} == {1, leases.MOST_LOST_WORKERS}


# With which texts


def test_items_that_are_no_rows_come_with_their_texts_in_the_order_asked(
    small_project: Project,
) -> None:
    outputs = list(CandidateOutput.objects.filter(document__project=small_project).order_by("pk"))
    criterion = small_project.criteria.first()
    assert criterion
    wanted = [(outputs[3].pk, criterion.pk, None), (outputs[0].pk, None, outputs[1].pk)]

    found = leases.items_with_texts(wanted)

    assert [(one.output_id, one.criterion_id, one.rival_id) for one in found] == wanted
    assert [one.texts.output for one in found] == [outputs[3].text, outputs[0].text]
    assert [one.texts.rival for one in found] == ["", outputs[1].text]
    assert [one.texts.source for one in found] == [
        outputs[3].document.source,
        outputs[0].document.source,
    ]
    assert [one.id for one in found] == [1, 2]
    assert leases.items_with_texts([]) == []


def test_turns_before_the_rated_one_come_with_it(run: EvaluationRun) -> None:
    (item,) = leases.claim(run.pk, "a", most=1)
    output = CandidateOutput.objects.get(pk=item.output_id)
    said = [{"role": "user", "text": text} for text in ("One", "Two", "Three")]
    conversation = Conversation.objects.create(project=run.project, turns=said, digest="x" * 64)
    output.document.conversation, output.document.turns_before = conversation, 2
    output.document.save()
    output.turns = [{"role": "assistant", "text": "Four"}]
    output.save()

    (found,) = leases.items_with_texts([(output.pk, None, None)])

    assert [turn.text for turn in found.texts.history] == ["One", "Two"]
    assert [turn.text for turn in found.texts.turns] == ["Four"]
    assert (item.texts.history, item.texts.turns) == ((), ())


# Batches


def test_items_of_a_batch_are_leased_for_ten_minutes_when_it_is_back(run: EvaluationRun) -> None:
    batch = Batch.objects.create(run=run)
    sent = list(run.items.order_by("-pk")[:3])
    for item in sent:
        item.batch, item.state = batch, ItemState.SENT
        item.save()
    expected = sorted(item.pk for item in sent)

    assert [item.id for item in leases.batch_items(batch.pk)] == expected
    taken = leases.lease_batch(batch.pk, "a")

    assert [item.id for item in taken] == expected
    assert taken[0].texts.source.endswith("from the old harbour.")
    assert seconds_left(expected[0]) == 600
    assert set(run.items.filter(batch=batch).values_list("state", "leased_by")) == {("leased", "a")}
    assert leases.batch_items(batch.pk) == []
    assert leases.lease_batch(batch.pk, "b") == []


# Money


def with_money(
    run: EvaluationRun, *, budget: str | None, each: str | None = "0.10", spent: int = 0
) -> None:
    """A run whose items cost at most `each`, of which so many have been paid, at a cent a token."""
    run.parameters |= {"price_in": "10000", "price_out": "10000", "most_each": each}
    EvaluationRun.objects.filter(pk=run.pk).update(
        parameters=run.parameters,
        prompt_tokens=spent,
        budget=None if budget is None else Decimal(budget),
    )


@pytest.mark.parametrize(
    ("budget", "claimed"),
    [("0.29", 2), ("0.30", 3), ("0.31", 3), ("0.09", 0), ("0.10", 1), (None, 5)],
)
def test_a_claim_is_within_the_budget(run: EvaluationRun, budget: str | None, claimed: int) -> None:
    with_money(run, budget=budget)

    items, too_dear = leases.claim_within_budget(run.pk, "a", most=5)

    assert len(items) == claimed
    assert too_dear is (claimed == 0)


def test_what_was_spent_and_what_is_in_work_is_set_aside(run: EvaluationRun) -> None:
    with_money(run, budget="0.50", spent=20)
    leases.claim(run.pk, "other", most=1)

    items, too_dear = leases.claim_within_budget(run.pk, "a", most=5)
    then = leases.claim_within_budget(run.pk, "a", most=5)

    assert (len(items), too_dear) == (2, False)
    assert then == ([], True)


def test_without_a_price_of_an_item_a_budget_limits_nothing(run: EvaluationRun) -> None:
    with_money(run, budget="0.01", each=None)

    items, too_dear = leases.claim_within_budget(run.pk, "a", most=5)

    assert (len(items), too_dear) == (5, False)


@pytest.mark.parametrize(("left", "claimed"), [("0.19", 1), ("0.20", 2), ("0.21", 2), ("0.09", 0)])
def test_a_claim_is_within_the_months_money(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch, left: str, claimed: int
) -> None:
    monkeypatch.setattr(leases, "money_left", lambda _project: Decimal(left))
    with_money(run, budget=None)

    items, too_dear = leases.claim_within_budget(run.pk, "a", most=5)

    assert (len(items), too_dear) == (claimed, claimed == 0)


def test_the_end_of_a_run_is_not_the_end_of_its_money(run: EvaluationRun) -> None:
    with_money(run, budget="0.00")
    run.items.update(state=ItemState.DONE)

    assert leases.claim_within_budget(run.pk, "a", most=5) == ([], False)


def test_asking_for_nothing_claims_nothing(run: EvaluationRun) -> None:
    assert leases.claim_within_budget(run.pk, "a", most=0) == ([], True)
    ids = sorted(run.items.values_list("pk", flat=True))
    (found,), _too_dear = leases.claim_within_budget(run.pk, "a", most=1, after_id=ids[4])
    assert found.id == ids[5]
    EvaluationRun.objects.update(state=RunState.PAUSED)
    assert leases.claim_within_budget(run.pk, "a", most=1) == ([], False)


# Stored once


def scored(item: leases.ClaimedItem, value: float = 4.0) -> results.FinishedItem:
    return results.FinishedItem(item, "", Scored(value, {4.0: 1.0}, 0.9))


def test_a_lost_workers_items_are_claimed_again_and_its_late_results_are_not_stored(
    run: EvaluationRun,
) -> None:
    lost = leases.claim(run.pk, "lost", most=12)
    lose(run)

    again = leases.claim(run.pk, "next", most=12)

    assert [item.id for item in again] == [item.id for item in lost]
    assert results.store(run, [scored(lost[0], 1.0)], "lost") == 0
    assert results.store(run, [scored(again[0], 5.0)], "next") == 1
    assert list(Score.objects.values_list("value", flat=True)) == [5.0]


def test_a_result_is_stored_once_however_often_it_is_given(run: EvaluationRun) -> None:
    items = [scored(item) for item in leases.claim(run.pk, "a", most=3)]

    assert [results.store(run, items, "a") for _ in range(2)] == [3, 0]
    assert Score.objects.count() == 3


def test_a_failure_keeps_its_reason_and_gives_no_score(run: EvaluationRun) -> None:
    item = leases.claim(run.pk, "a", most=1)[0]

    results.store(
        run, [results.FinishedItem(item, "", Failure(Reason.REFUSAL, "It refused."))], "a"
    )

    row = run.items.get(pk=item.id)
    assert (row.state, row.reason, row.detail) == (ItemState.FAILED, "refusal", "It refused.")
    assert not Score.objects.exists()


def test_a_run_is_closed_once_when_its_last_item_is_done(run: EvaluationRun) -> None:
    items = [scored(item) for item in leases.claim(run.pk, "a", most=12)]
    results.store(run, items[:-1], "a")
    before = close_if_finished(run.pk)
    results.store(run, items[-1:], "a")

    assert [before, close_if_finished(run.pk), close_if_finished(run.pk)] == [False, True, False]


def test_the_database_refuses_a_second_score_of_the_same_item(run: EvaluationRun) -> None:
    item = leases.claim(run.pk, "a", most=1)[0]
    Score.objects.create(run=run, output_id=item.output_id, criterion_id=item.criterion_id, value=1)

    with pytest.raises(IntegrityError), transaction.atomic():
        Score.objects.create(
            run=run, output_id=item.output_id, criterion_id=item.criterion_id, value=2
        )
