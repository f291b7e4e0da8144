"""One worker at a real endpoint: scores, failures by name, replies paid once, a run that stops
where it should."""

from collections.abc import Callable

import pytest

from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    EvaluationRun,
    EvaluationSteps,
    ItemState,
    Judge,
    ModelReply,
    Project,
    RunState,
    ScoringMode,
)
from geval.llm.calls import RetryPolicy
from tests.processes import StandInProcess, free_port

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=6, first_wait=0.01, longest_wait=0.05)
MakeJudge = Callable[..., Judge]


def judged(judge: Judge, **options: bool) -> EvaluationRun:
    run = start_run(judge, list(judge.project.criteria.all()), RunRequest(**options))
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def test_log_probabilities_give_scores_with_distribution_and_coverage(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project))

    scores = list(run.scores.all())
    assert run.state == RunState.DONE
    assert len(scores) == 12
    for score in scores:
        assert sum(score.distribution.values()) == pytest.approx(1)
        assert score.value == pytest.approx(
            sum(float(point) * share for point, share in score.distribution.items())
        )
        assert 0.9 < score.coverage <= 1


def test_samples_are_counted_and_garbled_ones_asked_again(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(
        small_project,
        "--ignores-n",
        mode=ScoringMode.SAMPLES,
        samples=4,
        temperature=1.0,
        use_steps=False,
    )

    run = judged(judge)

    assert run.scores.count() == 12
    assert {reply.calls for reply in ModelReply.objects.all()} == {4}
    assert {len(reply.choices) for reply in ModelReply.objects.all()} == {4}


def test_passing_errors_are_outlived(small_project: Project, make_judge: MakeJudge) -> None:
    judge = make_judge(
        small_project, "--error-rate", "0.3", "--rate-limit-rate", "0.2", "--retry-after", "0"
    )

    run = judged(judge)

    assert (run.state, run.scores.count()) == (RunState.DONE, 12)


def test_refusals_are_failed_items_with_their_reason_never_numbers(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project, "--refusal-rate", "1", use_steps=False))

    assert run.state == RunState.FAILED
    assert not run.scores.exists()
    assert run.items.failures_by_reason()[0] | {"example": ""} == {
        "reason": "refusal",
        "count": 12,
        "example": "",
    }
    assert set(ModelReply.objects.values_list("request_key", flat=True)) == {""}


def test_there_is_no_silent_fallback_where_probabilities_are_missing(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project, "--without-logprobs"))

    assert set(run.items.values_list("state", "reason")) == {(ItemState.FAILED, "no_logprobs")}


@pytest.mark.parametrize("use_steps", [True, False])
def test_steps_are_written_once_per_criterion_or_not_at_all(
    small_project: Project, make_judge: MakeJudge, *, use_steps: bool
) -> None:
    judge = make_judge(small_project, use_steps=use_steps)

    run = judged(judge)
    judged(judge, fresh=True)

    assert EvaluationSteps.objects.count() == (2 if use_steps else 0)
    assert all((entry.steps is not None) == use_steps for entry in run.run_criteria.all())


def test_a_question_answered_before_is_not_paid_again(
    small_project: Project, make_judge: MakeJudge, start_standin: Callable[..., StandInProcess]
) -> None:
    first = make_judge(small_project)
    judged(first)
    calls = start_standin().stats["calls"]
    twin = Judge.objects.create(
        project=small_project,
        name="twin",
        endpoint=first.endpoint,
        model=first.model,
        mode=first.mode,
    )

    run = judged(twin)

    assert run.scores.count() == 12
    assert start_standin().stats["calls"] == calls


def test_outputs_with_the_same_text_share_one_call(
    project: Project,
    load: Callable[..., object],
    make_judge: MakeJudge,
    start_standin: Callable[..., StandInProcess],
) -> None:
    row = (
        '{{"doc_id": "d", "system_id": "s{}", "source": "A source of some words.", "output": "The'
        ' same."}}'
    )
    load(project, {"outputs.jsonl": "\n".join(row.format(number) for number in range(5))})
    project.criteria.create(name="fluency")
    before = start_standin().stats["calls"]

    run = judged(make_judge(project, use_steps=False))

    assert run.scores.count() == 5
    assert start_standin().stats["calls"] == before + 1
    assert len(set(run.items.values_list("reply_id", flat=True))) == 1


def test_a_wrong_key_pauses_the_run_with_the_endpoints_words(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project, "--api-key", "right", use_steps=False))

    assert run.state == RunState.PAUSED
    assert "refused the key" in run.message
    assert run.items.filter(state=ItemState.PENDING).count() == 12


def test_a_run_paused_by_an_absent_endpoint_resumes_when_it_is_back(
    small_project: Project, make_judge: MakeJudge, start_standin: Callable[..., StandInProcess]
) -> None:
    judge = make_judge(small_project, base_url=f"http://127.0.0.1:{free_port()}/v1")
    run = judged(judge)
    assert run.state == RunState.PAUSED
    assert "Nothing answers" in run.message

    assert judge.endpoint
    judge.endpoint.base_url = start_standin().base_url
    judge.endpoint.save()
    resume_run(run)
    work_on_run(run.pk, "tester", policy=QUICK)

    run.refresh_from_db()
    assert (run.state, run.scores.count()) == (RunState.DONE, 12)


def test_prompts_too_long_fail_their_items_and_pause_the_run_at_its_end(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project, "--context-tokens", "5", use_steps=False))

    assert run.state == RunState.PAUSED
    assert run.message.startswith("12 items are longer than")
    assert run.items.failures_by_reason()[0]["reason"] == "context"


def test_a_document_without_a_context_fails_where_the_prompt_shows_it(
    small_project: Project, make_judge: MakeJudge
) -> None:
    small_project.criteria.update(inputs="{{Context}} {{Response}}")

    run = judged(make_judge(small_project, use_steps=False))

    assert run.items.failures_by_reason()[0]["reason"] == "prompt"
    assert not ModelReply.objects.exists()


def test_a_worker_asked_to_leave_gives_back_what_it_holds(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(small_project, "--latency", "0.5", use_steps=False, concurrency=2)
    run = start_run(judge, list(small_project.criteria.all()))

    # Asked once its items are laid out.
    work_on_run(run.pk, "tester", policy=QUICK, shift=Shift(stop_requested=run.items.exists))

    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert not run.items.filter(state=ItemState.LEASED).exists()
    assert run.items.filter(state=ItemState.PENDING).count() >= 8


def test_working_on_a_run_that_is_done_or_gone_is_no_error(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = judged(make_judge(small_project, use_steps=False))

    work_on_run(run.pk, "again", policy=QUICK)
    work_on_run(10**9, "again", policy=QUICK)

    assert run.scores.count() == 12
