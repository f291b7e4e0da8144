"""Fixtures of the tests that take long."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import StandInProcess
from tests.soak.events import Door


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


@pytest.fixture
def door(standin: StandInProcess) -> Iterator[Door]:
    door = Door(int(standin.base_url.rsplit(":", 1)[1].removesuffix("/v1")))
    yield door
    door.close()
