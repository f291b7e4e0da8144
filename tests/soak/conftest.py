"""Fixtures of the tests that take long."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import StandInProcess
from tests.sites_of_their_own import temporary_folder
from tests.soak.events import Door


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield folder


@pytest.fixture
def standin() -> Iterator[StandInProcess]:
    process = StandInProcess(["--latency", "2"])
    yield process
    process.stop()


@pytest.fixture
def door(standin: StandInProcess) -> Iterator[Door]:
    door = Door(int(standin.base_url.rsplit(":", 1)[1].removesuffix("/v1")))
    yield door
    door.close()
