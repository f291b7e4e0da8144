"""What language models read of the docs: the skill, whose commands run, and AGENTS.md."""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geval.reports.verdicts.verdict import Verdict
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

SKILL = CHECKOUT / "docs" / "skills" / "validate-an-llm-judge"
COMMANDS = re.findall(r"```sh\n(.*?)```", (SKILL / "SKILL.md").read_text(), re.S)
LINK = re.compile(r"\]\(([^)#]+)\)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What somebody has who asks an agent: a table, and `geval-site` on the path."""
    rows = [
        {"question": f"Ferry {n}?", "answer": f"At {n % 12}. " * (1 + n % 4),
         "ann": 1 + n % 4, "bob": 1 + (n + n % 2) % 4, "cyd": 1 + (n + n % 3) % 4, "gpt": n % 5}
        for n in range(20)
    ]  # fmt: skip
    for name, columns in (
        ("ratings_and_scores.csv", ["question", "answer", "ann", "bob", "cyd", "gpt"]),
        ("ratings.csv", ["question", "answer", "ann", "bob", "cyd"]),
    ):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    program = tmp_path / "bin" / "geval-site"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{CHECKOUT}/manage.py" "$@"\n')
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_the_skill_runs(
    folder: Path, start_standin: Callable[..., StandInProcess], command: str
) -> None:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder),
             "MODEL": "offline-stand-in", "BASE_URL": start_standin().base_url},
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip

    asks = "check ratings_and_scores.csv\n" in command
    assert done.returncode in ((3,) if asks else (0, 1, 2)), done.stdout + done.stderr
    assert not asks or "--human COLUMN" in done.stderr


def test_the_skill_explains_every_verdict_and_leads_somewhere() -> None:
    explained = (SKILL / "references" / "verdicts.md").read_text()

    assert all(f"| {verdict.label} |" in explained for verdict in Verdict)
    for path in (*SKILL.rglob("*.md"), CHECKOUT / "AGENTS.md"):
        for link in LINK.findall(path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_targets_that_agents_are_told_exist() -> None:
    targets = re.findall(r"^make (\S+)", (CHECKOUT / "AGENTS.md").read_text(), re.M)
    makefile = (CHECKOUT / "Makefile").read_text()

    assert targets
    assert all(f"\n{target}:" in makefile for target in targets)
