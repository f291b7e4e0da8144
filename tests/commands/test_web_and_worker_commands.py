"""`manage.py web` and `worker` become Gunicorn and Celery, each with its options."""

import os
from typing import Any

import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command line of the program that the process becomes."""
    command: list[str] = []

    def execute(_program: str, arguments: list[str], *_environment: Any) -> None:
        command.extend(arguments)
        raise SystemExit

    monkeypatch.setattr(os, "execv", execute)
    monkeypatch.setattr(os, "execve", execute)
    return command


def test_the_web_server_listens_where_it_is_told(became: list[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("web", bind="0.0.0.0:8000", workers=3)

    line = " ".join(became)
    assert "-m gunicorn --config python:geval_site.web_server --bind 0.0.0.0:8000" in line
    assert "--workers 3 --threads 4" in line
    assert line.endswith("geval_site.wsgi")


@pytest.mark.parametrize("jobs", ["runs,reports", "runs:reports"])
def test_a_worker_takes_the_jobs_that_it_is_told(
    became: list[str], jobs: str, settings: Any
) -> None:
    with pytest.raises(SystemExit):
        call_command("worker", jobs=jobs, concurrency=2)

    queues = became[became.index("--queues") + 1]
    assert queues == f"{settings.QUEUES['runs']},{settings.QUEUES['reports']}"
    assert became[became.index("--concurrency") + 1] == "2"


@pytest.mark.parametrize(("jobs", "threads"), [("quick,webhooks", "16"), ("quick,runs", "4")])
def test_jobs_that_mostly_wait_for_others_get_more_threads(
    became: list[str], jobs: str, threads: str
) -> None:
    with pytest.raises(SystemExit):
        call_command("worker", jobs=jobs)

    assert became[became.index("--concurrency") + 1] == threads


@pytest.mark.parametrize("jobs", ["runs,walks", ","])
def test_unknown_jobs_are_an_error_that_names_those_there_are(jobs: str) -> None:
    with pytest.raises(CommandError, match="runs, uploads, webhooks, quick, reports"):
        call_command("worker", jobs=jobs)
