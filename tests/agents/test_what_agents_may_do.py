"""Agents read; writing and spending are for those whom somebody allowed it, and never more than
their token."""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from django.contrib.auth.models import User
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from evaluations.models import AuditEntry, Project
from tests.agents.conftest import Agent
from tests.conftest import CHECKOUT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
READING = {"list_projects", "show_project", "report", "plan", "follow_run"}
WRITING = {"make_project", "load_rows", "make_criterion", "make_judge", "pause_run"}
SPENDING = {"start_run", "resume_run"}
HERE = {"load_file"}
ROW = {"doc_id": "d9", "system_id": "good", "source": "Nine.", "output": "9."}


async def _see_tools(agent: Agent) -> set[str]:
    return await agent.tools() & (READING | WRITING | SPENDING | HERE)


async def _load_a_row(agent: Agent) -> dict[str, Any]:
    return await agent.call("load_rows", project="small", rows=[ROW])


def test_over_http_the_address_and_the_token_say_how_much(
    over_http: Callable[..., Any], small_project: Project
) -> None:
    assert over_http(_see_tools, allow="read") == READING
    assert over_http(_see_tools, allow="write") == READING | WRITING
    assert over_http(_see_tools, allow="spend") == READING | WRITING | SPENDING
    assert over_http(_see_tools, allow="spend", may_change=False) == READING
    assert "Unknown tool" in over_http(_load_a_row, allow="read")["error"]


def test_what_an_agent_does_is_in_the_audit_log_as_its_users(
    over_http: Callable[..., Any], small_project: Project
) -> None:
    loaded = over_http(_load_a_row, allow="write")

    assert loaded["loaded"]["outputs"] == {"created": 1, "unchanged": 0, "changed": 0}
    (entry,) = AuditEntry.objects.all()
    assert entry.path == "/api/v1/projects/small/outputs"
    assert (entry.user_name, entry.by_api, entry.address) == ("olga", True, "127.0.0.1")


def test_a_token_of_one_project_shows_no_other(
    over_http: Callable[..., Any], small_project: Project, owner: User
) -> None:
    Project.objects.make(name="Other", description="", owner_id=owner.pk)

    async def look_around(agent: Agent) -> Any:
        return await agent.call("list_projects"), await agent.call("report", project="other")

    listed, other = over_http(look_around, project=small_project)
    assert [row["project"] for row in listed["projects"]] == ["small"]
    assert "There is no project 'other'" in other["error"]


def test_a_money_question_is_refused_with_the_reason(
    over_http: Callable[..., Any], small_project: Project
) -> None:
    async def ask(agent: Agent) -> Any:
        return await agent.call("make_judge", project="small", name="J", endpoint="any", model="m")

    assert "this connection may not spend" in over_http(ask, allow="write")["error"]


@pytest.mark.parametrize("argument", [{"fresh": "yes"}, {"trial": "1"}, {"trial": True}])
def test_arguments_of_another_kind_are_refused(
    over_http: Callable[..., Any], small_project: Project, argument: dict[str, Any]
) -> None:
    async def ask(agent: Agent) -> Any:
        return await agent.call("start_run", project="small", judge="J", **argument)

    assert next(iter(argument)) in over_http(ask)["error"]


def test_without_a_token_there_is_nothing(address: str) -> None:
    for headers in ({}, {"Authorization": "Bearer geval_wrong"}):
        request = urllib.request.Request(f"{address}/api/v1/mcp", json.dumps({}).encode(), headers)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request, timeout=20)


async def _on_this_machine(env: dict[str, str], switches: list[str], script: Any) -> Any:
    server = StdioServerParameters(
        command=sys.executable, args=["manage.py", "mcp", *switches], env=env, cwd=CHECKOUT
    )
    async with Client(stdio_client(server)) as client:
        return await script(Agent(client))


@pytest.fixture
def here(database_url: str) -> Callable[..., Any]:
    """Run an agent's script that starts `manage.py mcp` with switches."""
    env = {**os.environ, "DATABASE_URL": database_url, "GEVAL_MODE": "local"}
    return lambda script, *switches: anyio.run(
        partial(_on_this_machine, env, list(switches), script)
    )


def test_on_this_machine_switches_say_how_much(
    here: Callable[..., Any], small_project: Project, owner: User
) -> None:
    assert here(_see_tools) == READING
    assert here(_see_tools, "--spend") == READING | WRITING | SPENDING | HERE


def test_on_this_machine_a_file_is_loaded(
    here: Callable[..., Any], small_project: Project, owner: User, tmp_path: Path
) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("doc_id,system_id,criterion,judge,score\nd1,good,coherence,metric,0.5\n")

    async def load(agent: Agent) -> Any:
        about = {"project": "small", "kind": "scores"}
        missing = await agent.call("load_file", path=f"{file}x", **about)
        return missing, await agent.call("load_file", path=str(file), **about)

    missing, loaded = here(load, "--write", "--address", "https://geval.example.org")
    assert "There is no file" in missing["error"]
    assert loaded["loaded"]["scores"]["created"] == 1
    assert loaded["link"] == "https://geval.example.org/p/small/data/"
