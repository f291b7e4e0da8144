"""A worker whose loop or threads do not answer says so, and ends itself after a while."""

import os
import signal
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.worker import state
from django.test import Client
from django.utils import timezone

from evaluations.management import heartbeat
from evaluations.management.heartbeat import (
    GIVEN_UP_SECONDS,
    LOST_AFTER,
    UNANSWERED_SECONDS,
    Offer,
    Pulse,
    beat,
    tell_service_manager,
)
from evaluations.models import WorkerHeartbeat, WorkerSlot
from geval_site.queues import worker_name
from tests.consumers import Consumer

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    """Seconds that grow when they are told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Worker:
    """A pulse with the consumer that it asks, a beat every five seconds."""

    def __init__(self) -> None:
        self.clock, self.consumer = Clock(), Consumer()
        self.pulse = Pulse(self.consumer, self.clock)

    def after(self, seconds: float) -> str:
        """What is wrong when it has beaten so long."""
        trouble = ""
        for _ in range(int(seconds // 5)):
            self.clock.now += 5
            trouble = self.pulse.trouble("here:1")
        return trouble


@pytest.fixture
def worker() -> Worker:
    return Worker()


def test_a_worker_that_answers_has_no_trouble(worker: Worker) -> None:
    assert worker.after(10 * UNANSWERED_SECONDS) == ""


def test_a_loop_that_reads_no_messages_is_seen_after_a_minute(worker: Worker) -> None:
    worker.after(5)
    worker.consumer.loop = False

    assert worker.after(UNANSWERED_SECONDS) == ""
    assert "read no messages for 65 seconds" in worker.after(5)
    assert len(worker.consumer.waiting) == 1


def test_free_threads_that_do_not_answer_are_seen_after_a_minute(worker: Worker) -> None:
    worker.after(5)
    worker.consumer.answers = False

    assert worker.after(UNANSWERED_SECONDS) == ""
    assert "have not answered for 65 seconds" in worker.after(5)


def test_threads_that_are_all_busy_need_not_answer(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.consumer.answers = False
    monkeypatch.setattr(state, "active_requests", {1, 2})
    assert worker.after(10 * UNANSWERED_SECONDS) == ""

    monkeypatch.setattr(state, "active_requests", {1})
    assert worker.after(5)


@pytest.mark.parametrize(("more", "lost"), [(timedelta(seconds=-5), False), (timedelta(0), True)])
def test_a_slot_at_work_without_a_sign_of_life_is_seen_after_ten_minutes(
    worker: Worker, more: timedelta, lost: bool
) -> None:
    beat("here:1", Offer(("runs",), 2))
    slot = WorkerSlot.objects.take("here:1")
    assert slot
    WorkerSlot.objects.filter(pk=slot.pk).update(seen_at=timezone.now() - LOST_AFTER - more)

    trouble = worker.after(5)

    assert bool(trouble) is lost
    assert ("1 of its threads" in trouble) is lost


def test_trouble_that_lasts_is_given_up_and_one_that_passes_is_not(worker: Worker) -> None:
    worker.after(5)
    worker.consumer.answers = False
    assert worker.after(UNANSWERED_SECONDS + GIVEN_UP_SECONDS)
    assert not worker.pulse.is_given_up

    worker.pulse._answer()
    assert worker.after(5) == ""
    assert not worker.pulse.is_troubled
    assert worker.after(UNANSWERED_SECONDS + GIVEN_UP_SECONDS)
    assert not worker.pulse.is_given_up
    worker.after(5)
    assert worker.pulse.is_given_up


def test_a_frozen_worker_counts_as_none_and_readyz_says_why() -> None:
    beat("here:1", trouble="Its threads have not answered for 65 seconds.")

    answer = Client().get("/readyz")

    assert not WorkerHeartbeat.objects.alive().exists()
    assert answer.status_code == 503
    assert "Its threads have not answered" in answer.json()["parts"]["worker"]["message"]


def test_a_worker_that_is_given_up_ends_itself(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[tuple[int, int]] = []

    def kill(pid: int, number: int) -> None:
        killed.append((pid, number))
        heartbeat.leaving.set()

    monkeypatch.setattr(os, "kill", kill)
    exits: list[int] = []
    monkeypatch.setattr(os, "_exit", exits.append)
    worker.consumer.answers = False
    worker.after(UNANSWERED_SECONDS + GIVEN_UP_SECONDS + 10)
    worker.clock.now += 5
    try:
        heartbeat._keep_beating(Offer(("runs",), 1), worker.pulse)
    finally:
        heartbeat.leaving.clear()

    assert killed == [(os.getpid(), signal.SIGKILL)]
    assert exits == [137]  # for the first process of a container
    assert WorkerHeartbeat.objects.get(name=worker_name()).trouble


@pytest.mark.parametrize("name", ["notify.sock", "@geval-test"])
def test_systemd_and_health_checks_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    address = f"{name}-{os.getpid()}" if name.startswith("@") else str(tmp_path / name)
    pulse_file = tmp_path / "pulse"
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("GEVAL_PULSE_FILE", str(pulse_file))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0", 1))
        manager.settimeout(10)

        tell_service_manager("WATCHDOG=1")

        assert manager.recv(100) == b"WATCHDOG=1"
    assert pulse_file.exists()


def test_pools_of_processes_are_refused() -> None:
    class Sender:
        pool_cls: Any = "prefork"

    with pytest.raises(SystemExit, match="leave out --pool"):
        heartbeat._refuse_processes(Sender())
    Sender.pool_cls = "threads"
    heartbeat._refuse_processes(Sender())
