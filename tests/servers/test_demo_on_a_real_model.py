"""`make demo MODEL=smollm2`: one criterion of the demo, judged by a real model."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import EvaluationRun, RunState
from tests.servers.conftest import IS_INSTALLED

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.processes,
    pytest.mark.slow,
    pytest.mark.skipif(not IS_INSTALLED, reason="make test-servers installs the model"),
]


def test_one_criterion_is_judged_and_it_is_said_what_that_is_worth(
    manage: Callable[..., CompletedProcess[str]],
) -> None:
    first = manage("demo", "--no-serve", "--model", "smollm2", timeout=500)
    second = manage("demo", "--no-serve", "--model", "smollm2", timeout=500)

    assert first.returncode == 0, first.stderr
    run = EvaluationRun.objects.get()
    assert run.state == RunState.DONE
    assert run.items.count() == 72
    assert f"G-Eval SmolLM2: {run.scores.count()} of 72 items scored." in first.stdout
    assert "its scores should not be used" in first.stdout
    assert "rho with people is" in first.stdout
    assert second.returncode == 0
    assert EvaluationRun.objects.count() == 1
