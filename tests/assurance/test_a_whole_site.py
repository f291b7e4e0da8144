"""The client and the docs have what a site with all its apps has, and nothing else."""

import importlib.util
import re
from types import ModuleType

import pytest

from evaluations.web.agents.inner_site import InnerSite
from evaluations.web.agents.server import tools_of
from geval.client.agent_tools import Level
from tests.api.test_the_client_has_every_operation import (
    DOCUMENT,
    PROJECT,
    methods_of,
    operations,
)
from tests.conftest import CHECKOUT
from tests.pages.test_rights import LISTED, ROWS


def test_each_method_is_an_operation() -> None:
    ids = [operation["operationId"] for _method, _path, operation in operations(DOCUMENT)]

    assert len(ids) == len(set(ids)) > 80
    assert {*methods_of(PROJECT), *methods_of("")} == set(ids)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = CHECKOUT / ".ci" / "client_operations.py"
    spec = importlib.util.spec_from_file_location("client_operations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["operations.py", "shapes.py"])
def test_what_is_written_from_the_document_is_up_to_date(generator: ModuleType, name: str) -> None:
    """If this fails: python .ci/client_operations.py"""
    there = (CHECKOUT / "geval" / "client" / name).read_text()

    assert there == generator.files_of(DOCUMENT)[name]


def test_each_tool_has_its_row() -> None:
    text = (CHECKOUT / "docs" / "agents.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.M)
    site = InnerSite("http://localhost/", token="", level=Level.SPEND)
    tools = [(tool.__name__, tool.level.name.lower()) for tool in tools_of(site)]

    assert sorted(rows) == sorted(tools)


def test_the_tables_of_rights_have_no_other_page_or_endpoint() -> None:
    assert set(LISTED) - set(ROWS) == set()
