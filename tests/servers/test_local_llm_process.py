"""`local_llm` as a process: ports in use, and its end."""

import signal
import time
from pathlib import Path

import pytest

from tests.processes import ModelProcess, run_to_its_end, start_python


def test_ctrl_c_ends_it_cleanly(local_llm: ModelProcess) -> None:
    model = ModelProcess("manage.py", "local_llm", "--parallel", "1")

    model.process.send_signal(signal.SIGINT)

    assert model.process.wait(20) == 0
    assert "Ctrl-C to stop" in model.greeting
    assert model.stdout.read() == ""
    model.stdout.close()


@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5])
def test_ctrl_c_ends_it_while_it_starts(
    local_llm: ModelProcess, tmp_path: Path, seconds: float
) -> None:
    with (tmp_path / "log").open("w+") as log:
        process = start_python("manage.py", "local_llm", "--port", "0", stdout=log, stderr=log)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)

        assert process.wait(60) in (0, 130)
        log.seek(0)
        assert "Traceback" not in log.read()


def test_a_port_in_use_is_said(local_llm: ModelProcess) -> None:
    port = local_llm.base_url.removesuffix("/v1").rpartition(":")[2]

    done = run_to_its_end("manage.py", "local_llm", "--port", port, timeout=60)

    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
