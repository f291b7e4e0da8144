"""Estimates before a run, counters during it, and budgets that pause it before they are passed."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from evaluations.judging.runs import leases
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.lifecycle import RunError, cancel_run, lay_out_run, resume_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Judge, ModelProbe, Project, RunState
from geval.llm.calls import RetryPolicy

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=6, first_wait=0.01, longest_wait=0.05)
PRICES = {"price_in": Decimal(1000), "price_out": Decimal(2000)}


@pytest.fixture
def judge(small_project: Project, make_judge: Callable[..., Judge]) -> Judge:
    return make_judge(small_project, use_steps=False, **PRICES)


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def start(judge: Judge, **options: object) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()), RunRequest(**options))  # type: ignore[arg-type]


def test_a_finished_run_knows_what_it_has_cost(judge: Judge) -> None:
    run = worked_on(start(judge))

    replies = [item.reply for item in run.items.select_related("reply")]
    assert run.prompt_tokens == sum(reply.prompt_tokens for reply in replies if reply)
    assert run.calls == 12
    assert run.cost == Decimal(run.prompt_tokens) / 1000 + Decimal(run.completion_tokens) / 500


def test_the_estimate_is_near_the_cost(judge: Judge) -> None:
    criteria = list(judge.project.criteria.all())
    estimate = estimate_run(judge, criteria, fresh=False, transport="live")

    run = worked_on(start(judge))

    assert (estimate.items, estimate.calls) == (12, 12)
    assert estimate.cost
    assert run.cost
    assert 0.8 < estimate.cost / run.cost < 1.3
    assert estimate_run(judge, criteria, fresh=False, transport="live").items == 0


@pytest.mark.parametrize(
    ("findings", "calls"),
    [({"several_choices": False}, 5), ({"most_choices": 2}, 3), ({"most_choices": 20}, 1)],
)
def test_the_estimate_counts_the_calls_that_samples_are_split_into(
    judge: Judge, findings: dict[str, object], calls: int
) -> None:
    criteria = list(judge.project.criteria.all())
    Judge.objects.filter(pk=judge.pk).update(mode="samples", samples=5, temperature=1)
    judge.refresh_from_db()
    together = estimate_run(judge, criteria, fresh=False, transport="live")
    ModelProbe.objects.create(
        endpoint=judge.endpoint, model=judge.model, findings=findings, probed_at="2026-01-01T00:00Z"
    )

    apart = estimate_run(judge, criteria, fresh=False, transport="live")

    assert (together.calls, apart.calls) == (12, calls * 12)
    assert apart.prompt_tokens == calls * together.prompt_tokens


def test_what_the_store_knows_costs_nothing(judge: Judge) -> None:
    first = worked_on(start(judge))
    twin = Judge.objects.create(
        project=judge.project, name="twin", endpoint=judge.endpoint, model=judge.model,
        mode=judge.mode,
        use_steps=False, **PRICES,
    )  # fmt: skip

    second = worked_on(start(twin))

    assert (second.calls, second.cache_hits, second.cost) == (0, 12, 0)
    assert first.cost


@pytest.mark.parametrize("share", ["0.3", "0.6", "0.9"])
def test_a_budget_pauses_the_run_before_it_is_passed(judge: Judge, share: str) -> None:
    full = worked_on(start(judge)).cost
    assert full
    budget = (full * Decimal(share)).quantize(Decimal("0.0001"))

    run = worked_on(start(judge, fresh=True, budget=budget))

    assert run.state == RunState.PAUSED
    assert "budget" in run.message
    assert run.cost is not None
    assert run.cost <= budget
    assert not run.items.filter(state=ItemState.LEASED).exists()


def test_with_more_money_the_run_continues_to_its_end(judge: Judge) -> None:
    run = worked_on(start(judge, budget=Decimal("0.0001")))
    assert (run.state, run.calls) == (RunState.PAUSED, 0)

    resume_run(run, budget=Decimal(1000))

    assert (worked_on(run).state, run.scores.count()) == (RunState.DONE, 12)


def test_what_lost_workers_held_is_not_set_aside(judge: Judge) -> None:
    run = start(judge, budget=Decimal(1))
    lay_out_run(run.pk)
    run.refresh_from_db()
    each = run.frozen.most_each
    assert each is not None
    EvaluationRun.objects.filter(pk=run.pk).update(budget=12 * each)
    assert len(leases.claim_within_budget(run.pk, "lost", most=11)[0]) == 11
    run.items.filter(leased_by="lost").update(lease_until="2000-01-01T00:00Z")
    EvaluationRun.objects.filter(pk=run.pk).update(budget=11 * each)

    worked_on(run)

    assert (run.state, run.scores.count()) == (RunState.DONE, 12)


def test_a_budget_needs_prices(small_project: Project, make_judge: Callable[..., Judge]) -> None:
    with pytest.raises(RunError, match="needs prices"):
        start(make_judge(small_project), budget=Decimal(1))


def test_a_cancelled_run_keeps_its_scores_and_ends_for_good(judge: Judge) -> None:
    run = worked_on(start(judge, budget=Decimal("0.5")))

    assert cancel_run(run.pk, "Enough.")
    run.refresh_from_db()
    assert (run.state, resume_run(run, retry_failed=True), cancel_run(run.pk, "Twice.")) == (
        "cancelled",
        False,
        False,
    )


def test_retrying_takes_only_the_reason_that_was_named(judge: Judge) -> None:
    run = worked_on(start(judge))
    ids = list(run.items.values_list("pk", flat=True))
    run.items.filter(pk__in=ids[:2]).update(state=ItemState.FAILED, reason="refusal")
    run.items.filter(pk__in=ids[2:5]).update(state=ItemState.FAILED, reason="empty")

    resume_run(run, retry_failed=True, reason="empty")

    assert run.items.filter(state=ItemState.PENDING).count() == 3
    assert run.items.filter(state=ItemState.FAILED, reason="refusal").count() == 2


def test_what_an_item_can_cost_counts_the_calls_that_its_samples_are_split_into(
    judge: Judge,
) -> None:
    Judge.objects.filter(pk=judge.pk).update(mode="samples", samples=6, temperature=1)
    judge.refresh_from_db()
    probe = ModelProbe.objects.create(
        endpoint=judge.endpoint, model=judge.model, findings={"most_choices": 6}
    )
    together = start(judge)
    lay_out_run(together.pk)
    cancel_run(together.pk, "Enough.")
    probe.findings = {"most_choices": 1}
    probe.save()
    apart = start(judge, fresh=True)
    lay_out_run(apart.pk)

    dearest = [EvaluationRun.objects.get(pk=run.pk).frozen.most_each for run in (together, apart)]

    assert dearest[0] is not None
    assert dearest[1] is not None
    assert dearest[1] > 3 * dearest[0]
