"""A served site, and an agent on it: the client of the package mcp."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from django.contrib.auth.models import User
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from tests.processes import SiteProcess
from tests.strict_judge import criterion, judge, locked, rated_project

__all__ = ["criterion", "judge", "locked", "rated_project"]
Script = Callable[["Agent"], Awaitable[Any]]


class Agent:
    """What a script of an agent calls."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's answer; `error` is the text of a refusal."""
        result = await self.client.call_tool(tool, arguments)
        if result.is_error:
            return {"error": result.content[0].text}  # type: ignore[union-attr]
        assert result.structured_content is not None
        return result.structured_content


@pytest.fixture
def address(database_url: str, project: Project) -> Iterator[str]:
    """Of a served site."""
    served = SiteProcess(database_url, GEVAL_MODE="local", GEVAL_REQUEST_RATE="100000/m")
    yield served.address
    served.stop()


@pytest.fixture
def make_token(owner: User) -> Callable[..., str]:
    def make(**about: Any) -> str:
        token, digest = new_token()
        ApiToken.objects.create(user=owner, name="agent", digest=digest, **about)
        return token

    return make


@pytest.fixture
def over_http(address: str, make_token: Callable[..., str]) -> Callable[..., Any]:
    """Run an agent's script over HTTP; what it returns."""

    def run(script: Script, allow: str = "spend", mode: Any = "auto", **about: Any) -> Any:
        return anyio.run(
            partial(_script_over_http, script, address, allow, mode, make_token(**about))
        )

    return run


async def _script_over_http(script: Script, address: str, allow: str, mode: Any, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{address}/api/v1/mcp?allow={allow}", http_client=http)
        async with Client(transport, mode=mode) as client:
            return await script(Agent(client))
