"""Calls in flight: an endpoint's limit holds over all slots of its account, of any project."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from evaluations.judging.runs import serving
from evaluations.judging.runs.accounts import read_account
from evaluations.judging.runs.lifecycle import lay_out_run, pause_run
from evaluations.judging.runs.scheduling import choose_run
from evaluations.judging.runs.serving import (
    CallingSlot,
    divide_calls,
    end_calls,
    grant_calls,
    part_of_limit,
    parts_of_judges,
    work_on_runs,
)
from evaluations.judging.runs.starting import start_run
from evaluations.management.heartbeat import Offer, beat
from evaluations.models import EvaluationRun, Judge, Project, RunState, WorkerSlot
from geval_site.queues import RUNS
from tests.conftest import OUTPUTS, RATINGS, wait_until
from tests.processes import StandInProcess

MakeJudge = Callable[..., Judge]
WANTED = st.lists(st.integers(0, 40), min_size=1, max_size=8)
CALLERS = st.lists(
    st.builds(
        CallingSlot,
        slot=st.integers(0, 10**6),
        project=st.integers(1, 3),
        judge=st.integers(1, 4),
        concurrency=st.integers(1, 30),
        limit=st.integers(1, 40),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda caller: caller.slot,
)


@given(st.integers(0, 100), WANTED, st.integers(0, 50))
def test_parts_are_all_that_there_is_and_as_equal_as_can_be_used(
    calls: int, wanted: list[int], turn: int
) -> None:
    parts = divide_calls(calls, wanted, turn=turn)

    assert sum(parts) == min(calls, sum(wanted))
    assert all(0 <= part <= most for part, most in zip(parts, wanted, strict=True))
    unfilled = [part for part, most in zip(parts, wanted, strict=True) if part < most]
    assert not unfilled or max(parts) <= min(unfilled) + 1


@given(st.integers(1, 8), st.integers(1, 8))
def test_more_slots_than_calls_take_turns(calls: int, more: int) -> None:
    slots = calls + more

    turns = [divide_calls(calls, [1] * slots, turn=turn) for turn in range(slots)]

    assert [sum(each) for each in zip(*turns, strict=True)] == [calls] * slots


@given(CALLERS)
def test_every_slot_has_its_turn_whatever_its_judge_and_its_project(
    callers: list[CallingSlot],
) -> None:
    limit = min(caller.limit or 1 for caller in callers)
    callers = [replace(caller, limit=limit) for caller in callers]

    calls = dict.fromkeys((caller.slot for caller in callers), 0)
    for turn in range(8 * len(callers) ** 2):
        parts = parts_of_judges(callers, turn=turn // len(callers))
        for caller in callers:
            under_limit = part_of_limit(caller, callers, turn=turn)
            calls[caller.slot] += min(parts[caller.slot], under_limit)

    assert min(calls.values()) > 0


@given(CALLERS, st.integers(0, 20))
def test_all_slots_together_never_have_more_than_the_limit(
    callers: list[CallingSlot], turn: int
) -> None:
    granted: dict[int, int] = {}
    for caller in [*callers, *reversed(callers)]:
        others = sum(calls for slot, calls in granted.items() if slot != caller.slot)
        granted[caller.slot] = part_of_limit(caller, callers, granted=others, turn=turn)

    assert sum(granted.values()) <= max(caller.limit or 0 for caller in callers)


def a_caller(slot: int, project: int, limit: int | None) -> CallingSlot:
    return CallingSlot(slot, project, judge=slot, concurrency=64, limit=limit)


def test_projects_have_equal_parts_however_many_slots_serve_them() -> None:
    callers = [a_caller(1, 1, 8), a_caller(2, 1, 8), a_caller(3, 1, 8), a_caller(4, 2, 8)]

    parts = [part_of_limit(caller, callers) for caller in callers]

    assert (sum(parts[:3]), parts[3]) == (4, 4)


@pytest.mark.parametrize("lower", [1, 2, 7])
def test_a_lower_limit_of_another_project_takes_nothing_away(lower: int) -> None:
    ours, theirs = a_caller(1, 1, 8), a_caller(2, 2, lower)

    assert part_of_limit(ours, [ours, theirs], granted=(lower + 1) // 2) == 4


def test_a_slot_waits_until_another_one_has_ended_what_is_too_much() -> None:
    ours, theirs = a_caller(1, 1, 8), a_caller(2, 2, 8)

    parts = [part_of_limit(ours, [ours, theirs], granted=granted) for granted in (8, 6, 4)]

    assert parts == [0, 2, 4]


@given(CALLERS)
def test_slots_of_a_judge_share_its_calls(callers: list[CallingSlot]) -> None:
    parts = parts_of_judges(callers)

    for judge in {caller.judge for caller in callers}:
        ours = [caller for caller in callers if caller.judge == judge]
        if len({caller.concurrency for caller in ours}) == 1:
            most = max(ours[0].concurrency, len(ours))
            assert sum(parts[caller.slot] for caller in ours) == most


@pytest.fixture
def other(load: Callable[..., object]) -> Project:
    project = Project.objects.create(slug="other", name="Other")
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
    return project


def limited(project: Project, make_judge: MakeJudge, limit: int | None, *switches: str) -> Judge:
    judge = make_judge(project, *switches, use_steps=False, concurrency=16)
    assert judge.endpoint
    judge.endpoint.parallel_calls = limit
    judge.endpoint.save()
    read_account(judge.endpoint)
    return judge


def serve(judge: Judge, *, slots: int = 1) -> list[WorkerSlot]:
    """Start a run of a judge, and have slots of a worker of their own serve it."""
    run = start_run(judge, list(judge.project.criteria.all()))
    lay_out_run(run.pk)
    name = f"of run {run.pk}"
    beat(name, Offer((RUNS,), slots))
    taken = []
    for slot in WorkerSlot.objects.filter(worker=name):
        mine = WorkerSlot.objects.take(name)
        assert mine
        WorkerSlot.objects.filter(pk=mine.pk).update(run_id=run.pk)
        mine.run_id = run.pk
        taken.append(mine)
        assert slot
    return taken


@pytest.mark.django_db(transaction=True)
def test_two_projects_share_the_limit_of_their_server(
    small_project: Project, other: Project, make_judge: MakeJudge
) -> None:
    (ours,) = serve(limited(small_project, make_judge, 5))
    assert grant_calls(16, ours, are_open=0) == 5

    (theirs,) = serve(limited(other, make_judge, 5))

    assert grant_calls(16, theirs, are_open=0) == 0
    assert grant_calls(16, ours, are_open=5) == 3
    assert grant_calls(16, theirs, are_open=0) == 0, "five are still open"
    assert grant_calls(16, ours, are_open=3) == 3
    assert grant_calls(16, theirs, are_open=0) == 2
    end_calls(ours)
    WorkerSlot.objects.filter(pk=ours.pk).update(run_id=None)
    assert grant_calls(16, theirs, are_open=2) == 5


@pytest.mark.django_db(transaction=True)
def test_slots_that_end_their_calls_for_the_account_still_count(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = limited(small_project, make_judge, 4)
    ours, leaving = serve(judge, slots=2)
    assert [grant_calls(16, slot, are_open=0) for slot in (ours, leaving)] == [2, 2]

    elsewhere = start_run(
        make_judge(small_project, name="B", base_url="http://127.0.0.1:1/v1", use_steps=False),
        list(small_project.criteria.all()),
    )
    WorkerSlot.objects.filter(pk=leaving.pk).update(run_id=elsewhere.pk)

    assert grant_calls(16, ours, are_open=2) == 2
    assert grant_calls(16, leaving, are_open=1) == 0
    assert grant_calls(16, ours, are_open=2) == 3


@pytest.mark.django_db(transaction=True)
def test_a_single_call_goes_from_slot_to_slot(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = serve(limited(small_project, make_judge, 1), slots=2)
    monkeypatch.setattr(serving, "SHARED_CALL_SECONDS", 0.05)
    served = set()
    until = time.monotonic() + 30

    while len(served) < 2 and time.monotonic() < until:
        granted = {slot.pk: grant_calls(16, slot, are_open=0) for slot in slots}
        assert sum(granted.values()) <= 1
        served |= {pk for pk, calls in granted.items() if calls}

    assert served == {slot.pk for slot in slots}


@pytest.mark.django_db(transaction=True)
def test_a_limit_is_never_exceeded_by_two_projects_at_work(
    small_project: Project, other: Project, make_judge: MakeJudge
) -> None:
    server = StandInProcess(
        ["--latency", "0.05", "--calls-at-once", "3", "--limit-headers", "none"]
    )
    try:
        runs = []
        for project in (small_project, other):
            judge = limited(project, make_judge, 3)
            assert judge.endpoint
            judge.endpoint.base_url = server.base_url
            judge.endpoint.save()
            read_account(judge.endpoint)
            runs.append(start_run(judge, list(project.criteria.all())))
        beat("here:1", Offer((RUNS,), 2))

        def work() -> None:
            try:
                work_on_runs("here:1", lambda: False)
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        by_status = server.stats["by_status"]
    finally:
        server.stop()

    states = EvaluationRun.objects.values_list("state", flat=True)
    assert list(states) == [RunState.DONE, RunState.DONE]
    assert "503" not in by_status


@pytest.mark.django_db(transaction=True)
def test_a_slot_that_gave_its_run_back_holds_no_calls(
    small_project: Project, make_judge: MakeJudge
) -> None:
    (slot,) = serve(limited(small_project, make_judge, 2))
    grant_calls(16, slot, are_open=0)
    assert WorkerSlot.objects.get(pk=slot.pk).calls == 2

    WorkerSlot.objects.release(slot)

    assert WorkerSlot.objects.get(pk=slot.pk).calls is None
    assert choose_run(slot) is None


@pytest.fixture
def slow_standin() -> Iterator[StandInProcess]:
    process = StandInProcess(["--latency", "1.2", "--limit-headers", "none"])
    yield process
    process.stop()


def at_work_on(run: EvaluationRun) -> threading.Thread:
    """A worker of one slot that has begun with a run, in a thread of its own."""
    beat("here:1", Offer((RUNS,), 1))

    def work() -> None:
        try:
            work_on_runs("here:1", lambda: False)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: bool(EvaluationRun.objects.get(pk=run.pk).calls))
    return thread


def started(project: Project, make_judge: MakeJudge, server: StandInProcess) -> EvaluationRun:
    judge = limited(project, make_judge, 2)
    assert judge.endpoint
    judge.endpoint.base_url = server.base_url
    judge.endpoint.save()
    run = start_run(judge, list(project.criteria.all()))
    lay_out_run(run.pk)
    return run


@pytest.mark.django_db(transaction=True)
def test_a_slot_whose_run_is_paused_is_free_although_calls_waited_for_their_part(
    small_project: Project, make_judge: MakeJudge, slow_standin: StandInProcess
) -> None:
    run = started(small_project, make_judge, slow_standin)
    worker = at_work_on(run)

    pause_run(run.pk, "Enough.")
    worker.join(30)

    assert not worker.is_alive()
    assert not run.items.held().exists()
    assert WorkerSlot.objects.get().taken_at is None
