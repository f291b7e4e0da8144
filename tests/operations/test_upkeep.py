"""The periodic jobs of workers: each is tried by itself, and monitoring sees which fail."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from evaluations.management import heartbeat, upkeep
from evaluations.management.heartbeat import Offer, Pulse, beat
from evaluations.management.upkeep import JOBS, Job, Lane, do_if_due
from evaluations.models import UpkeepJob, WorkerHeartbeat
from evaluations.models.row_by_row import RowsFailedError, for_each
from evaluations.models.upkeep import GRACE
from evaluations.operations import doctor
from evaluations.operations.doctor import Severity
from tests.conftest import wait_until
from tests.consumers import Consumer
from tests.logs.conftest import Lines

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = [job.name for job in JOBS]


TEXT = "a text of somebody"


def fail() -> None:
    raise KeyError(TEXT)


def a_job(act: Callable[[], None], name: str = "runs") -> Job:
    return replace(next(job for job in JOBS if job.name == name), act=act)


@pytest.fixture
def run_lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Run all lanes of a worker with these jobs, until the test ends."""
    leaving, threads = threading.Event(), []

    def run(jobs: list[Job]) -> None:
        monkeypatch.setattr(upkeep, "JOBS", jobs)
        monkeypatch.setattr(upkeep, "LOOK_SECONDS", 0.01)
        threads.extend(upkeep.start_lanes(leaving))

    yield run
    leaving.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


@pytest.mark.parametrize("failing", NAMES)
def test_each_job_may_fail_and_all_others_are_done(
    failing: str, run_lanes: Callable[..., None], lines: Lines
) -> None:
    did: set[str] = set()
    run_lanes([
        replace(job, act=fail if job.name == failing else lambda name=job.name: did.add(name))
        for job in JOBS
    ])  # fmt: skip

    wait_until(lambda: UpkeepJob.objects.exclude(ended_at=None).count() == len(JOBS))

    assert did == set(NAMES) - {failing}
    assert UpkeepJob.objects.troubles() == [f"{failing} failed (KeyError)"]
    line = lines.only("upkeep failed")
    assert line["job"] == failing
    assert "in fail" in line["exception"]
    assert TEXT not in lines.text


def test_a_job_that_hangs_keeps_no_worker_from_saying_that_it_lives(
    run_lanes: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    end = threading.Event()
    run_lanes([replace(job, act=lambda: end.wait(60) and None) for job in JOBS])
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    heart = threading.Thread(
        target=heartbeat._keep_beating,
        args=[Offer(("runs",)), Pulse(Consumer())],
        daemon=True,
    )
    try:
        heart.start()
        wait_until(lambda: UpkeepJob.objects.exclude(begun_at=None).count() == len(Lane))
        begun = timezone.now()

        wait_until(lambda: WorkerHeartbeat.objects.filter(seen_at__gt=begun).exists())
    finally:
        heartbeat.leaving.set()
        end.set()
        heart.join(20)
        heartbeat.leaving.clear()


def test_a_turn_is_one_workers() -> None:
    did: list[int] = []
    job = a_job(lambda: did.append(1))

    assert do_if_due(job)
    assert not do_if_due(job)
    assert len(did) == 1
    UpkeepJob.objects.update(due_at=timezone.now())
    assert do_if_due(job)


def test_a_worker_of_one_project_does_its_own_jobs_and_takes_no_turn(settings: Any) -> None:
    settings.ONLY_PROJECT = "small"
    did: list[int] = []
    job = a_job(lambda: did.append(1))

    assert do_if_due(job)
    assert do_if_due(job)

    assert len(did) == 2
    assert not UpkeepJob.objects.exists()


def test_a_job_that_succeeds_again_is_well_again() -> None:
    do_if_due(a_job(fail))
    assert UpkeepJob.objects.troubles() == ["runs failed (KeyError)"]
    UpkeepJob.objects.update(due_at=timezone.now())

    do_if_due(a_job(lambda: None))

    assert UpkeepJob.objects.troubles() == []


def later(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    now = timezone.now() + by
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_a_job_that_nobody_begins_is_overdue(monkeypatch: pytest.MonkeyPatch) -> None:
    do_if_due(a_job(lambda: None, "retention"))
    late = UpkeepJob.objects.get().due_at + GRACE

    later(monkeypatch, late - timezone.now() - timedelta(seconds=1))
    assert UpkeepJob.objects.troubles() == []
    later(monkeypatch, timedelta(seconds=2))
    assert UpkeepJob.objects.troubles() == ["retention: overdue"]


def test_a_job_that_hangs_is_overdue_however_often_it_is_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = timedelta(hours=1)
    assert UpkeepJob.objects.claim("retention", every)
    later(monkeypatch, every)
    assert UpkeepJob.objects.claim("retention", every)
    assert UpkeepJob.objects.troubles() == []

    later(monkeypatch, GRACE + timedelta(seconds=1))

    assert UpkeepJob.objects.troubles() == ["retention: overdue"]


def test_who_watches_the_site_sees_what_fails() -> None:
    beat("here:1")
    do_if_due(a_job(fail))
    do_if_due(a_job(lambda: None, "uploads"))

    part = Client().get("/readyz").json()["parts"]["upkeep"]
    scraped = Client().get("/metrics").content.decode()
    advice = next(found for found in doctor.examine() if found.subject == "upkeep")

    assert not part["ok"]
    assert "runs failed (KeyError)" in part["message"]
    assert 'geval_upkeep_trouble{job="runs"} 1.0' in scraped
    assert 'geval_upkeep_trouble{job="uploads"} 0.0' in scraped
    assert 'geval_upkeep_seconds{job="uploads"}' in scraped
    assert advice.severity == Severity.ERROR
    assert "log" in advice.advice


def test_an_odd_row_keeps_no_other_waiting(lines: Lines) -> None:
    did: list[int] = []

    def act(row: int) -> None:
        if row == 2:
            raise ValueError("odd")
        did.append(row)

    with pytest.raises(RowsFailedError, match="1 of 3: ValueError"):
        for_each([1, 2, 3], act, job="numbers")

    assert did == [1, 3]
    assert lines.only("upkeep failed for a row")["row"] == 2
