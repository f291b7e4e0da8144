"""Starting, pausing, resuming a run; what a second run does; what is refused before anything is
paid."""

from collections.abc import Callable

import pytest

from evaluations.judging.judges.criteria import store_steps
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import (
    RunError,
    claim_preparation,
    lay_out_run,
    pause_run,
    resume_run,
)
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import EvaluationRun, ItemState, Judge, Project, RunState
from geval.llm.scoring import Scored

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(small_project: Project, make_judge: Callable[..., Judge]) -> Judge:
    return make_judge(small_project, base_url="http://127.0.0.1:1/v1")


def start(judge: Judge, **options: bool) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()), RunRequest(**options))


def finish(run: EvaluationRun, *, fail: int = 0) -> None:
    """Lay a run out and give every item but the last `fail` a score."""
    for criterion in run.project.criteria.all():
        store_steps(criterion, "1. Read it.", written_by="m")
    lay_out_run(run.pk)
    items = leases.claim(run.pk, "t", most=100)
    done = [
        results.FinishedItem(item, "", Scored(3.0, {3.0: 1.0}, 1.0))
        for item in items[: len(items) - fail]
    ]
    results.store(run, done, "t")
    run.items.filter(state=ItemState.LEASED).update(state=ItemState.FAILED, reason="refusal")
    EvaluationRun.objects.filter(pk=run.pk).update(state=RunState.DONE)


def test_a_run_keeps_the_judges_settings_of_its_start(judge: Judge) -> None:
    run = start(judge)
    judge.model = "another"
    judge.save()

    run.refresh_from_db()
    assert run.parameters["model"] == "offline-stand-in"
    assert run.software_version


def test_one_judge_runs_once_at_a_time(judge: Judge) -> None:
    start(judge)

    with pytest.raises(RunError, match="still running"):
        start(judge)


def test_prompts_and_steps_are_frozen_into_the_run(judge: Judge) -> None:
    run = start(judge)
    finish(run)
    criterion = judge.project.criteria.first()
    assert criterion
    criterion.definition = "Something else entirely."
    criterion.save()

    entry = run.run_criteria.get(criterion=criterion)
    assert "1. Read it." in entry.template
    assert "Something else" not in entry.template
    assert entry.steps
    assert entry.steps.version == 1


def test_a_second_run_judges_only_what_has_no_score(judge: Judge) -> None:
    finish(start(judge), fail=2)

    second = start(judge)
    lay_out_run(second.pk)

    assert second.items.count() == 2


def test_a_changed_prompt_is_judged_anew(judge: Judge) -> None:
    finish(start(judge))
    judge.project.criteria.filter(name="fluency").update(definition="Reads smoothly?")

    second = start(judge)
    lay_out_run(second.pk)

    assert set(second.items.values_list("criterion__name", flat=True)) == {"fluency"}


def test_a_fresh_run_judges_everything(judge: Judge) -> None:
    finish(start(judge))

    second = start(judge, fresh=True)
    lay_out_run(second.pk)

    assert second.items.count() == 12


def test_a_run_with_nothing_to_do_is_done_at_once(judge: Judge) -> None:
    finish(start(judge))

    second = start(judge)
    lay_out_run(second.pk)

    second.refresh_from_db()
    assert second.state == RunState.DONE


def test_a_paused_run_resumes_where_it_was(judge: Judge) -> None:
    run = start(judge)
    lay_out_run(run.pk)

    assert pause_run(run.pk, "Enough.")
    assert not pause_run(run.pk, "Twice.")
    run.refresh_from_db()
    assert (run.state, run.message) == (RunState.PAUSED, "Enough.")
    assert resume_run(run)
    run.refresh_from_db()
    assert (run.state, run.message) == (RunState.RUNNING, "")


def test_failed_items_are_tried_again_on_request_only(judge: Judge) -> None:
    run = start(judge)
    finish(run, fail=3)

    assert not resume_run(run)
    assert resume_run(run, retry_failed=True)
    assert run.items.filter(state=ItemState.PENDING).count() == 3


def test_one_worker_prepares_a_run_and_another_may_if_that_one_is_lost(judge: Judge) -> None:
    run = start(judge)

    assert claim_preparation(run.pk)
    assert not claim_preparation(run.pk)
    EvaluationRun.objects.update(preparer_until="2020-01-01T00:00Z")
    assert claim_preparation(run.pk)
