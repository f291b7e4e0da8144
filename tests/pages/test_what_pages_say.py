"""What pages say of states that were easy to misread."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluations.models import (
    ErrandState,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    WebhookDelivery,
    WebhookEvent,
)
from evaluations.web.templatetags.evaluations import ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def words(client: Client, address: str) -> str:
    """The text of a page, with single blanks."""
    text = re.sub(r"<[^>]*>", " ", client.get(address).content.decode())
    return " ".join(text.split())


@pytest.mark.parametrize(("attempts", "said"), [(0, "Waiting"), (2, "Failed, next try at")])
def test_a_message_that_failed_says_when_it_is_tried_next(
    client: Client, project: Project, attempts: int, said: str
) -> None:
    webhook = project.webhooks.create(
        url="https://example.org/hook", events=[WebhookEvent.RUN_FINISHED]
    )
    WebhookDelivery.objects.create(
        webhook=webhook, event=WebhookEvent.RUN_FINISHED, attempts=attempts, next_at=timezone.now()
    )

    assert said in words(client, "/p/small/webhooks/")


def test_failed_probes_are_not_among_the_models_probed(client: Client, project: Project) -> None:
    endpoint = project.endpoints.create(name="here", base_url="http://127.0.0.1:1/v1")
    endpoint.probes.create(
        model="silent-model", state=ErrandState.FAILED, message="Nothing answers."
    )
    endpoint.probes.create(model="good-model", state=ErrandState.DONE, findings={"logprobs": 20})

    page = words(client, "/p/small/judges/")

    assert ("good-model" in page, "silent-model" in page) == (True, False)


def test_who_paused_a_run_is_said_once(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1")
    run = EvaluationRun.objects.create(
        project=small_project, judge=judge, state=RunState.PAUSED, message="Paused by ada."
    )

    page = words(client, run.get_absolute_url())

    assert "Paused by ada." in page
    assert "Paused :" not in page.replace("Paused:", "Paused :")


def test_a_field_with_an_error_is_marked(client: Client, small_project: Project) -> None:
    answer = client.post("/p/small/endpoints/new/", {"base_url": ""})
    page = answer.content.decode() if answer.status_code == 422 else ""

    assert re.search(r'<input[^>]*name="base_url"[^>]*aria-invalid="true"', page)


def test_how_long_ago_has_the_full_time_on_hover() -> None:
    moment = timezone.now() - timedelta(minutes=3, seconds=5)

    said = ago(moment)

    assert re.fullmatch(r'<time datetime="[^"]+" title="[^"]+">3\xa0minutes ago</time>', said)
