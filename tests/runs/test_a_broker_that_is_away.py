"""A broker that is away loses messages, not work: what rows have is done later, and only what has
no row is refused."""

from collections.abc import Callable

import pytest
from celery import Celery
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project, RunState
from evaluations.people import waking
from geval.llm.calls import RetryPolicy
from tests.processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker at an address where nobody listens."""
    broker = Celery(broker=f"amqp://127.0.0.1:{free_port()}//", set_as_current=False)
    monkeypatch.setattr(waking, "app", broker)


def test_a_run_is_started_and_found_by_the_workers(
    small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    run = start_run(make_judge(small_project), list(small_project.criteria.all()))

    assert run.state == RunState.PREPARING
    assert waiting_run() == run.pk


def test_a_worker_that_cannot_wake_others_does_all_of_it(
    small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    run = start_run(make_judge(small_project), list(small_project.criteria.all()))

    work_on_run(run.pk, "tester", policy=RetryPolicy(attempts=2))

    run.refresh_from_db()
    assert (run.state, run.message, run.scores.count()) == (RunState.DONE, "", 12)


def test_starting_a_run_on_its_page_is_no_error(
    small_project: Project, make_judge: Callable[..., Judge], client: Client, owner: User
) -> None:
    judge = make_judge(small_project)
    client.force_login(owner)

    answer = client.post(
        reverse("evaluations:run_start", args=[small_project.slug]),
        {"judge": judge.pk, "criteria": [one.pk for one in small_project.criteria.all()]},
    )

    assert answer.status_code == 302
    assert EvaluationRun.objects.count() == 1


def test_a_password_reset_says_that_no_mail_can_be_sent(client: Client) -> None:
    answer = client.post(reverse("password_reset"), {"email": "kim@example.org"})

    assert answer.status_code == 200
    assert "No mail can be sent" in answer.content.decode()
