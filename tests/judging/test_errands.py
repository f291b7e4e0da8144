"""Questions to endpoints are asked by workers: shared, bounded per project, taken again, ended with
a reason."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs import errands
from evaluations.judging.runs.errands import (
    MOST_IN_HAND,
    neglected_errands,
    request_probe,
    work_on_errand,
)
from evaluations.models import Endpoint, ErrandState, ModelProbe, Project
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.time_limit import ask_within_patience
from tests.conftest import do_errands
from tests.silence import silent_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def endpoint(small_project: Project) -> Endpoint:
    return small_project.endpoints.create(name="here", base_url="http://127.0.0.1:9/v1")


def found(probe: ModelProbe) -> ModelProbe:
    probe.refresh_from_db()
    return probe


def test_a_page_that_wants_a_probe_does_not_wait_for_the_endpoint(
    browser: Client, small_project: Project
) -> None:
    with silent_server() as server:
        endpoint = save_endpoint(
            small_project, EndpointDraft(base_url=f"http://127.0.0.1:{server.port}/v1")
        )

        answer = browser.post(f"/p/small/endpoints/{endpoint.pk}/probe/", {"model": "m"})

        assert answer.status_code == 302
        assert ModelProbe.objects.get().state == ErrandState.WAITING
        assert server.accepted == []


def test_who_asks_while_it_is_asked_shares_the_probe(endpoint: Endpoint) -> None:
    first, second = request_probe(endpoint, "m"), request_probe(endpoint, "m")

    ModelProbe.objects.update(
        state=ErrandState.ASKING, taken_until=timezone.now() + timedelta(minutes=1), attempts=1
    )
    third = request_probe(endpoint, "m")

    assert first.pk == second.pk == third.pk
    assert (found(third).state, third.attempts) == (ErrandState.ASKING, 1)


def test_others_do_not_see_how_a_question_goes(
    as_role: Callable[[str], Client], endpoint: Endpoint
) -> None:
    state = f"/p/small/asked/probe/{request_probe(endpoint, 'm').pk}/"
    other = Project.objects.create(name="Other", slug="other")
    reader = as_role("viewer")
    reader.get(state)
    other.memberships.create(user=User.objects.get(username="viewer"), role="owner")

    assert reader.get(state).status_code == 200
    assert reader.get(state.replace("small", "other")).status_code == 404
    assert as_role("annotator").get(state).status_code == 403
    assert reader.get("/p/small/asked/nonsense/1/").status_code == 404


def test_a_project_has_a_few_questions_in_hand_and_others_go_on(endpoint: Endpoint) -> None:
    probes = [request_probe(endpoint, f"m{number}") for number in range(MOST_IN_HAND + 2)]
    busy = [probe.pk for probe in probes[:MOST_IN_HAND]]
    ModelProbe.objects.filter(pk__in=busy).update(
        state=ErrandState.ASKING, taken_until=timezone.now() + timedelta(minutes=1), attempts=1
    )
    elsewhere = Project.objects.create(name="Other", slug="other").endpoints.create(
        name="e", base_url=endpoint.base_url
    )
    other = request_probe(elsewhere, "m")

    work_on_errand("probe", probes[-1].pk)
    work_on_errand("probe", other.pk)

    assert found(probes[-1]).state == ErrandState.WAITING
    assert found(other).state == ErrandState.FAILED


def test_a_question_of_a_lost_worker_is_asked_again_and_in_the_end_given_up(
    endpoint: Endpoint,
) -> None:
    probe = request_probe(endpoint, "m")
    lost = {"state": ErrandState.ASKING, "taken_until": timezone.now() - timedelta(hours=1)}
    ModelProbe.objects.update(attempts=2, **lost)
    assert neglected_errands() == [("probe", probe.pk)]

    ModelProbe.objects.update(attempts=3, **lost)

    assert neglected_errands() == []
    assert found(probe).state == ErrandState.FAILED
    assert "3 workers started it" in probe.message


def test_an_unexpected_error_ends_a_question_with_a_message(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall_over(_probe: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(errands.KINDS, "probe", errands.ErrandKind(ModelProbe, fall_over))
    probe = request_probe(endpoint, "m")
    do_errands()

    assert (found(probe).state, "ZeroDivisionError" in probe.message) == (ErrandState.FAILED, True)


def test_a_question_about_something_removed_meanwhile_is_harmless(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        errands.KINDS,
        "probe",
        errands.ErrandKind(ModelProbe, lambda _probe: endpoint.delete() and None),
    )
    probe = request_probe(endpoint, "m")

    work_on_errand("probe", probe.pk)
    work_on_errand("probe", probe.pk)

    assert not ModelProbe.objects.exists()


def test_an_endpoint_that_takes_its_time_with_everything_is_not_waited_for_without_end() -> None:
    import asyncio

    with pytest.raises(
        EndpointError, match="had not answered everything after 0 seconds"
    ) as raised:
        ask_within_patience(asyncio.sleep(30), "http://slow.example/v1", seconds=0.05)

    assert raised.value.kind == ErrorKind.TIMEOUT


def test_a_retired_endpoint_is_not_asked(browser: Client, endpoint: Endpoint) -> None:
    Endpoint.objects.update(retired_at=timezone.now())
    body = {"name": "J", "endpoint": endpoint.pk, "model": "m"}

    page = browser.post(f"/p/small/endpoints/{endpoint.pk}/probe/", {"model": "m"})
    judge = browser.post(
        "/api/v1/projects/small/judges", json.dumps(body), content_type="application/json"
    )
    probe = browser.post(
        f"/api/v1/projects/small/endpoints/{endpoint.pk}/probe",
        json.dumps({"model": "m"}),
        content_type="application/json",
    )

    assert (page.status_code, judge.status_code, probe.status_code) == (422, 422, 422)
    assert not ModelProbe.objects.exists()
