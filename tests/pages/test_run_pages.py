"""Judges and runs in the browser: made, started, watched live, paused, retried."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import (
    Endpoint,
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunState,
)
from tests.conftest import do_errands
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db
JUDGE = {
    "name": "New one",
    "model": "offline-stand-in",
    "mode": "samples",
    "samples": "5",
    "temperature": "",
    "key_env": "",
    "use_steps": "on",
    "concurrency": "4",
    "max_tokens": "32",
    "timeout_seconds": "30",
    "min_coverage": "0.5",
    "price_in": "",
    "price_out": "",
}


@pytest.fixture
def client(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.fixture
def endpoint(small_project: Project, start_standin: Callable[..., StandInProcess]) -> Endpoint:
    return Endpoint.objects.create(
        project=small_project, name="here", base_url=start_standin().base_url
    )


def test_a_judge_is_made_as_the_command_makes_it(client: Client, endpoint: Endpoint) -> None:
    asked = client.post("/p/small/judges/new/", JUDGE | {"endpoint": endpoint.pk})
    assert "can do with offline-stand-in…" in asked.content.decode()
    assert 'value="New one"' in asked.content.decode()
    do_errands()
    response = client.post("/p/small/judges/new/", JUDGE | {"endpoint": endpoint.pk}, follow=True)

    judge = Judge.objects.get()
    assert (judge.mode, judge.samples, judge.temperature, judge.use_steps) == (
        "samples",
        5,
        1.0,
        True,
    )
    assert "New one is created" in response.content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"price_in": "1"}, "Enter both prices, or none."),
        ({"temperature": "0"}, "At temperature 0 all samples are the same"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
        ({"name": ""}, "This field is required."),
    ],
)
def test_a_judge_that_will_not_do_is_refused_at_its_field(
    client: Client, endpoint: Endpoint, change: dict[str, str], said: str
) -> None:
    response = client.post("/p/small/judges/new/", JUDGE | {"endpoint": endpoint.pk} | change)

    assert said in response.content.decode()
    assert not Judge.objects.exists()


def test_a_run_is_started_for_the_chosen_criteria(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1")
    fluency = small_project.criteria.get(name="fluency")

    response = client.post("/p/small/runs/start/", {"judge": judge.pk, "criteria": [fluency.pk]})
    again = client.post("/p/small/runs/start/", {"judge": judge.pk, "criteria": [fluency.pk]})

    run = EvaluationRun.objects.get()
    assert response["Location"] == f"/p/small/runs/{run.pk}/"
    assert [entry.criterion for entry in run.run_criteria.all()] == [fluency]
    assert again.status_code == 422
    assert "still running" in again.content.decode()


def test_a_judge_of_another_project_cannot_be_run(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    judge = make_judge(other, base_url="http://127.0.0.1:1/v1")

    response = client.post(
        "/p/small/runs/start/",
        {"judge": judge.pk, "criteria": [c.pk for c in small_project.criteria.all()]},
    )

    assert response.status_code == 422
    assert not EvaluationRun.objects.exists()


def test_htmx_gets_the_live_part_alone_and_learns_when_to_stop(
    client: Client, run: EvaluationRun
) -> None:
    finished = client.get(run.get_absolute_url(), headers={"HX-Request": "true"})
    EvaluationRun.objects.update(state=RunState.RUNNING)
    live = client.get(run.get_absolute_url(), headers={"HX-Request": "true"})

    assert (finished.status_code, live.status_code) == (286, 200)
    for response in (finished, live):
        assert response.content.decode().strip().startswith('<section id="progress"')
    assert 'hx-trigger="every 1s, seen"' in live.content.decode()


def test_pausing_going_on_and_retrying(client: Client, run: EvaluationRun) -> None:
    EvaluationRun.objects.update(state=RunState.RUNNING)

    client.post(f"/p/small/runs/{run.pk}/pause/")
    run.refresh_from_db()
    assert (run.state, run.message) == (RunState.PAUSED, "Paused by olga.")

    client.post(f"/p/small/runs/{run.pk}/resume/", {"failed": "1"})
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert run.items.filter(state=ItemState.PENDING).count() == 1
