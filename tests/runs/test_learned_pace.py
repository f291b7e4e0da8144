"""Workers learn the pace of an endpoint together, and no item fails by its limit."""

from collections.abc import Callable

import pytest

from evaluations.judging.runs import outgoing
from evaluations.judging.runs.accounts import account_of
from evaluations.judging.runs.quota import close, exchange, known_pace
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Judge, Project, RunState
from geval.llm.pacing import Sign, WorkerReport

pytestmark = pytest.mark.django_db(transaction=True)
ACCOUNT = account_of("http://x/v1", "", "")
FIFTY = WorkerReport(sign=Sign(50.0, is_sure=True))


def test_what_one_worker_learned_holds_for_all() -> None:
    assert known_pace(ACCOUNT, "m").is_free

    first = exchange(ACCOUNT, "m", FIFTY, wanted=64)
    second = exchange(ACCOUNT, "m", WorkerReport(), wanted=64)

    assert 45 < (known_pace(ACCOUNT, "m").rate or 0) <= 50
    assert first.slots.count == second.slots.count == 5
    assert second.slots.at >= first.slots.at + 4.9 * first.slots.every


def test_each_model_has_its_own_pace() -> None:
    exchange(ACCOUNT, "slow", FIFTY, wanted=64)

    assert not known_pace(ACCOUNT, "slow").is_free
    assert known_pace(ACCOUNT, "quick").is_free
    assert exchange(ACCOUNT, "quick", WorkerReport(), wanted=64).slots.count == 64


def test_a_closed_endpoint_gives_one_moment_at_a_time() -> None:
    close(ACCOUNT, "m")

    first = exchange(ACCOUNT, "m", WorkerReport(), wanted=64)
    second = exchange(ACCOUNT, "m", WorkerReport(), wanted=64)

    assert (first.slots.count, first.slots.alone) == (1, True)
    assert second.slots.at >= first.slots.at + 1


@pytest.mark.parametrize("headers", ["all", "refused", "none"])
def test_no_item_fails_at_an_endpoint_with_a_limit(
    small_project: Project, make_judge: Callable[..., Judge], headers: str
) -> None:
    judge = make_judge(
        small_project, "--requests-per-second", "20", "--burst", "3", "--limit-headers", headers,
        use_steps=False,
    )  # fmt: skip
    run = start_run(judge, list(small_project.criteria.all()))

    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert (run.state, run.items.filter(state="done").count()) == (RunState.DONE, 12)


@pytest.mark.parametrize("is_free", [True, False])
def test_a_worker_remembers_for_a_while_that_calls_went_free(
    small_project: Project, make_judge: Callable[..., Judge], is_free: bool
) -> None:
    limited = () if is_free else ("--requests-per-second", "20", "--burst", "3")
    judge = make_judge(small_project, *limited, use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    endpoint = judge.endpoint
    assert endpoint is not None

    work_on_run(run.pk, "tester")

    key = (account_of(endpoint.base_url, "", ""), judge.model)
    assert (key in outgoing._went_free) == is_free
