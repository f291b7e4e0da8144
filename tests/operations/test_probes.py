"""`/healthz` says that a process answers, `/readyz` what the site lacks, each part by its name."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from evaluations.management.heartbeat import beat
from evaluations.models import WorkerHeartbeat
from evaluations.operations import doctor


def test_a_process_is_healthy_without_a_database() -> None:
    answer = Client().get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_probes_are_only_read(path: str) -> None:
    assert Client().post(path).status_code == 405


@pytest.mark.django_db
def test_a_site_with_a_worker_is_ready() -> None:
    beat("here:1")

    answer = Client().get("/readyz")

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    said = answer.json()
    assert said["ready"] is True
    assert {name: part["ok"] for name, part in said["parts"].items()} == {
        "database": True,
        "migrations": True,
        "worker": True,
        "upkeep": True,
        "broker": True,
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("token", "host", "status"),
    [("", "localhost", 200), ("", "evil.example", 401), ("token", "10.0.0.7:8000", 200)],
)
def test_without_a_token_metrics_are_read_by_the_names_of_the_site_only(
    settings: Any, token: str, host: str, status: int
) -> None:
    settings.PRODUCTION, settings.METRICS_TOKEN = False, token
    settings.ALLOWED_HOSTS = ["localhost"]

    answer = Client().get("/metrics", headers={"host": host, "authorization": f"Bearer {token}"})

    assert answer.status_code == status


@pytest.mark.django_db
def test_load_balancers_may_call_it_by_any_name_and_over_http(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    beat("here:1")

    answer = Client().get("/readyz", headers={"host": "10.0.0.7:8000"})

    assert answer.status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("silent_for", [None, timedelta(seconds=61)])
def test_without_a_worker_for_a_minute_it_is_not_ready(silent_for: timedelta | None) -> None:
    if silent_for:
        WorkerHeartbeat.objects.create(name="lost:1", seen_at=timezone.now() - silent_for)

    answer = Client().get("/readyz")

    assert answer.status_code == 503
    assert not_ready(answer) == ["worker"]
    assert "start one" in answer.json()["parts"]["worker"]["message"]


@pytest.mark.django_db
def test_a_migration_that_is_not_applied_is_named() -> None:
    beat("here:1")
    MigrationRecorder(connection).record_unapplied("evaluations", "0021_event_counts")

    answer = Client().get("/readyz")

    assert not_ready(answer) == ["migrations"]
    assert "evaluations.0021_event_counts" in answer.json()["parts"]["migrations"]["message"]


def test_without_a_database_all_that_needs_it_is_named_and_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise OperationalError("password of geval at db.internal was refused")

    monkeypatch.setattr(doctor.connection, "cursor", refuse)
    monkeypatch.setattr(doctor.connection, "close", lambda: None)

    answer = Client().get("/readyz")

    assert answer.status_code == 503
    assert not_ready(answer) == ["broker", "database", "migrations", "upkeep", "worker"]
    assert b"internal" not in answer.content


@pytest.mark.django_db
def test_a_broker_that_does_not_answer_is_named(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from celery import Celery

    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(doctor, "app", Celery(broker=settings.CELERY_BROKER_URL))
    beat("here:1")

    answer = Client().get("/readyz")

    assert not_ready(answer) == ["broker"]
    assert "CELERY_BROKER_URL" in answer.json()["parts"]["broker"]["message"]


def not_ready(answer: Any) -> list[str]:
    return sorted(name for name, part in answer.json()["parts"].items() if not part["ok"])
