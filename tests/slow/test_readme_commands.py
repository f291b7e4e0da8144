"""Every command of the README works as it stands there, in its order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
README = (CHECKOUT / "README.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S)
# tests/package installs a wheel into a new environment.
INSTALL = "python3 -m venv try && try/bin/pip install --quiet .\n"
# Run by tests of their own: the demo goes on until Ctrl-C, and `make test` runs this very test.
ELSEWHERE = ("make demo", "make test", "OPENAI_API_KEY=sk-… GEVAL_MODEL=gpt-4o-mini make demo")


@pytest.fixture
def shell(tmp_path: Path, database_url: str) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run lines in a folder that looks like the checkout but takes the README's files."""
    for entry in CHECKOUT.iterdir():
        if entry.name != ".venv":
            (tmp_path / entry.name).symlink_to(entry)
    for name in (".venv", "try"):
        (tmp_path / name).symlink_to(sys.prefix)

    def run(script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path, env={**os.environ, "DATABASE_URL": database_url, **env},
            capture_output=True, text=True,
            timeout=400, check=False,
        )  # fmt: skip

    return run


def test_the_first_answer_is_what_the_readme_shows(
    shell: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    (block,) = (block for block in BLOCKS if INSTALL in block)

    done = shell(block.replace(INSTALL, ""))

    assert done.returncode == 0, done.stderr
    assert "Use with spot checks" in done.stdout
    (shown,) = re.findall(r"^```text\n(.*?)^```", README, re.M | re.S)
    assert shown in done.stdout


def test_make_demo_prints_the_table_and_ends(
    shell: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = shell("make -o .venv/.installed demo SERVE=0")

    assert done.returncode == 0, done.stderr
    assert "G-Eval stand-in" in done.stdout
    assert done.stderr == ""


def test_with_a_key_the_demo_asks_that_endpoint(
    shell: Callable[..., subprocess.CompletedProcess[str]],
    start_standin: Callable[..., StandInProcess],
) -> None:
    server = start_standin("--api-key", "sk-demo")

    done = shell(
        "make -o .venv/.installed demo SERVE=0",
        OPENAI_API_KEY="sk-demo",
        OPENAI_BASE_URL=server.base_url,
        GEVAL_MODEL="some-model",
    )

    assert done.returncode == 0, done.stderr
    assert f"Judging with some-model at {server.base_url}." in done.stdout
    assert "G-Eval some-model" in done.stdout
    assert server.stats["by_status"].get("401", 0) == 0


def test_every_block_is_either_run_here_or_by_a_test_of_its_own() -> None:
    lines = {
        line.strip() for block in BLOCKS if INSTALL not in block for line in block.splitlines()
    }

    assert lines == set(ELSEWHERE)
