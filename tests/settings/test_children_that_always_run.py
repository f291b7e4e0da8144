"""Child processes that should always run are started again; those that cannot run are not."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from geval_site import processes
from geval_site.processes import MOST_STARTS, Processes
from tests.conftest import wait_until

ENDS = [sys.executable, "-c", "raise SystemExit(3)"]
STAYS = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def children() -> Iterator[Processes]:
    with Processes() as started:
        yield started


def ended(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    process.wait(20)
    return process


def test_one_that_was_killed_is_started_again(
    children: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "SOON_SECONDS", 0)
    first = children.start(STAYS, again=True)
    for _ in range(2 * MOST_STARTS):
        child = children._children[0]
        child.process.kill()
        ended(child.process)
        assert children.tend() is None
        assert child.process.poll() is None

    assert children._children[0].process.pid != first.pid


def test_one_that_ends_at_once_is_given_up_after_three_starts(children: Processes) -> None:
    children.start(ENDS, again=True)
    for _ in range(MOST_STARTS - 1):
        ended(children._children[0].process)
        assert children.tend() is None
    ended(children._children[0].process)

    lost = children.tend()

    assert lost
    assert lost.returncode == 3


def test_another_that_ends_is_told_at_once(children: Processes) -> None:
    only_once = ended(children.start(ENDS))

    assert children.tend() is only_once


def test_all_are_ended_also_those_that_were_started_again() -> None:
    with Processes() as children:
        first = children.start(STAYS, again=True)
        first.kill()
        ended(first)
        wait_until(lambda: children.tend() is None)
        second = children._children[0].process
        assert second.poll() is None

    assert second.poll() is not None
