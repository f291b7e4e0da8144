"""The whole job without a site, in the three lines of docs/library.md: a model judges 400 outputs,
how well it agrees with three experts, what could be better, and whether that is proven."""

import gzip
import json
import re
from pathlib import Path

import pytest

import geval
from geval.texts.stand_in import MODEL
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

SYSTEMS = ("M11", "M13", "M1", "M14")


def the_lines() -> str:
    """The block under the heading "Improve, and prove" that does the whole job."""
    page = (CHECKOUT / "docs" / "library.md").read_text()
    _, part = page.split("\n## Improve, and prove\n")
    code = re.search(r"```python\n(.*?)```", part, re.S)
    assert code is not None
    return code[1]


def write_summeval(benchmarks: Path, folder: Path) -> None:
    """SummEval's 100 articles with four summaries each, experts' ratings, and scores of judges."""
    for name in ("outputs.jsonl", "human_ratings.csv", "llm_scores.csv"):
        with gzip.open(benchmarks / "summeval" / f"{name}.gz", "rt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        kept = [line for line in lines if _is_kept(line)]
        (folder / name).write_text("\n".join(kept) + "\n", encoding="utf-8")


def _is_kept(line: str) -> bool:
    if line.startswith("{"):
        return json.loads(line)["system_id"] in SYSTEMS
    return line.split(",")[1] in ("system_id", *SYSTEMS)


def test_summeval_is_judged_measured_improved_and_proven_in_three_lines(
    standin: StandInProcess,
    benchmarks: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_summeval(benchmarks, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = the_lines()
    model = f'model="{MODEL}", base_url="{standin.base_url}"'

    exec(
        lines.replace('model="gpt-4.1-mini"', model),
        {"geval": geval, "files": sorted(tmp_path.glob("*.*"))},
    )

    printed = capsys.readouterr().out
    assert len(lines.splitlines()) == 3
    assert "scored 400 of 400 outputs on coherence" in printed
    assert "400 outputs rated by 3 people" in printed
    assert re.search(r"coherence: [^\n]+\n  rho 0\.\d\d \[", printed)
    assert "Largest disagreements, coherence:" in printed
    assert "offline-stand-in on coherence: gpt-4o on coherence is proven." in printed
    assert re.search(r"; proven: gain \+0\.\d+ \[\+0\.", printed)
    assert "1 of 5 looks used" in printed
    assert len((tmp_path / "locked.jsonl").read_text().splitlines()) == 3
