"""Each tool of agents says what it does."""

from evaluations.web.agents.inner_site import InnerSite
from evaluations.web.agents.server import tools_of
from geval.client.agent_tools import Level


def test_each_tool_says_what_it_does() -> None:
    site = InnerSite("http://localhost/", token="", level=Level.SPEND)

    assert [tool.__name__ for tool in tools_of(site) if not tool.__doc__] == []
