"""The command `agents`: tools on files for an agent, without a site or a database."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import geval
from geval import agent_tools
from geval.agent_tools import ModelRuns
from geval.standin.server import start_standin
from tests.agents.conftest import Agent, Script
from tests.conftest import CHECKOUT

NAMED = {"human": ["human_1", "human_2", "human_3"], "document": "document", "system": "system"}


async def _with_switches(script: Script, folder: Path, switches: tuple[str, ...]) -> Any:
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "geval_site", "agents", *switches],
        env=env | {"PYTHONPATH": str(CHECKOUT), "DJANGO_SETTINGS_MODULE": "none"}, cwd=folder,
    )  # fmt: skip
    async with Client(stdio_client(server)) as client:
        return await script(Agent(client))


def test_an_agent_reads_files_and_is_answered_in_words(tmp_path: Path) -> None:
    async def work(agent: Agent) -> Any:
        return (
            await agent.tools(),
            await agent.call("check", files=["example:support"], require=["sensitivity.low>=0.8"]),
            await agent.call("rate", files=["example:support"], by="language"),
            await agent.call("check", files=["nothing.csv"]),
            await agent.call("check", files=["example:support"], humans=["human"]),
        )

    tools, checked, rates, missing, unknown = anyio.run(partial(_with_switches, work, tmp_path, ()))

    assert tools == {"check", "rate"}
    assert checked["report"] == str(geval.measure("example:support"))
    assert set(checked["requirements"].values()) == {"met"}
    assert [each["by"] for each in rates["rates"]] == ["en", "es"]
    assert "There is no file nothing.csv" in missing["error"]
    assert "Did you mean human?" in unknown["error"]


def test_switches_say_how_much(tmp_path: Path) -> None:
    async def work(agent: Agent) -> Any:
        about = {"files": ["example:summaries"], "judge": "judge", "judges": ["judge"], **NAMED}
        return await agent.tools(), await agent.call("improve", locked="locked.jsonl", **about)

    tools, improved = anyio.run(partial(_with_switches, work, tmp_path, ("--write",)))

    assert tools == {"check", "rate", "improve"}
    assert "judge on" in improved["report"]
    assert (tmp_path / "locked.jsonl").exists()


def test_a_long_run_is_followed_by_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(agent_tools, "ANSWER_SECONDS", 0)
    runs, file = ModelRuns(start_standin()), tmp_path / "scores.csv"
    ask = partial(
        runs.evaluate_files, ["example:summaries"], "coherence", "offline-stand-in", str(file),
        definition="how well sentences fit", output="output", human=NAMED["human"],
    )  # fmt: skip

    first = ask()
    monkeypatch.setattr(agent_tools, "ANSWER_SECONDS", 600)
    last = ask()

    assert first == {"state": "running", "ask_again_in_seconds": 10}
    assert (last["state"], last["scores"]) == ("done", str(file))
    assert "160 of 160 outputs" in last["report"]
    assert file.read_text().count("\n") == 161
