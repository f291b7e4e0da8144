"""The API and the docs have what a site with all its apps has, and nothing else."""

import re

from evaluations.web.agents.server import tools_by_level
from evaluations.web.api.app import api
from tests.conftest import CHECKOUT


def test_each_operation_has_its_name() -> None:
    paths = api.get_openapi_schema()["paths"].values()
    names = [operation["operationId"] for methods in paths for operation in methods.values()]

    assert len(names) == len(set(names)) > 80


def test_each_tool_has_its_row() -> None:
    text = (CHECKOUT / "docs" / "agents.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.M)
    tools = [(tool.__name__, level.name.lower()) for level, tool in tools_by_level()]

    assert sorted(rows) == sorted(tools)
