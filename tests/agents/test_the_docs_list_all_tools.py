"""docs/agents.md has a row for each tool, with what it needs."""

import re

from evaluations.web.agents.inner_site import InnerSite
from evaluations.web.agents.server import tools_of
from geval.client.agent_tools import Level
from tests.conftest import CHECKOUT


def test_each_tool_has_its_row() -> None:
    text = (CHECKOUT / "docs" / "agents.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.M)
    site = InnerSite("http://localhost/", token="", level=Level.SPEND)
    tools = [(tool.__name__, tool.level.name.lower()) for tool in tools_of(site)]

    assert sorted(rows) == sorted(tools)


def test_each_tool_says_what_it_does() -> None:
    site = InnerSite("http://localhost/", token="", level=Level.SPEND)

    assert [tool.__name__ for tool in tools_of(site) if not tool.__doc__] == []
