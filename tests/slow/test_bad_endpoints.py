"""What is wrong with an endpoint is one clear message on page and terminal; the run waits, nothing
is lost."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, EvaluationRun, Judge, Project, RunState
from tests.processes import StandInProcess, free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

BAD = {
    "an unknown model": (
        ("--only-model", "another"),
        {},
        "does not know the model 'offline-stand-in'",
    ),
    "a wrong key": (("--api-key", "right"), {}, "refused the key (401)"),
    "nobody there": ((), {"base_url": f"http://127.0.0.1:{free_port()}/v1"}, "Nothing answers at"),
    "a forbidden address": (
        (),
        {"base_url": "http://169.254.169.254/v1"},
        "metadata service of a cloud",
    ),
    "a key that cannot be opened": ((), {"sealed_key": "gAAAAnonsense"}, "Enter the key again"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_run_waits_with_one_clear_message_and_resumes_when_it_is_fixed(
    name: str,
    owner: User,
    small_project: Project,
    make_judge: Callable[..., Judge],
    manage: Callable[..., CompletedProcess[str]],
    start_standin: Callable[..., StandInProcess],
) -> None:
    switches, fields, said = BAD[name]
    judge = make_judge(small_project, *switches, use_steps=False, name="J")
    Endpoint.objects.filter(pk=judge.endpoint_id).update(**fields)

    terminal = manage("judge", "small", "--judge", "J")
    run = EvaluationRun.objects.get()
    browser = Client()
    browser.force_login(owner)
    page = browser.get(run.get_absolute_url()).content.decode().replace("&#x27;", "'")

    assert run.state == RunState.PAUSED
    assert terminal.returncode == 1
    assert said in terminal.stderr
    assert "Traceback" not in terminal.stderr
    assert said in page
    assert "Resume run" in page

    Endpoint.objects.filter(pk=judge.endpoint_id).update(
        base_url=start_standin().base_url, sealed_key=""
    )
    resume_run(run)
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    assert (run.state, run.scores.count()) == (RunState.DONE, 12)


def test_prompts_longer_than_the_context_pause_the_run_when_the_others_are_judged(
    owner: User,
    small_project: Project,
    make_judge: Callable[..., Judge],
    manage: Callable[..., CompletedProcess[str]],
) -> None:
    document = small_project.documents.first()
    assert document
    document.source = "A long story. " * 2000
    document.save()
    make_judge(small_project, "--context-tokens", "2000", use_steps=False, name="J")

    terminal = manage("judge", "small", "--judge", "J")

    run = EvaluationRun.objects.get()
    browser = Client()
    browser.force_login(owner)
    page = browser.get(run.get_absolute_url()).content.decode()
    assert (run.state, run.scores.count()) == (
        RunState.PAUSED,
        10,
    )  # fluency is judged without the source
    assert "2 × context" in terminal.stdout
    for said in ("2 items are longer than the model", "maximum context length is 2000 tokens"):
        assert said in terminal.stderr
        assert said in page

    browser.post(f"{run.get_absolute_url()}resume/")
    run.refresh_from_db()
    assert (run.state, run.message, run.scores.count()) == (RunState.DONE, "", 10)
