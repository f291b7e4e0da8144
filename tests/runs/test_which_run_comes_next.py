"""The rule by which slots of workers are given to runs."""

import datetime
from dataclasses import replace

from evaluations.judging.runs.scheduling import RunInLine, rank_runs

NOON = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)


def at(second: int) -> datetime.datetime:
    return NOON + datetime.timedelta(seconds=second)


def a_run(pk: int, project: int = 0, **more: object) -> RunInLine:
    shown = {"judge": pk, "concurrency": 8} | more
    return RunInLine(pk, project or pk, **shown)  # type: ignore[arg-type]


def order(*runs: RunInLine, served: tuple[int, ...] = (), slots: int = 6, **more: object) -> list:
    return [run.pk for run in rank_runs(runs, served, slots=slots, **more)]  # type: ignore[arg-type]


def test_a_project_that_no_slot_serves_comes_before_one_that_some_do() -> None:
    assert order(a_run(1), a_run(2), a_run(3), served=(1, 1, 2)) == [3, 2, 1]


def test_of_projects_with_as_many_slots_the_one_that_waited_longest_comes_first() -> None:
    runs = a_run(1, served_at=at(30)), a_run(2, served_at=at(10)), a_run(3)

    assert order(*runs) == [3, 2, 1]


def test_a_project_does_not_get_more_by_starting_more_runs() -> None:
    many = [a_run(pk, project=1, judge=pk) for pk in (1, 2, 3)]

    assert order(*many, a_run(4, project=2), served=(1,))[0] == 4


def test_a_new_run_of_a_project_that_was_just_served_waits_behind_one_that_was_not() -> None:
    served, new = a_run(1, project=1, served_at=at(20)), a_run(2, project=1)

    assert order(served, new, a_run(3, project=2, served_at=at(10)))[0] == 3


def test_within_a_project_the_run_with_fewer_slots_comes_first_then_the_one_that_waited() -> None:
    first, second = a_run(1, project=1, served_at=at(5)), a_run(2, project=1, served_at=at(9))

    assert order(first, second) == [1, 2]
    assert order(first, second, served=(1,)) == [2, 1]


def test_somebody_who_looks_at_a_trial_comes_first_up_to_a_quarter_of_the_slots() -> None:
    trial = a_run(1, is_interactive=True)
    other_trial = a_run(2, is_interactive=True)
    waiting = a_run(3)

    assert order(waiting, trial, served=(1,), slots=8) == [1, 3]
    assert order(waiting, trial, other_trial, served=(1, 2), slots=8)[0] == 3
    assert order(waiting, trial, served=(1,), slots=7)[0] == 3
    assert order(waiting, trial, slots=2)[0] == 1
    late = replace(trial, served_at=at(1))
    assert order(waiting, late, slots=1)[0] == 3  # one slot is everybody's


def test_a_judge_gets_no_more_slots_than_its_calls_in_flight() -> None:
    run = a_run(1, concurrency=2)

    assert order(run, served=(1,)) == [1]
    assert order(run, served=(1, 1)) == []
    assert order(run, a_run(2, judge=1, concurrency=2), served=(1, 1)) == []


def test_what_computes_is_served_by_one_slot() -> None:
    run = a_run(1, concurrency=None)

    assert order(run) == [1]
    assert order(run, served=(1,)) == []


def test_a_run_that_had_nothing_to_do_a_moment_ago_is_left_alone() -> None:
    assert order(a_run(1), a_run(2), avoided=(1,)) == [2]
