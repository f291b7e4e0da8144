"""`judge --trial` shows ten items with what came back and what all would take; `--change` changes
the judge as advised."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import EvaluationRun, Judge, Project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]
MakeJudge = Callable[..., Judge]
TRIAL = ("judge", "small", "--judge", "Stand-in", "--trial")


def test_a_trial_prints_the_prompt_each_reading_and_what_the_rest_would_take(
    small_project: Project, make_judge: MakeJudge, manage: Manage
) -> None:
    make_judge(small_project, use_steps=False)

    printed = manage(*TRIAL).stdout

    assert "The first prompt:" in printed
    assert printed.count("(coverage ") == 10
    assert "would need about 2 calls" in printed
    assert "The same command without --trial judges them." in printed
    assert EvaluationRun.objects.get().items.count() == 10


def test_a_change_that_nobody_advised_is_an_error_that_lists_those_advised(
    small_project: Project, make_judge: MakeJudge, manage: Manage
) -> None:
    make_judge(small_project, "--unparseable-rate", "1", use_steps=False)
    manage(*TRIAL)

    refused = manage("judge", "small", "--judge", "Stand-in", "--change", "faster")

    assert refused.returncode != 0
    assert "Advised: samples, direct." in refused.stderr


def test_programs_get_the_items_the_advice_and_the_estimate_as_json(
    small_project: Project, make_judge: MakeJudge, manage: Manage
) -> None:
    make_judge(small_project, use_steps=False)

    last = json.loads(manage(*TRIAL, "--json").stdout.splitlines()[-1])

    assert last["event"] == "finished"
    assert len(last["trial"]) == 10
    assert {"score", "coverage", "prompts", "replies", "reason"} <= last["trial"][0].keys()
    assert (last["advice"], last["changes"], last["rest"]["items"]) == ("", [], 2)
