"""The whole job without a site, in the three lines or the two commands of docs/library.md: a model
judges 400 outputs, how well it agrees with three experts, what could be better, and whether that is
proven."""

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest

import geval
from geval.command_line import main
from geval.texts.stand_in import MODEL
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess

SYSTEMS = ("M11", "M13", "M1", "M14")


def the_lines(heading: str = "Improve, and prove", language: str = "python") -> str:
    """The block under a heading that does the whole job."""
    page = (CHECKOUT / "docs" / "library.md").read_text()
    _, part = page.split(f"\n## {heading}\n")
    code = re.search(rf"```{language}\n(.*?)```", part, re.S)
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


def test_two_commands_do_the_whole_job(
    standin: StandInProcess,
    benchmarks: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (data := tmp_path / "data").mkdir()
    write_summeval(benchmarks, data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = [str(path) for path in sorted(data.glob("*.*"))]
    lines = the_lines("In a terminal", "sh").replace("gpt-4.1-mini", MODEL)
    judging, improving = [
        shlex.split(line.replace("data/*", shlex.join(files)))[1:] for line in lines.splitlines()
    ]

    assert main([*judging, "--base-url", standin.base_url]) in (0, 1, 2)
    judged = capsys.readouterr().out
    assert main(improving) == 0
    proven = capsys.readouterr().out
    assert main([*improving, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)

    assert "scored 400 of 400 outputs on coherence" in judged
    assert "Largest disagreements, coherence:" in judged
    assert "offline-stand-in on coherence: gpt-4o on consistency is proven." in proven
    assert re.search(r"; proven: gain \+0\.\d+ \[\+0\.", proven)
    assert content["looks_used"] == 1
    again = geval.improve(
        [*files, "scores.csv"],
        criterion="coherence",
        judge=MODEL,
        locked="locked.jsonl",
        prove=True,
    )
    assert again.to_dict() == content
