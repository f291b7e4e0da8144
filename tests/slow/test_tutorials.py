"""Every command of docs/tutorials/ works as it stands there, in the order in which people read."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from evaluations.models import EvaluationRun, Membership, RunState
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
TUTORIALS = CHECKOUT / "docs" / "tutorials"
ORDER = ("ten-minutes", "your-own-data", "vllm", "campaign")
GATE = "gate"  # is in tests/assurance/certifying/test_the_gate_tutorial.py
BLOCK = re.compile(r"^( *)```sh\n(.*?)^\1```", re.M | re.S)
# Lines that are not run here, and why.
ELSEWHERE = {
    'pip install "$(ls dist/geval_site-*.whl)[local,site]"': "tests/package installs it",
    "geval-site demo": "goes on until Ctrl-C: tests/slow/test_demo_command.py",
    "OPENAI_API_KEY=sk-… GEVAL_MODEL=gpt-4o-mini geval-site demo": "the README has it, too:"
    " tests/slow/test_readme_commands.py",
    "vllm serve Qwen/Qwen2.5-7B-Instruct --port 8100 --max-logprobs 20": "needs a GPU; the"
    " stand-in speaks the same protocol",
}
# What the network's other ends are replaced with.
ENDPOINTS = ("https://api.openai.com/v1", "http://127.0.0.1:8100/v1")
MODELS = ("gpt-4o-mini", "Qwen/Qwen2.5-7B-Instruct")


def blocks(name: str) -> list[str]:
    text = (TUTORIALS / f"{name}.md").read_text()
    return [textwrap.dedent(block) for _, block in BLOCK.findall(text)]


@pytest.fixture
def shell(
    tmp_path: Path, database_url: str, start_standin: Callable[..., StandInProcess]
) -> Callable[[str], "subprocess.CompletedProcess[str]"]:
    """Run a block in an empty folder with `geval-site` in the path."""
    address = start_standin().base_url
    program = tmp_path / "bin" / "geval-site"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {CHECKOUT}/manage.py "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()

    def run(block: str) -> "subprocess.CompletedProcess[str]":
        lines = block.splitlines(keepends=True)
        script = "".join(line for line in lines if line.strip() not in ELSEWHERE)
        for endpoint in ENDPOINTS:
            script = script.replace(endpoint, address)
        for model in MODELS:
            script = script.replace(model, "offline-stand-in")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder, capture_output=True, text=True, timeout=200, check=False,
            env=os.environ
            | {"DATABASE_URL": database_url, "PATH": f"{program.parent}:{os.environ['PATH']}",
               "OPENAI_API_KEY": "sk-of-this-test"},
        )  # fmt: skip

    return run


def test_the_commands_work_as_written(
    shell: Callable[[str], "subprocess.CompletedProcess[str]"],
) -> None:
    get_user_model().objects.create_user("kim")  # who has an account, as the tutorial says
    for name in ORDER:
        for block in blocks(name):
            done = shell(block)
            assert done.returncode == 0, (name, block, done.stdout, done.stderr)

    assert {run.state for run in EvaluationRun.objects.all()} == {RunState.DONE}
    assert Membership.objects.get(user__username="kim").role == "annotator"


def test_every_tutorial_is_run_and_what_is_left_out_is_in_one() -> None:
    assert {path.stem for path in TUTORIALS.glob("*.md")} == {*ORDER, GATE}
    lines = {line.strip() for name in ORDER for block in blocks(name) for line in block.split("\n")}
    assert set(ELSEWHERE) <= lines
