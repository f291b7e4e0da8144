"""A run on two workers that something happens to every twenty seconds, for an hour: nobody touches
it, and it ends with every item scored once.

`make test-soak` (MINUTES=5 for less). What a supervisor does is done here: a worker that has ended
is started again.
"""

import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes import StandInProcess
from tests.sites_of_their_own import Site

MINUTES = float(os.environ.get("MINUTES", "60"))
EVERY_SECONDS = 20.0
# Outages that last let a run wait for as long again.
LASTING_SECONDS = 12.0
ITEMS = int(60 * MINUTES)
IN_FLIGHT = 8
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Door:
    """In front of an endpoint: passes connections on, or refuses, cuts or overloads them."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self.state = "open"
        self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if self.state == "cut":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if self.state == "overloaded":
                client.recv(65536)
                client.sendall(REFUSAL)
                return
            with socket.create_connection(("127.0.0.1", self._behind)) as server:
                back = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
                back.start()
                self._pass_on(client, server)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        state = self.state
        with suppress(OSError):
            while (data := source.recv(65536)) and self.state == state:
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="gvs-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def standin() -> Iterator[StandInProcess]:
    process = StandInProcess(["--latency", "2"])
    yield process
    process.stop()


class Supervised:
    """Two workers that are started again when they have ended."""

    def __init__(self, site: Site, draw: random.Random) -> None:
        self._site, self._draw = site, draw
        self.workers = [site.start_worker(threads=4) for _ in range(2)]

    def tend(self) -> None:
        for at, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.workers[at] = self._site.start_worker(threads=4)

    @property
    def _one(self) -> subprocess.Popen[str]:
        return self._draw.choice(self.workers)

    def kill(self) -> None:
        os.killpg(self._one.pid, signal.SIGKILL)

    def ask_to_stop(self) -> None:
        self._one.terminate()

    def stop_for_a_while(self) -> None:
        worker = self._one
        worker.send_signal(signal.SIGSTOP)
        time.sleep(LASTING_SECONDS)
        worker.send_signal(signal.SIGCONT)


def begin(site: Site, port: int) -> None:
    """A project and a run of a judge that asks at a port."""
    rows = (
        {"doc_id": f"d{n}", "system_id": "s", "source": f"The ferry {n} sails at noon.",
         "output": f"Ferry {n} sails."}
        for n in range(ITEMS)
    )  # fmt: skip
    outputs = site.folder / "outputs.jsonl"
    outputs.write_text("\n".join(json.dumps(row) for row in rows))
    site.manage("load", "p", str(outputs))
    site.manage(
        "add_judge", "p", "j", "--base-url", f"http://127.0.0.1:{port}/v1",
        "--model", "offline-stand-in", "--mode", "logprobs", "--no-steps",
        "--concurrency", str(IN_FLIGHT),
    )  # fmt: skip
    site.shell(
        "from evaluations.models import *; from evaluations.runs.lifecycle import start_run; p ="
        " Project.objects.get(); c = p.criteria.create(name='fluency'); start_run(p.judges.get(),"
        " [c])"
    )


def fill_disk_for_a_while(site: Site) -> None:
    """As PostgreSQL says it when a file cannot grow."""
    site.query(
        """CREATE OR REPLACE FUNCTION refuse_for_lack_of_space() RETURNS trigger LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$;
           CREATE TRIGGER disk_is_full BEFORE INSERT ON evaluations_score
           EXECUTE FUNCTION refuse_for_lack_of_space(); SELECT 1"""
    )
    time.sleep(LASTING_SECONDS)
    site.query("DROP FUNCTION refuse_for_lack_of_space() CASCADE; SELECT 1")


def put_door_for_a_while(door: Door, state: str) -> None:
    door.state = state
    time.sleep(LASTING_SECONDS)
    door.state = "open"


def test_a_run_ends_by_itself_whatever_happens_every_twenty_seconds(
    folder: Path, standin: StandInProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = int(os.environ.get("SEED", "39"))
    draw = random.Random(seed)
    site = Site(folder)
    door = Door(int(standin.base_url.rsplit(":", 1)[1].removesuffix("/v1")))
    happened: Counter[str] = Counter()
    try:
        supervised = Supervised(site, draw)
        site.wait_for((folder / "postgres" / "postmaster.pid").exists)
        begin(site, door.port)
        before = standin.stats["calls"]
        events: dict[str, Callable[[], None]] = {
            "worker killed": supervised.kill,
            "worker asked to stop": supervised.ask_to_stop,
            "worker stopped for a while": supervised.stop_for_a_while,
            "connections cut": lambda: put_door_for_a_while(door, "cut"),
            "endpoint overloaded": lambda: put_door_for_a_while(door, "overloaded"),
            "PostgreSQL killed": site.kill_server,
            "disk full": lambda: fill_disk_for_a_while(site),
        }
        ends = time.monotonic() + 60 * MINUTES
        while time.monotonic() < ends and not site.is_done():
            begun = time.monotonic()
            name = draw.choice(list(events))
            events[name]()
            happened[name] += 1
            while time.monotonic() < begun + EVERY_SECONDS:
                supervised.tend()
                time.sleep(0.5)
        supervised.tend()
        site.wait_for(site.is_done, seconds=60 * 45)
        states = site.query("SELECT state, count(*) FROM evaluations_runitem GROUP BY 1")
        scores = site.query("SELECT count(*), count(DISTINCT output_id) FROM evaluations_score")[0]
        repeated = standin.stats["calls"] - before - ITEMS
        with capsys.disabled():
            listed = ", ".join(f"{name} {count}" for name, count in sorted(happened.items()))
            sys.stdout.write(
                f"\n{ITEMS:,} items, {happened.total()} events in {MINUTES:g} minutes (seed {seed}:"
                f" {listed}): lost {ITEMS - scores[1]}, doubled {scores[0] - scores[1]}, calls"
                f" repeated {repeated}\n"
            )
    finally:
        site.stop()
        door.close()

    assert states == [("done", ITEMS)]
    assert scores == (ITEMS, ITEMS)
    # What was in flight or not yet written at each event is asked once more.
    assert 0 <= repeated <= 3 * IN_FLIGHT * happened.total()
