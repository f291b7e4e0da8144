"""Endpoints and judges from the terminal: made, changed, probed, retired and brought back."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import Endpoint, EvaluationRun, Judge, Project
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]
Start = Callable[..., StandInProcess]


@pytest.mark.slow
def test_an_endpoint_is_made_and_changed_piece_by_piece(
    manage: Manage, small_project: Project
) -> None:
    made = manage(
        "endpoint", "small", "main", "--base-url", "http://vllm:8000/v1", "--key-env", "HF_TOKEN"
    )
    changed = manage(
        "endpoint", "small", "main", "--requests-per-minute", "90", "--parallel-calls", "3"
    )
    missing = manage("endpoint", "small", "other")

    endpoint = Endpoint.objects.get()
    assert ("created" in made.stdout, "changed" in changed.stdout) == (True, True)
    assert (endpoint.base_url, endpoint.key_env) == ("http://vllm:8000/v1", "HF_TOKEN")
    assert (endpoint.requests_per_minute, endpoint.parallel_calls) == (90, 3)
    assert "give its --base-url" in missing.stderr


@pytest.mark.slow
def test_a_judge_is_probed_changed_into_a_new_version_retired_and_restored(
    manage: Manage, small_project: Project, start_standin: Start
) -> None:
    manage("endpoint", "small", "main", "--base-url", start_standin().base_url)
    made = manage("add_judge", "small", "J", "--endpoint", "main", "--model", "offline-stand-in")
    EvaluationRun.objects.create(project=small_project, judge=Judge.objects.get(), state="done")

    probed = manage("probe", "small", "--judge", "J")
    as_json = manage("probe", "small", "--judge", "J", "--json")
    changed = manage("add_judge", "small", "J", "--change", "--mode", "direct")
    retired = manage("retire", "small", "--judge", "J")
    refused = manage("judge", "small", "--judge", "J")
    back = manage("retire", "small", "--judge", "J", "--back")

    assert "it scores by token probabilities" in made.stdout
    assert "20 per token" in probed.stdout
    assert json.loads(as_json.stdout)["best_mode"] == "logprobs"
    assert "J (version 2): new version created;" in changed.stdout
    assert "it scores by one greedy reply" in changed.stdout
    kept = Judge.objects.values_list("endpoint__name", "model", "temperature", "max_tokens")
    assert kept.get(version=2) == kept.get(version=1)
    assert "J (version 2) was retired" in retired.stdout
    assert (refused.returncode, "is retired" in refused.stderr) == (1, True)
    assert "was restored" in back.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("probe", "small"), "Name a judge with --judge"),
        (
            ("probe", "small", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"),
            "Nothing answers at",
        ),
        (("endpoint", "small", "x", "--base-url", "http://169.254.169.254/v1"), "metadata service"),
        (("add_judge", "small", "x", "--model", "m"), "Name the endpoint"),
        (
            ("add_judge", "small", "x", "--model", "m", "--endpoint", "none"),
            "has no endpoint 'none'",
        ),
        (("retire", "small", "--endpoint", "none"), "has no endpoint 'none'"),
        (("create_token", "nobody", "x"), "There is no user 'nobody'"),
    ],
)
def test_mistakes_are_reported_in_a_sentence(
    manage: Manage, small_project: Project, arguments: tuple[str, ...], said: str
) -> None:
    done = manage(*arguments)

    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
