"""An estimate is what the judge's own evaluator would ask: calls, tokens and money, steps
included."""

from decimal import Decimal
from typing import Any

import pytest

from evaluations.judging.judges.judges import endpoint_at
from evaluations.judging.runs.estimate import LOOKED_AT, RunEstimate, estimate_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db
PRICES = {"price_in": Decimal(1), "price_out": Decimal(2)}


def judge_of(project: Project, **fields: Any) -> Judge:
    endpoint = endpoint_at(project, "http://127.0.0.1:1/v1")
    given = {"name": "j", "model": "m", "mode": "direct", "use_steps": False}
    return Judge.objects.create(
        project=project, **({"endpoint": endpoint} | PRICES | given | fields)
    )


def estimate(judge: Judge, *, fresh: bool = False) -> RunEstimate:
    criteria = list(judge.project.criteria.all())
    return estimate_run(judge, criteria, fresh=fresh, transport="live")


def outputs_of(project: Project) -> int:
    return sum(document.outputs.count() for document in project.documents.all())


def test_an_evaluator_that_computes_makes_no_calls_and_costs_nothing(
    small_project: Project,
) -> None:
    judge = judge_of(small_project, kind="chrf", mode="", endpoint=None, model="")

    found = estimate(judge)

    assert (found.calls, found.prompt_tokens, found.cost) == (0, 0, None)
    assert found.is_free
    assert found.items == outputs_of(small_project)


def test_pairs_are_asked_about_in_both_orders(small_project: Project) -> None:
    pairs = sum(
        n * (n - 1) // 2 for n in (d.outputs.count() for d in small_project.documents.all())
    )
    judge = judge_of(small_project, kind="pairwise", settings={"pairs": "all", "both_orders": True})

    found = estimate(judge)

    assert found.items == pairs * small_project.criteria.count()
    assert found.calls == 2 * found.items


def test_gptscore_sends_each_text_and_pays_for_no_replies(small_project: Project) -> None:
    judge = judge_of(small_project, kind="gptscore", mode="")

    found = estimate(judge)

    assert found.calls == found.items == outputs_of(small_project) * small_project.criteria.count()
    assert found.completion_tokens <= found.calls
    longest = max(len(d.source) for d in small_project.documents.all())
    assert found.prompt_tokens < found.calls * (longest + 2000)


def test_steps_that_are_missing_are_calls_of_their_own(small_project: Project) -> None:
    without = estimate(judge_of(small_project))
    small_project.judges.all().delete()

    found = estimate(judge_of(small_project, use_steps=True))

    assert found.calls == without.calls + small_project.criteria.count()
    assert found.completion_tokens > without.completion_tokens


def test_an_estimate_and_a_run_count_the_same_items(small_project: Project) -> None:
    for kind, mode in (("geval", "direct"), ("gptscore", "")):
        judge = judge_of(small_project, kind=kind, mode=mode, name=kind)
        run = start_run(judge, list(small_project.criteria.all()))

        assert run.judge.evaluator
        assert estimate(judge).items == outputs_of(small_project) * small_project.criteria.count()
        run.delete()


def test_many_items_are_priced_by_some_of_them(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of(small_project)
    exact = estimate(judge)
    monkeypatch.setattr("evaluations.judging.runs.estimate.LOOKED_AT", 3)

    sampled = estimate(judge)

    assert exact.items < LOOKED_AT
    assert (sampled.items, sampled.calls) == (exact.items, exact.calls)
    assert sampled.prompt_tokens == pytest.approx(exact.prompt_tokens, rel=0.25)
