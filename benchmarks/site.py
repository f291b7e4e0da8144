"""A site of its own for a benchmark: an embedded PostgreSQL in a temporary folder, workers and
stand-ins."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CHECKOUT = Path(__file__).resolve().parents[1]
BENCHMARK_DATA = CHECKOUT.parent / "shared" / "benchmarks"
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def temporary_site() -> Iterator[Path]:
    """Set Django up on an empty site of its own; everything is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="geval-bench-"))
    folder.chmod(0o755)
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(name, None)
    os.environ |= {
        "GEVAL_MODE": "local",
        "GEVAL_DATA_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "geval_site.settings",
        "CELERY_BROKER_URL": os.environ.get("BROKER", ""),
    }
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    from geval_site.embedded.server import embedded_server

    try:
        call_command("migrate", verbosity=0)
        yield folder
    finally:
        connections.close_all()
        embedded_server(settings.DATA_DIR).release()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def web_site() -> Iterator[int]:
    """The web server as `manage.py serve` starts it; its port, once it has answered."""
    from evaluations.management.commands.serve import open_site
    from geval_site.processes import Processes

    with Processes() as processes:
        address = open_site(processes, port=8177)
        urllib.request.urlopen(f"{address}sign-in/", timeout=120).close()
        port = urlsplit(address).port
        assert port
        yield port


class StandIn:
    """The stand-in LLM as a process."""

    def __init__(self, *switches: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.standin", *switches],
            cwd=CHECKOUT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        self.base_url = next(
            word for word in self.process.stdout.readline().split() if word.startswith("http://")
        )

    @property
    def calls(self) -> int:
        return int(self._stats["calls"])

    @property
    def by_status(self) -> dict[str, int]:
        """How many answers had which HTTP status."""
        return dict(self._stats["by_status"])

    @property
    def _stats(self) -> dict[str, Any]:
        address = self.base_url.removesuffix("/v1") + "/stats"
        with urllib.request.urlopen(address, timeout=30) as answer:
            return dict(json.load(answer))

    def __enter__(self) -> "StandIn":
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.terminate()
        self.process.wait(30)


class Worker:
    """A Celery worker as a process, with its CPU time and memory.

    Args:
        concurrency: how many jobs it does at once.
    """

    def __init__(self, *switches: str, concurrency: int = 1) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable, "-W", "ignore", "-m", "celery", "-A", "geval_site", "--quiet",
                "worker", "--concurrency", str(concurrency),
                "--loglevel", "ERROR", "--without-mingle", "--without-gossip",
                "--hostname", f"bench{time.monotonic_ns()}@%h", *switches,
            ],
            cwd=CHECKOUT, stdout=subprocess.DEVNULL, env={**os.environ, "C_FORCE_ROOT": "1"},
        )  # fmt: skip

    @property
    def pids(self) -> list[int]:
        """The worker and its children."""
        found = [self.process.pid]
        for pid in found:
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                found.extend(int(child) for child in path.read_text().split())
        return found

    @property
    def cpu_seconds(self) -> float:
        """User and system time of the worker and its children so far."""
        total = 0
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / _TICKS

    @property
    def peak_megabytes(self) -> float:
        """The most memory any of its processes ever held."""
        peaks = []
        for pid in self.pids:
            status = Path(f"/proc/{pid}/status").read_text()
            peaks.append(
                int(
                    next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[
                        1
                    ]
                )
                / 1024
            )
        return max(peaks)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def wait_for_workers(count: int) -> None:
    """Wait until so many workers show their heartbeat."""
    from evaluations.models import WorkerHeartbeat

    while WorkerHeartbeat.objects.alive().count() < count:
        time.sleep(0.1)
