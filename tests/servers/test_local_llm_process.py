"""`local_llm` as a process: wrong files, ports in use, and its end."""

import signal
from pathlib import Path

from tests.processes import ModelProcess, run_to_its_end


def test_ctrl_c_ends_it_cleanly(local_llm: ModelProcess) -> None:
    model = ModelProcess(
        "manage.py", "local_llm", "--threads", "1", "--context", "256", "--parallel", "1"
    )

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


def test_a_file_that_is_no_model_is_said(local_llm: ModelProcess, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_text("no model")

    missing = run_to_its_end("manage.py", "local_llm", "--model", "/no/model.gguf", timeout=60)
    broken = run_to_its_end(
        "manage.py", "local_llm", "--model", str(tmp_path / "broken.gguf"), timeout=60
    )

    assert missing.returncode == broken.returncode == 1
    assert "There is no file /no/model.gguf" in missing.stderr
    assert "Is it a complete GGUF file" in broken.stderr
    assert "Traceback" not in broken.stderr
