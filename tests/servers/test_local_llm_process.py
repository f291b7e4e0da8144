"""`local_llm` as a process: ports in use, and its end."""

import signal

from tests.processes import ModelProcess, run_to_its_end


def test_ctrl_c_ends_it_cleanly(local_llm: ModelProcess) -> None:
    model = ModelProcess("manage.py", "local_llm", "--parallel", "1")

    model.process.send_signal(signal.SIGINT)

    assert model.process.wait(20) == 0
    assert "Ctrl-C to stop" in model.greeting
    assert model.stdout.read() == ""
    model.stdout.close()


def test_a_port_in_use_is_said(local_llm: ModelProcess) -> None:
    port = local_llm.base_url.removesuffix("/v1").rpartition(":")[2]

    done = run_to_its_end("manage.py", "local_llm", "--port", port, timeout=60)

    assert done.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
