"""Every command of docs/improving.md works as it stands there, in its order."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evaluations.models import Candidate, Judge, LockedDocuments
from tests.conftest import CHECKOUT, wait_until
from tests.processes import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes, pytest.mark.slow]
TEXT = (CHECKOUT / "docs" / "improving.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)
STAND_IN = ".venv/bin/python manage.py standin_llm"


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_the_walk_works_as_written(tmp_path: Path, database_url: str) -> None:
    for entry in CHECKOUT.iterdir():
        if entry.name != ".venv":
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    env = {**os.environ, "DATABASE_URL": database_url}
    port = str(free_port())
    printed, stand_ins = "", []
    try:
        for block in BLOCKS:
            script = block.replace("8011", port)
            if block.startswith(STAND_IN):  # in another terminal
                stand_ins.append(subprocess.Popen(script.split(), cwd=tmp_path, env=env))
                wait_until(lambda: answers(int(port)))
                continue
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (script, done.stderr)
            printed += done.stdout + done.stderr
    finally:
        for one in stand_ins:
            one.kill()
            one.wait()

    assert len(stand_ins) == 1
    assert len(BLOCKS) == 5
    assert LockedDocuments.objects.get().looks.count() <= 1
    # Locked documents are drawn anew each time; on some draws nothing better is found.
    best = Candidate.objects.filter(look__isnull=False).first()
    if best is not None:
        assert best.training["gain"] > 0
        assert f"{best.look.outcome}: gain" in printed
    proven = best is not None and best.look.outcome == "proven"
    assert Judge.objects.filter(name="First", version=2).exists() == proven
    assert ("is used: First" in printed) == proven
