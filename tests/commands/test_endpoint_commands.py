"""Judges from the terminal: made, changed and probed."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import EvaluationRun, Judge, Project
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]
Start = Callable[..., StandInProcess]


@pytest.mark.slow
def test_a_judge_is_probed_and_changed_into_a_new_version(
    manage: Manage, small_project: Project, start_standin: Start
) -> None:
    small_project.endpoints.create(name="main", base_url=start_standin().base_url)
    made = manage("add_judge", "small", "J", "--endpoint", "main", "--model", "offline-stand-in")
    EvaluationRun.objects.create(project=small_project, judge=Judge.objects.get(), state="done")

    probed = manage("probe", "small", "--judge", "J")
    as_json = manage("probe", "small", "--judge", "J", "--json")
    changed = manage("add_judge", "small", "J", "--change", "--mode", "direct")

    assert "it scores by token probabilities" in made.stdout
    assert "20 per token" in probed.stdout
    assert json.loads(as_json.stdout)["best_mode"] == "logprobs"
    assert "J (version 2): new version created;" in changed.stdout
    assert "it scores by one greedy reply" in changed.stdout
    kept = Judge.objects.values_list("endpoint__name", "model", "temperature", "max_tokens")
    assert kept.get(version=2) == kept.get(version=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("probe", "small"), "Name a judge with --judge"),
        (
            ("probe", "small", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"),
            "Nothing answers at",
        ),
        (("add_judge", "small", "x", "--model", "m"), "Name the endpoint"),
        (
            ("add_judge", "small", "x", "--model", "m", "--endpoint", "none"),
            "has no endpoint 'none'",
        ),
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
