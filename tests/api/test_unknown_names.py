"""A name that nothing has is an error of the API and of the tools for agents."""

import re
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import Client
from mcp.server.mcpserver.exceptions import ToolError

from evaluations.models import Project
from evaluations.web.agents.agent import Agent, Level
from evaluations.web.agents.server import make_server, tools_by_level
from evaluations.web.api.app import api
from geval.client import ApiError

pytestmark = pytest.mark.django_db


def routes() -> Iterator[tuple[str, str]]:
    for path, methods in api.get_openapi_schema(path_prefix="/api/v1")["paths"].items():
        yield from ((method, path) for method in methods)


@pytest.fixture
def signed_in(owner: User, client: Client) -> Client:
    client.force_login(owner)
    return client


@pytest.fixture
def agent(owner: User, small_project: Project) -> Agent:
    request = HttpRequest()
    request.user = request.auth = owner  # type: ignore[attr-defined]
    return Agent(request, Level.SPEND, "http://localhost/")


def test_no_route_ignores_a_parameter(signed_in: Client, small_project: Project) -> None:
    ignored = []
    for method, path in routes():
        address = re.sub(r"\{\w+\}", "1", path.replace("{slug}", "small"))
        refused = signed_in.generic(method.upper(), f"{address}?nobody_reads_this=1")
        # Required fields and parameters are asked for first.
        names_it = "'nobody_reads_this' is no parameter here" in refused.content.decode()
        if refused.status_code != 422 and not (refused.status_code == 400 and names_it):
            ignored.append((method, path, refused.status_code))

    assert ignored == []


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("report?levle=system", "Did you mean level? Parameters: level, coefficient"),
        ("report?level=nonsense", "level is"),
        ("report?coefficient=nonsense", "coefficient is"),
        ("report?round=99", "There is no round"),
        ("disagreements?criterion=nonsense", "There is no criterion 'nonsense'"),
        ("disagreements?by=nonsense", "Some fields are invalid"),
        ("documents?limti=5", "Did you mean limit?"),
        ("documents?limit=many", "Some fields are invalid"),
        ("outputs?system=s1", "Parameters: limit, cursor"),
    ],
)
def test_wrong_parameters(
    signed_in: Client, small_project: Project, address: str, message: str
) -> None:
    refused = signed_in.get(f"/api/v1/projects/small/{address}")

    assert refused.status_code in (400, 422)
    assert message in refused.json()["detail"]


def test_a_number_is_not_true(signed_in: Client, small_project: Project) -> None:
    body = {"judge": 1, "trial": True}
    refused = signed_in.post("/api/v1/projects/small/runs", body, "application/json")

    assert refused.status_code == 422
    assert "trial is a number" in refused.content.decode()


def test_strangers_learn_no_parameters(small_project: Project) -> None:
    refused = Client().get("/api/v1/projects/small/report?nothing=1")

    assert refused.status_code == 401


def names_of_tools() -> list[str]:
    return [tool.__name__ for _level, tool in tools_by_level()]


def call(agent: Agent, tool: str, arguments: dict[str, Any]) -> str:
    """The error of a tool."""
    with pytest.raises(ToolError) as error:
        anyio.run(make_server(agent, here=True)._tool_manager.call_tool, tool, arguments, None)
    return str(error.value)


def test_no_tool_ignores_an_argument(agent: Agent) -> None:
    for tool in names_of_tools():
        made = make_server(agent, here=True)._tool_manager.get_tool(tool)
        assert made is not None

        assert made.parameters["additionalProperties"] is False
        assert "'max_items' is no argument" in call(agent, tool, {"max_items": 5})


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("show_project", {"project": "nonsense"}),
        ("report", {"project": "small", "criterion": "nonsense"}),
        ("plan", {"project": "small", "criterion": "nonsense"}),
        ("start_run", {"project": "small", "judge": "nonsense"}),
        ("follow_run", {"project": "small", "run": 99999}),
        ("make_judge", {"project": "small", "name": "x", "endpoint": "nonsense"}),
        ("make_judge", {"project": "small", "name": "x", "kind": "nonsense"}),
        ("list_disagreements", {"project": "small", "judge": "nonsense"}),
        ("list_disagreements", {"project": "small", "criterion": "nonsense"}),
        ("improve", {"project": "small", "judge": "nonsense", "criterion": "x"}),
        ("look", {"project": "small", "search": 99999, "candidate": 1}),
        ("certify", {"project": "small", "judge": "x", "criterion": "y", "require": ["raters>=1"]}),
    ],
)
def test_tools_refuse_wrong_names(agent: Agent, tool: str, arguments: dict[str, Any]) -> None:
    named = next(each for _level, each in tools_by_level() if each.__name__ == tool)

    with pytest.raises(ApiError) as error:
        agent.answer(named, arguments)
    assert error.value.status in (404, 422)
    assert "project 'small'" not in str(error.value)
