"""An endpoint, a broker, a database or a disk that is away for minutes, and for longer than workers
are patient: nobody touches the run, and it ends with every item scored once."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.brokers import has_broker
from tests.processes import StandInProcess, free_port
from tests.sites_of_their_own import Site
from tests.soak.events import IN_FLIGHT, Door, begin, fill_disk_for_a_while

SECONDS = 60 * float(os.environ.get("OUTAGE_MINUTES", "3"))
ITEMS = 240
# A run that was paused tries again after as long as the outage has lasted, and half a minute more.
MOST_SECONDS = 2 * SECONDS + 240


def start_redis(port: int, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def at_work(folder: Path, door: Door, **environment: str) -> Iterator[Site]:
    """A site with two workers and a run, some items of which are scored."""
    site = Site(folder, **environment)
    try:
        for _ in range(2):
            site.start_worker(threads=2)
        site.wait_for((folder / "postgres" / "postmaster.pid").exists)
        begin(site, door.port, items=ITEMS)
        site.wait_for(lambda: site.scored() >= ITEMS // 10)
        yield site
        site.wait_for(site.is_done, seconds=MOST_SECONDS)
        assert site.query("SELECT state, count(*) FROM evaluations_runitem GROUP BY 1") == [
            ("done", ITEMS)
        ]
        assert site.scored() == ITEMS
    finally:
        site.stop()


@pytest.mark.parametrize("state", ["cut", "overloaded"])
def test_an_endpoint(folder: Path, standin: StandInProcess, door: Door, state: str) -> None:
    with at_work(folder, door) as site:
        door.state = state
        time.sleep(SECONDS)
        assert not site.is_done()
        calls = standin.stats["calls"]
        door.state = "open"
    assert standin.stats["calls"] <= ITEMS + 3 * IN_FLIGHT
    assert calls < ITEMS


def test_a_disk(folder: Path, standin: StandInProcess, door: Door) -> None:
    with at_work(folder, door) as site:
        fill_disk_for_a_while(site, SECONDS)
    # Workers hold what they have for two minutes; only then it is asked again. Each of four slots
    # claims at most twenty items ahead.
    assert standin.stats["calls"] <= ITEMS + 4 * 20


def test_a_database(folder: Path, standin: StandInProcess, door: Door) -> None:
    with at_work(folder, door) as site:
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            site.kill_server()
            time.sleep(5)
            site.query("SELECT 1")


@pytest.mark.skipif(not has_broker("Redis"), reason="no Redis is installed")
def test_a_broker(folder: Path, standin: StandInProcess, door: Door, tmp_path: Path) -> None:
    port = free_port()
    redis = start_redis(port, tmp_path)
    try:
        with at_work(folder, door, CELERY_BROKER_URL=f"redis://127.0.0.1:{port}/0"):
            redis.kill()
            redis.wait(20)
            time.sleep(SECONDS)
            redis = start_redis(port, tmp_path)
    finally:
        redis.kill()
        redis.wait(20)


def test_an_endpoint_that_has_not_answered_yet_is_waited_for_by_nobody(
    folder: Path, standin: StandInProcess, door: Door
) -> None:
    site = Site(folder)

    def close_door() -> None:
        door.state = "cut"

    try:
        site.start_worker(threads=2)
        site.wait_for((folder / "postgres" / "postmaster.pid").exists)
        begin(site, door.port, items=ITEMS, before_run=close_door)

        def is_paused() -> bool:
            state, resumes_at = site.query(
                "SELECT state, resumes_at FROM evaluations_evaluationrun"
            )[0]
            return bool(state == "paused" and resumes_at is None)

        site.wait_for(is_paused)
        assert site.scored() == 0
    finally:
        site.stop()
