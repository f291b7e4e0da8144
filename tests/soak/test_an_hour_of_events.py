"""A run on two workers that something happens to every twenty seconds, for an hour: nobody touches
it, and it ends with every item scored once.

`make test-soak` (MINUTES=5 for less). What a supervisor does is done here: a worker that has ended
is started again.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import StandInProcess
from tests.sites_of_their_own import Site
from tests.soak.events import IN_FLIGHT, Door, begin, fill_disk_for_a_while

MINUTES = float(os.environ.get("MINUTES", "60"))
EVERY_SECONDS = 20.0
# Outages that last let a run wait for as long again.
LASTING_SECONDS = 12.0
# What two workers did in a minute beside all these events.
ITEMS = int(140 * MINUTES)


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


def put_door_for_a_while(door: Door, state: str) -> None:
    door.state = state
    time.sleep(LASTING_SECONDS)
    door.state = "open"


def test_a_run_ends_by_itself_whatever_happens_every_twenty_seconds(
    folder: Path, standin: StandInProcess, door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = int(os.environ.get("SEED", "39"))
    draw = random.Random(seed)
    site = Site(folder)
    happened: Counter[str] = Counter()
    try:
        supervised = Supervised(site, draw)
        site.wait_for((folder / "postgres" / "postmaster.pid").exists)
        begin(site, door.port, items=ITEMS)
        before = standin.stats["calls"]
        events: dict[str, Callable[[], None]] = {
            "worker killed": supervised.kill,
            "worker asked to stop": supervised.ask_to_stop,
            "worker stopped for a while": supervised.stop_for_a_while,
            "connections cut": lambda: put_door_for_a_while(door, "cut"),
            "endpoint overloaded": lambda: put_door_for_a_while(door, "overloaded"),
            "PostgreSQL killed": site.kill_server,
            "disk full": lambda: fill_disk_for_a_while(site, LASTING_SECONDS),
        }
        began = time.monotonic()
        ends = began + 60 * MINUTES
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
        minutes = (time.monotonic() - began) / 60
        states = site.query("SELECT state, count(*) FROM evaluations_runitem GROUP BY 1")
        scores = site.query("SELECT count(*), count(DISTINCT output_id) FROM evaluations_score")[0]
        repeated = standin.stats["calls"] - before - ITEMS
        with capsys.disabled():
            listed = ", ".join(f"{name} {count}" for name, count in sorted(happened.items()))
            sys.stdout.write(
                f"\n{ITEMS:,} items, {happened.total()} events in {minutes:.0f} minutes (seed"
                f" {seed}: {listed}): lost {ITEMS - scores[1]}, doubled {scores[0] - scores[1]},"
                f" calls repeated {repeated}\n"
            )
    finally:
        site.stop()

    assert states == [("done", ITEMS)]
    assert scores == (ITEMS, ITEMS)
    # What was in flight or not yet written at each event is asked once more.
    assert 0 <= repeated <= 3 * IN_FLIGHT * happened.total()
