"""The notebook from a CSV to a verdict to a pull request's comment runs from top to bottom."""

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.evaluating.conftest import table
from tests.processes import StandInProcess


def test_every_cell_runs_in_its_order(
    standin: StandInProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = table(40)
    with (tmp_path / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    monkeypatch.setenv("GEVAL_FILE", str(tmp_path / "answers.csv"))
    monkeypatch.setenv("GEVAL_MODEL", "offline-stand-in")
    monkeypatch.setenv("GEVAL_ENDPOINT", standin.base_url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    notebook = json.loads((CHECKOUT / "docs" / "notebooks" / "judge.ipynb").read_text())
    names: dict[str, object] = {}

    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)

    printed = capsys.readouterr().out
    assert "40 outputs rated by 3 people" in printed
    assert "40 documents are rated;" in printed
    assert "met: raters>=3 (it is 3)" in printed
    assert str(names["text"]).startswith("### May the judge rate?")
    assert (tmp_path / "cache" / "geval" / "answers.sqlite3").exists()
