"""Commands that compute nothing load nothing heavy; Ctrl-C ends each without a traceback."""

import runpy
import subprocess
import sys

import pytest

from geval_site import command_line
from tests.conftest import CHECKOUT

HEAVY = {"numpy", "scipy", "openai", "plotly", "typst", "gepa", "celery"}


def test_the_version_is_said_without_heavy_packages() -> None:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "--version"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}

    assert "django" in loaded
    assert loaded & HEAVY == set()


def test_ctrl_c_ends_a_command_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "_run", interrupted)

    with pytest.raises(SystemExit) as ended:
        command_line.main()

    assert ended.value.code == 130


def test_workers_of_two_containers_have_two_names() -> None:
    names = {
        runpy.run_path(str(CHECKOUT / "geval_site/queues.py"))["worker_name"]() for _ in range(2)
    }

    assert len(names) == 2
