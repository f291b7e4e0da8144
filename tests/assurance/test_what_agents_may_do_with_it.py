"""Tools of the app read, write and spend as those of the rest do."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluations.models import Project
from tests.agents.conftest import Agent, address, make_token, over_http

__all__ = ["address", "make_token", "over_http"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
READING = {"list_disagreements", "show_locked", "follow_search"}
WRITING = {"lock_documents", "improve", "look", "certify"}
SPENDING = {"use_change"}


async def _see_tools(agent: Agent) -> set[str]:
    return await agent.tools() & (READING | WRITING | SPENDING)


def test_the_address_says_how_much(over_http: Callable[..., Any], small_project: Project) -> None:
    assert over_http(_see_tools, allow="read") == READING
    assert over_http(_see_tools, allow="write") == READING | WRITING
    assert over_http(_see_tools, allow="spend") == READING | WRITING | SPENDING


def test_a_search_that_costs_money_is_refused_with_the_reason(
    over_http: Callable[..., Any], small_project: Project
) -> None:
    async def ask(agent: Agent) -> Any:
        about = {"project": "small", "judge": "J", "criterion": "fluency"}
        return await agent.call("improve", **about, changes=["wording"])

    assert "this connection may not spend" in over_http(ask, allow="write")["error"]
