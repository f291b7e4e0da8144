"""`geval-site evaluate FILE…`: the same from a terminal, without a site."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from geval.command_line import is_for, main
from tests.conftest import CHECKOUT
from tests.evaluating.conftest import DEFINITION, table
from tests.processes import StandInProcess


@pytest.fixture
def arguments(standin: StandInProcess, tmp_path: Path) -> list[str]:
    path = tmp_path / "answers.csv"
    rows = table()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [
        "evaluate", str(path), "--criterion", "coherence", "--definition", DEFINITION,
        "--model", "offline-stand-in", "--base-url", standin.base_url,
        "--kept-in", str(tmp_path / "kept.sqlite3"),
    ]  # fmt: skip


def test_it_needs_no_site(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments, "--scores", str(tmp_path / "scores.csv")],
        check=False,
        cwd=CHECKOUT,
        # No settings could be read with this.
        env=os.environ | {"GEVAL_MODE": "nonsense", "GEVAL_DATA_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("offline-stand-in scored 12 of 12 outputs on coherence")
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 13
    assert not (tmp_path / "none").exists()


def test_with_ratings_it_ends_as_check_does(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    people = ["--human", "ann", "--human", "bob", "--human", "cyd"]

    code = main([*arguments, *people, "--mode", "samples", "--n", "5"])

    assert code in (1, 2)
    assert "one rater" in capsys.readouterr().out


def test_a_decision_model_is_asked_by_its_kind_and_protocol(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json", "--kind", "decision", "--protocol", "systemone"]) == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["mode"]) == ("decision", "")
    assert content["scores"][0]["coverage"] is not None


def test_an_error_ends_with_3(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--base-url", "http://127.0.0.1:9/v1"]) == 3
    assert "Nothing answers at" in capsys.readouterr().err
    assert is_for(["evaluate"])
