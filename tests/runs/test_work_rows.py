"""Work rows: each item is claimed by one worker, stored once, and claimable again when its worker
is lost."""

import pytest
from django.utils import timezone

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import close_if_finished
from evaluations.models import EvaluationRun, ItemState, RunState, Score
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from tests.runs.laid_out import run

__all__ = ["run"]
pytestmark = pytest.mark.django_db


def scored(item: leases.ClaimedItem, value: float = 4.0) -> results.FinishedItem:
    return results.FinishedItem(item, "", Scored(value, {4.0: 1.0}, 0.9))


def store(run: EvaluationRun, items: list[results.FinishedItem], worker: str) -> int:
    return results.store(run, items, worker)


def let_leases_run_out(run: EvaluationRun) -> None:
    # Minutes, not a moment: to the database it is as late as when the test's transaction began.
    run.items.filter(state=ItemState.LEASED).update(
        lease_until=timezone.now() - timezone.timedelta(minutes=5)
    )


def test_two_workers_never_hold_the_same_item(run: EvaluationRun) -> None:
    first = leases.claim(run.pk, "a", most=8)
    second = leases.claim(run.pk, "b", most=8)

    assert (len(first), len(second)) == (8, 4)
    assert not {item.id for item in first} & {item.id for item in second}


def test_items_come_with_the_texts_of_their_prompt(run: EvaluationRun) -> None:
    items = leases.claim(run.pk, "a", most=12)
    texts = {(item.texts.source, item.texts.output) for item in items}

    source = "The 1. ferry sails at 1 in the morning from the old harbour."
    assert (source, "The 1. ferry sails in the morning.") in texts


def test_nothing_is_claimed_from_a_paused_run(run: EvaluationRun) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(state=RunState.PAUSED)

    assert leases.claim(run.pk, "a", most=5) == []


def test_a_lost_workers_items_are_claimed_again_and_its_late_results_are_not_stored(
    run: EvaluationRun,
) -> None:
    lost = leases.claim(run.pk, "lost", most=12)
    let_leases_run_out(run)

    again = leases.claim(run.pk, "next", most=12)

    assert [item.id for item in again] == [item.id for item in lost]
    assert store(run, [scored(lost[0], 1.0)], "lost") == 0
    assert store(run, [scored(again[0], 5.0)], "next") == 1
    assert list(Score.objects.values_list("value", flat=True)) == [5.0]


def test_a_renewed_lease_keeps_the_item(run: EvaluationRun) -> None:
    held = leases.claim(run.pk, "a", most=12)
    let_leases_run_out(run)

    leases.renew_leases([item.id for item in held], "a")

    assert leases.claim(run.pk, "b", most=12) == []


def test_a_result_is_stored_once_however_often_it_is_given(run: EvaluationRun) -> None:
    items = [scored(item) for item in leases.claim(run.pk, "a", most=3)]

    assert [store(run, items, "a") for _ in range(2)] == [3, 0]
    assert Score.objects.count() == 3


def test_a_failure_keeps_its_reason_and_gives_no_score(run: EvaluationRun) -> None:
    item = leases.claim(run.pk, "a", most=1)[0]

    store(run, [results.FinishedItem(item, "", Failure(Reason.REFUSAL, "It refused."))], "a")

    row = run.items.get(pk=item.id)
    assert (row.state, row.reason, row.detail) == (ItemState.FAILED, "refusal", "It refused.")
    assert not Score.objects.exists()


def test_what_is_given_back_is_free_at_once(run: EvaluationRun) -> None:
    leases.claim(run.pk, "a", most=12)

    leases.give_back(run.pk, "a")

    assert len(leases.claim(run.pk, "b", most=12)) == 12


def test_a_run_is_closed_once_when_its_last_item_is_done(run: EvaluationRun) -> None:
    items = [scored(item) for item in leases.claim(run.pk, "a", most=12)]
    store(run, items[:-1], "a")
    before = close_if_finished(run.pk)
    store(run, items[-1:], "a")

    assert [before, close_if_finished(run.pk), close_if_finished(run.pk)] == [False, True, False]


def test_the_database_refuses_a_second_score_of_the_same_item(run: EvaluationRun) -> None:
    from django.db import IntegrityError, transaction

    item = leases.claim(run.pk, "a", most=1)[0]
    Score.objects.create(run=run, output_id=item.output_id, criterion_id=item.criterion_id, value=1)

    with pytest.raises(IntegrityError), transaction.atomic():
        Score.objects.create(
            run=run, output_id=item.output_id, criterion_id=item.criterion_id, value=2
        )


def test_request_keys_tell_everything_apart_that_changes_an_answer() -> None:
    from dataclasses import replace

    from geval.llm.requests import ChatRequest, request_key

    plain = ChatRequest(model="m", prompt="p")
    others = [
        replace(plain, model="n"),
        replace(plain, prompt="q"),
        replace(plain, temperature=1.0),
        replace(plain, n=2),
        replace(plain, max_tokens=33),
        replace(plain, top_logprobs=20),
    ]
    keys = {request_key("http://a/v1", request) for request in [plain, *others]}

    assert len(keys | {request_key("http://b/v1", plain)}) == 8
    assert request_key("http://a/v1", replace(plain)) in keys
