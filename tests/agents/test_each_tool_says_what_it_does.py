"""Each tool of agents says what it does."""

from evaluations.web.agents.server import tools_by_level


def test_each_tool_says_what_it_does() -> None:
    assert [tool.__name__ for _level, tool in tools_by_level() if not tool.__doc__] == []
