"""Fixtures of sites of their own, whose processes tests kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import StandInProcess
from tests.sites_of_their_own import temporary_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield folder


@pytest.fixture
def standin() -> Iterator[StandInProcess]:
    process = StandInProcess(["--latency", "0.15"])
    yield process
    process.stop()
