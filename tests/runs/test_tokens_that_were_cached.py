"""Cached tokens and thoughts of a run: counted with its calls, priced, and shown on its page and in
the API, where there are any."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from evaluations.judging.judges.judges import (
    EndpointDraft,
    JudgeDraft,
    create_judge,
    save_endpoint,
)
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, MonthlySpending, Project
from evaluations.operations.metrics import spending_by_judge
from tests.server_shapes import CACHED, SHAPES, THOUGHT, ShapedServer, shaped_server

pytestmark = pytest.mark.django_db(transaction=True)
PRICES = {"price_in": Decimal(1000), "price_out": Decimal(2000), "price_cached": Decimal(100)}


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    with shaped_server() as started:
        yield started


def judged(project: Project, server: ShapedServer, shape: str) -> EvaluationRun:
    """A run of a judge that was not probed, and has no steps: its calls are those for items."""
    address = server.base_url(next(each for each in SHAPES if each.name == shape))
    endpoint = save_endpoint(project, EndpointDraft(address))
    draft = JudgeDraft(
        name="J", endpoint=endpoint, model="m", mode="direct", use_steps=False,
        request_options={"reasoning_effort": "none"}, **PRICES,
    )  # fmt: skip
    judge, _ = create_judge(project, draft, probe=False)
    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


def test_they_are_counted_and_priced(small_project: Project, server: ShapedServer) -> None:
    run = judged(small_project, server, "GPT-5.1")

    assert run.calls > 0
    assert (run.cached_tokens, run.reasoning_tokens) == (CACHED * run.calls, THOUGHT * run.calls)
    tokens = run.prompt_tokens * 1000 + run.completion_tokens * 2000 - run.cached_tokens * 900
    assert run.cost == Decimal(tokens) / 1_000_000
    assert MonthlySpending.objects.get().money == run.cost
    assert spending_by_judge()[run.judge_id].money == run.cost


def test_a_price_of_cached_tokens_alone_is_refused(
    small_project: Project, server: ShapedServer
) -> None:
    endpoint = save_endpoint(small_project, EndpointDraft(server.base_url(SHAPES[0])))
    draft = JudgeDraft(
        name="J", endpoint=endpoint, model="m", mode="direct", price_cached=Decimal(1)
    )

    with pytest.raises(ValidationError, match="Enter the prices of tokens in and out, too"):
        create_judge(small_project, draft, probe=False)
