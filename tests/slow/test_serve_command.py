"""`manage.py serve`: the site and a worker until Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from evaluations.models import WorkerHeartbeat
from geval_site.queues import RUNS
from tests.conftest import CHECKOUT, wait_until
from tests.processes import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def serving(database_url: str) -> Iterator[subprocess.Popen[str]]:
    """`manage.py serve`, in a session of its own."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(free_port())],
        cwd=CHECKOUT, env={**os.environ, "DATABASE_URL": database_url}, stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.wait(20)
    assert process.stdout
    process.stdout.close()


def test_it_serves_with_workers_and_ends_all(serving: subprocess.Popen[str]) -> None:
    assert serving.stdout
    lines = iter(serving.stdout.readline, "")
    address = next(filter(None, (re.search(r"http://\S+", line) for line in lines)))
    with urllib.request.urlopen(address.group(), timeout=30) as answer:
        assert answer.url.endswith("/sign-in/?next=/")
    wait_until(lambda: WorkerHeartbeat.objects.alive().exists())

    serving.send_signal(signal.SIGINT)

    assert serving.wait(40) == 0
    assert not WorkerHeartbeat.objects.exists()


def test_a_worker_that_is_killed_is_started_again(serving: subprocess.Popen[str]) -> None:
    wait_until(lambda: WorkerHeartbeat.objects.doing(RUNS).exists(), seconds=60)
    killed = WorkerHeartbeat.objects.doing(RUNS).get()

    os.kill(int(killed.name.rsplit(":", 2)[1]), signal.SIGKILL)

    others = WorkerHeartbeat.objects.doing(RUNS).exclude(pk=killed.pk)
    wait_until(others.exists, seconds=60)
    assert serving.poll() is None
