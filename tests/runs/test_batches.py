"""Runs through the batch API: sent, looked at, read, sent again where needed; they survive
restarts."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from evaluations.judging.runs.batches import read_results
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Batch, EvaluationRun, ItemState, Judge, ModelProbe, Project, RunState
from geval.llm.calls import RetryPolicy
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=6, first_wait=0.01, longest_wait=0.05)
MakeJudge = Callable[..., Judge]


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()), RunRequest(transport="batch"))


def looked_at(run: EvaluationRun) -> EvaluationRun:
    """What a worker does when it is time to look again."""
    Batch.objects.update(look_at=timezone.now())
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def test_a_run_is_sent_as_one_batch_and_read_when_it_is_back(
    small_project: Project, make_judge: MakeJudge, start_standin: Callable[..., StandInProcess]
) -> None:
    judge = make_judge(small_project, "--batch-seconds", "0", use_steps=False)

    run = looked_at(started(judge))
    sent = set(run.items.values_list("state", flat=True))
    run = looked_at(run)

    assert sent == {ItemState.SENT}
    assert (run.state, run.scores.count(), run.batches.count()) == (RunState.DONE, 12, 1)
    assert set(run.scores.values_list("mode", flat=True)) == {"logprobs"}


def test_batches_give_the_same_scores_as_calls(
    small_project: Project, make_judge: MakeJudge
) -> None:
    batched = looked_at(
        looked_at(started(make_judge(small_project, use_steps=False, name="batched")))
    )
    live = make_judge(small_project, use_steps=False, name="live")
    other = start_run(live, list(small_project.criteria.all()), RunRequest(fresh=True))
    work_on_run(other.pk, "tester", policy=QUICK)

    order = ("criterion", "output")
    assert list(batched.scores.order_by(*order).values_list("value", flat=True)) == list(
        other.scores.order_by(*order).values_list("value", flat=True)
    )


@pytest.mark.parametrize("settings", [{}, {"mode": "samples", "samples": 3}])
def test_a_batch_is_asked_by_the_api_that_the_address_names(
    small_project: Project, make_judge: MakeJudge, settings: dict[str, object]
) -> None:
    chat = looked_at(looked_at(started(make_judge(small_project, use_steps=False, **settings))))
    judge = make_judge(small_project, use_steps=False, name="by responses", **settings)
    judge.endpoint.base_url += "/responses"
    judge.endpoint.save()

    run = looked_at(looked_at(started(judge)))

    assert (run.state, run.scores.count()) == (RunState.DONE, 12)
    assert run.cache_hits == 0
    if not settings:
        order = ("criterion", "output")
        assert list(run.scores.order_by(*order).values_list("value", flat=True)) == list(
            chat.scores.order_by(*order).values_list("value", flat=True)
        )


def test_a_batch_that_is_not_done_is_looked_at_again_later(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = looked_at(started(make_judge(small_project, "--batch-seconds", "3600", use_steps=False)))

    run = looked_at(run)

    batch = run.batches.get()
    assert (run.state, batch.remote_state) == (RunState.RUNNING, "in_progress")
    assert batch.look_at > timezone.now()
    assert waiting_run() is None
    Batch.objects.update(look_at=timezone.now())
    assert waiting_run() == run.pk


@pytest.mark.parametrize(
    ("switches", "findings", "lines"),
    [
        (["--ignores-n"], {"several_choices": False}, 4),  # as an earlier version found it
        (["--most-choices", "3"], {"most_choices": 3}, 2),
    ],
)
def test_samples_are_split_into_lines_that_the_endpoint_takes(
    small_project: Project,
    make_judge: MakeJudge,
    switches: list[str],
    findings: dict[str, object],
    lines: int,
) -> None:
    judge = make_judge(
        small_project, *switches, use_steps=False, mode="samples", samples=4, temperature=1.0
    )
    ModelProbe.objects.create(
        endpoint=judge.endpoint, model=judge.model, findings=findings, probed_at=timezone.now()
    )

    run = looked_at(looked_at(started(judge)))

    assert run.scores.count() == 12
    assert {
        (len(item.reply.choices), item.reply.calls)
        for item in run.items.select_related("reply")
        if item.reply
    } == {(4, lines)}


def test_unreadable_replies_and_errors_go_into_another_batch_and_fail_in_the_end(
    small_project: Project, make_judge: MakeJudge
) -> None:
    some = looked_at(started(make_judge(small_project, "--error-rate", "0.4", use_steps=False)))
    none = started(
        make_judge(small_project, "--unparseable-rate", "1", use_steps=False, name="Hopeless")
    )
    for _ in range(6):
        some, none = looked_at(some), looked_at(none)

    assert (some.state, none.state) == (RunState.DONE, RunState.FAILED)
    assert some.batches.count() > 1
    assert some.scores.count() > 8
    assert set(none.items.values_list("state", "reason")) == {(ItemState.FAILED, "no_rating")}
    assert none.batches.count() == 2


def test_a_batch_whose_worker_died_after_sending_it_is_found_again_and_not_paid_twice(
    small_project: Project, make_judge: MakeJudge, start_standin: Callable[..., StandInProcess]
) -> None:
    judge = make_judge(small_project, "--batch-seconds", "0", use_steps=False)
    calls = start_standin("--batch-seconds", "0").stats["calls"]
    run = looked_at(started(judge))
    Batch.objects.update(
        state=Batch.State.SENDING, remote_id=""
    )  # it died before it wrote the id down
    EvaluationRun.objects.update(preparer_until=None)

    run = looked_at(looked_at(run))

    assert (run.state, run.batches.count(), run.scores.count()) == (RunState.DONE, 1, 12)
    assert start_standin("--batch-seconds", "0").stats["calls"] == calls + 12


def test_a_batch_whose_worker_died_before_sending_it_is_sent(
    small_project: Project, make_judge: MakeJudge
) -> None:
    from evaluations.judging.runs.batches import _gather
    from evaluations.judging.runs.lifecycle import lay_out_run

    run = started(make_judge(small_project, use_steps=False))
    lay_out_run(run.pk)
    run.refresh_from_db()
    assert _gather(run)

    run = looked_at(looked_at(run))

    assert (run.state, run.scores.count()) == (RunState.DONE, 12)


def test_lines_of_a_result_file_that_make_no_sense_are_left_out() -> None:
    body = b'{"choices": [{"message": {"content": "4"}}]}'
    lines = (
        b'\n{"custom_id": "a-0", "response": {"status_code": 200, "body": '
        + body
        + b"}}\nnonsense\n5\n{}\n"
    )
    failed = (
        b'{"custom_id": "b-0", "response": {"status_code": 500, "body": {"error": {"message":'
        b' "No."}}}}'
    )

    replies, errors = read_results([lines, failed])

    assert (list(replies), errors) == (["a"], {"b": "No."})
