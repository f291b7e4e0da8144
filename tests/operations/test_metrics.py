"""`/metrics` is what Prometheus reads: what judges did, what waits, and how requests went."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from evaluations.judging.runs import leases
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.results import note_result
from evaluations.judging.runs.scheduling import choose_run
from evaluations.judging.runs.starting import start_run
from evaluations.management.heartbeat import Offer, beat
from evaluations.models import EvaluationRun, Project, WorkerSlot
from tests.conftest import CHECKOUT
from tests.processes import free_port

TOKEN = "of-the-tests"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape() -> Samples:
    answer = Client().get("/metrics")
    assert answer.status_code == 200
    return samples(answer.content.decode())


JUDGE = (("judge", "Judge Judy v1"), ("project", "small"))


@pytest.mark.django_db(transaction=True)
def test_items_are_counted_by_judge_and_failures_by_reason(judged_project: Project) -> None:
    found = scrape()

    assert found["geval_items_total", (*JUDGE[:1], ("outcome", "scored"), JUDGE[1])] == 11
    assert found["geval_items_total", (*JUDGE[:1], ("outcome", "failed"), JUDGE[1])] == 1
    assert found["geval_item_failures_total", (*JUDGE, ("reason", "refusal"))] == 1
    assert found["geval_runs", (("state", "done"),)] == 1


@pytest.mark.django_db(transaction=True)
def test_counters_do_not_go_down_with_what_they_counted(judged_project: Project) -> None:
    EvaluationRun.objects.all().delete()
    judged_project.judges.all().delete()

    found = scrape()

    gone = (("judge", "removed"), ("outcome", "scored"), ("project", ""))
    assert found["geval_items_total", gone] == 11


@pytest.mark.django_db
def test_tokens_and_money_are_what_runs_counted(run: EvaluationRun) -> None:
    run.parameters |= {"price_in": "2", "price_out": "8"}
    run.calls, run.prompt_tokens, run.completion_tokens = 12, 1_000_000, 500_000
    run.save()

    found = scrape()

    assert found["geval_calls_total", JUDGE] == 12
    assert found["geval_tokens_total", (("direction", "prompt"), *JUDGE)] == 1_000_000
    assert found["geval_tokens_total", (("direction", "completion"), *JUDGE)] == 500_000
    assert found["geval_money_total", JUDGE] == 6


@pytest.mark.django_db(transaction=True)
def test_items_that_wait_and_leases_that_were_lost(
    small_project: Project, make_judge: Callable[..., Any]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    leases.claim(run.pk, "lost", most=3)
    run.items.filter(leased_by="lost").update(lease_until="2020-01-01T00:00Z")
    beat("here:1", Offer(("runs",), 3))

    before = scrape()
    leases.claim(run.pk, "next", most=2)
    after = scrape()

    assert before["geval_queue_depth", (("queue", "runs"),)] == 12
    assert (before["geval_stale_leases", ()], after["geval_stale_leases", ()]) == (3, 1)
    assert before["geval_leases_lost_total", ()] == 0
    assert after["geval_leases_lost_total", ()] == 2
    assert before["geval_workers", (("queue", "runs"),)] == 1
    assert before["geval_workers", (("queue", "quick"),)] == 0


@pytest.mark.django_db
def test_requests_are_counted_by_route_and_status_and_addresses_add_no_series() -> None:
    client = Client()
    route = (("method", "GET"), ("route", "/sign-in/"), ("status", "200"))
    before = scrape().get(("geval_requests_total", route), 0)

    client.get("/sign-in/")
    for number in range(3):
        client.get(f"/made/up/{number}.php")
    client.generic("INVENTED", "/sign-in/")
    found = scrape()

    assert found["geval_requests_total", route] == before + 1
    timed = ("geval_request_seconds_count", (("method", "GET"), ("route", "/sign-in/")))
    assert found[timed] == before + 1
    assert not [labels for _, labels in found if "made" in str(labels) or "INVENT" in str(labels)]


@pytest.mark.django_db
def test_with_a_token_nobody_else_may_read_them(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    client = Client()

    assert client.get("/metrics").status_code == 401
    wrong = client.get("/metrics", headers={"authorization": "Bearer wrong-é"})
    assert wrong.status_code == 401
    right = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert right.status_code == 200


def test_in_production_there_are_none_without_a_token(settings: Any) -> None:
    settings.PRODUCTION, settings.METRICS_TOKEN = True, ""

    answer = Client().get("/metrics")

    assert answer.status_code == 401
    assert b"GEVAL_METRICS_TOKEN" in answer.content


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_each_of_several_processes_answers_for_all(database_url: str, tmp_path: Path) -> None:
    """Started from nothing: what a copy of a warm process has imported counts by itself."""
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [
            sys.executable, "-m", "gunicorn", "geval_site.wsgi", "--config",
            "python:geval_site.web_server", "--bind", f"127.0.0.1:{port}", "--workers", "2",
        ],
        cwd=CHECKOUT,
        env=os.environ
        | {"DATABASE_URL": database_url, "GEVAL_DATA_DIR": str(tmp_path), "GEVAL_MODE": "local"},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not _answers(f"{site}/healthz"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for _ in range(20):
            assert _answers(f"{site}/sign-in/")
        scrapes = [samples(_text(f"{site}/metrics")) for _ in range(4)]
        files = list((tmp_path / "metrics" / str(server.pid)).iterdir())
    finally:
        server.terminate()
        server.wait(30)

    route = (("method", "GET"), ("route", "/sign-in/"), ("status", "200"))
    assert [found["geval_requests_total", route] for found in scrapes] == [20] * 4
    assert files
    assert not (tmp_path / "metrics" / str(server.pid)).exists()


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=30).close()
    except OSError:
        return False
    return True


def _text(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


@pytest.mark.django_db(transaction=True)
def test_runs_that_wait_for_a_slot_and_slots_that_wait_for_a_run(
    small_project: Project, make_judge: Callable[..., Any]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    beat("here:1", Offer(("runs",), 3))
    beat("frozen:1", Offer(("runs",), 3), trouble="It has read no messages for 70 seconds.")
    run = start_run(judge, list(small_project.criteria.all()))
    EvaluationRun.objects.update(created_at=timezone.now() - timedelta(seconds=90))

    waiting = scrape()
    for _ in range(2):  # two slots share one run
        slot = WorkerSlot.objects.take("here:1")
        assert slot
        assert choose_run(slot) == run.pk
    served = scrape()

    assert waiting["geval_runs_waiting", ()] == 1
    assert 90 <= waiting["geval_run_waiting_seconds", ()] < 120
    assert waiting["geval_slots", (("state", "free"),)] == 3
    assert waiting["geval_workers_frozen", ()] == 1
    assert (served["geval_runs_waiting", ()], served["geval_run_waiting_seconds", ()]) == (0, 0)
    assert (waiting["geval_runs_served", ()], served["geval_runs_served", ()]) == (0, 1)
    assert served["geval_slots", (("state", "busy"),)] == 2
    assert served["geval_slots", (("state", "free"),)] == 1


@pytest.mark.django_db(transaction=True)
def test_a_run_in_work_that_has_no_result_any_more_is_seen(
    small_project: Project, make_judge: Callable[..., Any]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    assert scrape()["geval_run_silent_seconds", ()] == 0  # nobody serves it
    beat("here:1", Offer(("runs",), 1))
    slot = WorkerSlot.objects.take("here:1")
    assert slot
    assert choose_run(slot) == run.pk
    long_ago, ago = (timezone.now() - timedelta(minutes=n) for n in (50, 10))
    runs = EvaluationRun.objects.filter(pk=run.pk)
    runs.update(started_at=long_ago)
    assert 3000 <= scrape()["geval_run_silent_seconds", ()] < 3100

    # A slot takes or leaves a run every few minutes, whether it has results or not.
    runs.update(served_at=timezone.now(), result_at=ago)
    assert 600 <= scrape()["geval_run_silent_seconds", ()] < 700

    note_result(run.pk)

    assert scrape()["geval_run_silent_seconds", ()] < 60


@pytest.mark.django_db(transaction=True)
def test_runs_that_are_held_back_are_counted_by_reason(run: EvaluationRun) -> None:
    def held() -> list[float]:
        seen = scrape()
        return [
            seen["geval_runs_held_back", (("reason", reason),)]
            for reason in (
                "endpoint asked to wait",
                "paused until it passes",
                "paused until somebody resumes it",
            )
        ]

    soon = timezone.now() + timedelta(minutes=5)
    runs = EvaluationRun.objects.filter(pk=run.pk)
    runs.update(state="running", waits_until=soon)
    assert held() == [1, 0, 0]
    runs.update(state="paused", resumes_at=soon)
    assert held() == [0, 1, 0]
    runs.update(resumes_at=None)
    assert held() == [0, 0, 1]
