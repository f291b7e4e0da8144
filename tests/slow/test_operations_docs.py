"""Every command of docs/operations.md works as it stands there, in its order, on a site of its
own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

pytestmark = pytest.mark.processes
TEXT = (CHECKOUT / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)
# It would replace the checkout that is being tested.
ELSEWHERE = ("pip install --upgrade 'geval-site[site]'",)


def run(script: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    program = folder / "bin" / "geval-site"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {CHECKOUT}/manage.py "$@"\n')
    program.chmod(0o755)
    (folder / "backups").mkdir(exist_ok=True)
    # Folders of the machine are replaced by those of the test.
    for place, ours in (("/var/backups/geval", "backups"), ("/var/tmp/geval-trial", "trial")):
        script = script.replace(place, str(folder / ours))
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, capture_output=True, text=True, timeout=200, check=False,
        env={**kept, "GEVAL_DATA_DIR": str(folder / "data"),
             "PATH": f"{program.parent}:{os.environ['PATH']}"},
    )  # fmt: skip


def test_the_commands_work_as_written(folder: Path) -> None:
    outputs = CHECKOUT / "evaluations" / "demo_data" / "outputs.jsonl"
    assert run(f"geval-site load demo {outputs}", folder).returncode == 0
    done = []
    for block in BLOCKS:
        lines = block.splitlines(keepends=True)
        done.append(run("".join(line for line in lines if line.strip() not in ELSEWHERE), folder))

    assert [(one.args[-1], one.stderr) for one in done if one.returncode] == []
    said = "".join(one.stdout for one in done)
    assert "monday.backup: written" in said
    assert said.count("Restored.") == 2
    assert "would be removed" in said


def test_what_is_left_out_is_in_the_page() -> None:
    assert all(line in TEXT for line in ELSEWHERE)
