"""Every command of the README works as it stands there, in its order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluations.models import EvaluationRun, Project, RunState
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
BLOCKS = re.findall(r"^```sh\n(.*?)^```", (CHECKOUT / "README.md").read_text(), re.M | re.S)
# Run by tests of their own: two of them go on until Ctrl-C, and `make test` runs this very test.
ELSEWHERE = (
    "make demo",
    "make test",
    "OPENAI_API_KEY=sk-… GEVAL_MODEL=gpt-4o-mini make demo",
    ".venv/bin/python manage.py serve",
)
STAND_IN = ".venv/bin/python manage.py standin_llm --port 8011"


@pytest.fixture
def shell(tmp_path: Path, database_url: str) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run lines in a folder that looks like the checkout but takes the README's files."""
    for entry in CHECKOUT.iterdir():
        if entry.name != ".venv":
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / ".venv").symlink_to(sys.prefix)

    def run(script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path, env={**os.environ, "DATABASE_URL": database_url, **env},
            capture_output=True, text=True,
            timeout=400, check=False,
        )  # fmt: skip

    return run


def test_the_tour_works_as_written(
    shell: Callable[..., subprocess.CompletedProcess[str]],
    start_standin: Callable[..., StandInProcess],
) -> None:
    address = start_standin().base_url
    done = []
    for block in BLOCKS:
        if block.strip() == STAND_IN:  # in another terminal
            continue
        script = "".join(
            line for line in block.splitlines(keepends=True) if line.strip() not in ELSEWHERE
        )
        # The network's other end is the one thing replaced.
        script = (
            script.replace("http://127.0.0.1:8011/v1", address)
            .replace("https://api.openai.com/v1", address)
            .replace("gpt-4o-mini", "offline-stand-in")
        )
        done.append(shell(script))

    assert [(process.args[-1], process.stderr) for process in done if process.returncode] == []
    runs = EvaluationRun.objects.order_by("pk").values_list("judge__name", "state")
    assert list(runs) == [("First", RunState.DONE), ("G-Eval mini", RunState.DONE)]
    printed = "".join(process.stdout for process in done)
    assert "G-Eval mini" in printed
    assert '"consistency"' in printed
    assert Project.objects.get().slug == "mine"


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
    lines = {line.strip() for block in BLOCKS for line in block.splitlines()}

    assert {*ELSEWHERE, STAND_IN} <= lines
