"""`kill -9` of a worker, of all workers, of PostgreSQL and of the broker, each in the middle of a
run, several times; and of workers of four slots in random order, with each broker.

On a site of its own (an embedded PostgreSQL in a temporary folder), because its database server is
killed. The run must end with every item scored exactly once, and calls repeated only for what was
in flight.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.brokers import broker, has_broker
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess, free_port
from tests.sites_of_their_own import Site, expire_leases, kill

pytestmark = pytest.mark.processes
ITEMS = 240
IN_FLIGHT = 8
ROUNDS = 3


def begin(site: Site, standin: StandInProcess) -> int:
    """A project of many outputs, and a run of them that has been started; returns the calls that
    were made before."""
    outputs = site.folder / "outputs.jsonl"
    rows = (
        {
            "doc_id": f"d{n}",
            "system_id": "s",
            "source": f"The ferry {n} sails at noon.",
            "output": f"Ferry {n} sails.",
        }
        for n in range(ITEMS)
    )
    outputs.write_text("\n".join(json.dumps(row) for row in rows))
    site.manage("load", "p", str(outputs))
    site.manage(
        "add_judge", "p", "j", "--base-url", standin.base_url, "--model", "offline-stand-in",
        "--mode", "logprobs",
        "--no-steps", "--concurrency", str(IN_FLIGHT),
    )  # fmt: skip
    before: int = standin.stats["calls"]
    site.shell(
        "from evaluations.models import *;"
        " from evaluations.judging.runs.starting import start_run; p ="
        " Project.objects.get(); c = p.criteria.create(name='fluency'); start_run(p.judges.get(),"
        " [c])"
    )
    return before


def check(site: Site, standin: StandInProcess, calls_before: int, *, kills: int) -> None:
    """Every item has one score, and calls were repeated for at most what was in flight at each
    kill."""
    states = site.query("SELECT state, count(*) FROM evaluations_runitem GROUP BY 1")
    scores = site.query("SELECT count(*), count(DISTINCT output_id) FROM evaluations_score")[0]
    repeated = standin.stats["calls"] - calls_before - ITEMS
    # What came back within the last quarter of a second was not written yet, either.
    unwritten = 3 * IN_FLIGHT
    assert states == [("done", ITEMS)]
    assert scores == (ITEMS, ITEMS)
    assert 0 <= repeated <= kills * unwritten


@pytest.mark.parametrize("victim", ["one worker", "all workers", "PostgreSQL and the queue in it"])
def test_a_run_survives(folder: Path, standin: StandInProcess, victim: str) -> None:
    site = Site(folder)
    keeper = subprocess.Popen(  # a process that keeps the server up while there is no worker
        [sys.executable, "manage.py", "shell", "--no-imports", "-v", "0", "-c",
         "from django.db import connection as c; c.ensure_connection();"
         " print('up', flush=True); input()"],
        cwd=CHECKOUT, env=site.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert keeper.stdout
        keeper.stdout.readline()
        before = begin(site, standin)
        workers = [site.start_worker(), site.start_worker()]
        for number in range(1, ROUNDS + 1):
            site.wait_for(lambda number=number: site.scored() >= number * ITEMS // (ROUNDS + 2))  # type: ignore[misc]
            if victim == "PostgreSQL and the queue in it":
                site.kill_server()
            else:
                killed = workers if victim == "all workers" else workers[:1]
                for worker in killed:
                    kill(worker)
                expire_leases(site, *killed)
                workers = [worker for worker in workers if worker.poll() is None]
                workers += [site.start_worker() for _ in range(2 - len(workers))]
        site.wait_for(site.is_done)
        check(site, standin, before, kills=2 * ROUNDS)
    finally:
        site.stop()
        keeper.terminate()
        keeper.wait(20)
        keeper.stdin.close() if keeper.stdin else None
        keeper.stdout.close() if keeper.stdout else None


@pytest.mark.skipif(not shutil.which("redis-server"), reason="no Redis server is installed to kill")
def test_a_run_survives_its_broker(folder: Path, standin: StandInProcess) -> None:
    port = free_port()
    site = Site(folder, CELERY_BROKER_URL=f"redis://127.0.0.1:{port}/0")

    def start_redis() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)],
            stdout=subprocess.DEVNULL,
        )

    redis = start_redis()
    try:
        worker = site.start_worker()
        site.wait_for((folder / "postgres" / "postmaster.pid").exists)
        before = begin(site, standin)
        for number in range(1, ROUNDS + 1):
            site.wait_for(lambda number=number: site.scored() >= number * ITEMS // (ROUNDS + 2))  # type: ignore[misc]
            redis.kill()  # every message in it is lost
            redis.wait(20)
            kill(worker)
            redis = start_redis()
            expire_leases(site, worker)
            worker = site.start_worker()
        site.wait_for(site.is_done)
        check(site, standin, before, kills=ROUNDS)
    finally:
        site.stop()
        redis.kill()
        redis.wait(20)


@pytest.mark.parametrize("kind", ["PostgreSQL", "Redis", "RabbitMQ"])
def test_workers_of_four_slots_are_killed_in_random_order_and_runs_end(
    folder: Path, standin: StandInProcess, kind: str
) -> None:
    if not has_broker(kind):
        pytest.skip(f"no {kind} is installed")
    draw = random.Random(39)
    with broker(kind, folder) as address:
        site = Site(folder, CELERY_BROKER_URL=address)
        try:
            workers = [site.start_worker(threads=4) for _ in range(2)]
            site.wait_for((folder / "postgres" / "postmaster.pid").exists)
            before = begin(site, standin)
            for number in range(1, ROUNDS + 1):
                site.wait_for(lambda number=number: site.scored() >= number * ITEMS // (ROUNDS + 2))  # type: ignore[misc]
                killed = workers.pop(draw.randrange(len(workers)))
                kill(killed)
                expire_leases(site, killed)
                workers.append(site.start_worker(threads=4))
            site.wait_for(site.is_done)
            check(site, standin, before, kills=ROUNDS)
            for worker in workers:
                worker.terminate()
            for worker in workers:
                assert worker.wait(60) is not None  # one signal is enough
        finally:
            site.stop()
