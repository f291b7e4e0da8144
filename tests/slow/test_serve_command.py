"""`manage.py serve`: the site and a worker until Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from evaluations.models import WorkerHeartbeat
from tests.conftest import CHECKOUT, wait_until
from tests.processes import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def test_it_serves_with_a_worker_and_ends_both(database_url: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(free_port())],
        cwd=CHECKOUT, env={**os.environ, "DATABASE_URL": database_url}, stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address
        with urllib.request.urlopen(address.group(), timeout=30) as answer:
            assert answer.url.endswith("/sign-in/?next=/")
        wait_until(lambda: WorkerHeartbeat.objects.alive().exists())

        process.send_signal(signal.SIGINT)

        assert process.wait(40) == 0
        assert not WorkerHeartbeat.objects.exists()
    finally:
        process.kill()
        assert process.stdout
        process.stdout.close()
