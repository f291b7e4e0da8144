"""Output may be piped into a program that reads only its beginning, such as `head`."""

import subprocess
import sys

from tests.conftest import CHECKOUT


def test_a_command_whose_reader_stops_ends_without_a_traceback() -> None:
    command = [sys.executable, "manage.py", "evaluators"]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        errors = process.stderr.read()

    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    assert process.returncode == 141
