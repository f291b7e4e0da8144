"""`geval.client` is what the OpenAPI document says: each operation is a method of both clients,
with its parameters and fields, and asks what the document describes. What is written of a whole
site: tests/assurance/test_a_whole_site.py."""

import asyncio
import contextlib
import inspect
import io
import json
import re
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from evaluations.web.api.app import api
from geval.client import AsyncClient, Client, blocking, shapes
from geval.client.operations import ProjectOperations, SiteOperations
from geval.client.requests import Operation, Request, Written
from tests.conftest import CHECKOUT

Json = dict[str, Any]
DOCUMENT: Json = api.get_openapi_schema()
PROJECT = "/api/v1/projects/{slug}"
# What the clients see to: which page of a list, and where a reply or an upload is on this machine.
OURS = {"limit", "cursor", "to", "rows"}


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Each operation with its method and path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def methods_of(path: str) -> dict[str, Operation[Any, Any, Any]]:
    """The operations of the class that has those of an address."""
    room = ProjectOperations if path.startswith(PROJECT) else SiteOperations
    return {name: each for name, each in vars(room).items() if isinstance(each, Operation)}


def schema_of(document: Json, operation: Json) -> Json:
    """The fields of a request's JSON."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return {}
    name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    return dict(document["components"]["schemas"][name])


def differences(document: Json) -> list[str]:
    """Operations that are no methods, or take something else."""
    wrong = []
    for _method, path, operation in operations(document):
        name = operation["operationId"]
        if name not in methods_of(path):
            wrong.append(f"{name}: there is no such method")
            continue
        parameters = inspect.signature(methods_of(path)[name].build).parameters
        needed, optional = set(), set()
        for key, parameter in parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                shape = re.fullmatch(r"Unpack\[shapes\.(\w+)\]", parameter.annotation)
                assert shape is not None
                optional |= set(getattr(shapes, shape[1]).__annotations__)
            elif key != "self":
                (needed if parameter.default is parameter.empty else optional).add(key)
        schema = schema_of(document, operation)
        asked = {each["name"]: each.get("required") for each in operation.get("parameters", ())}
        asked.pop("slug", None)
        asked |= {key: key in schema.get("required", ()) for key in schema.get("properties", ())}
        if needed - OURS != {key for key, must in asked.items() if must and key not in OURS}:
            wrong.append(f"{name}: it needs {sorted(needed)}")
        if optional != {key for key, must in asked.items() if not must and key not in OURS}:
            wrong.append(f"{name}: it may take {sorted(optional)}")
    return wrong


def test_each_operation_is_a_method_with_the_same_parameters() -> None:
    assert differences(DOCUMENT) == []


def test_an_operation_or_a_field_without_a_method_is_noticed() -> None:
    longer = json.loads(json.dumps(DOCUMENT))
    longer["paths"][PROJECT]["patch"] = {"operationId": "touch_project"}
    longer["components"]["schemas"]["RunIn"]["properties"]["colour"] = {"type": "string"}
    longer["paths"][f"{PROJECT}/plan"]["get"]["parameters"].pop()

    noticed = [text.split(":")[0] for text in differences(longer)]

    assert noticed == ["touch_project", "make_run", "get_plan"]


class Recorded:
    """Stands in for a site: keeps what is asked, and gives an empty page."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []

    def keep(self, written: Written) -> bytes:
        content = written.content.read() if written.content else b""
        self.asked.append((written.method, written.address, content))
        return b'{"items": [], "next": null}'


class RecordedClient(Client):
    @contextlib.contextmanager
    def _open(self, written: Written) -> Iterator[Any]:
        yield io.BytesIO(RECORDED.keep(written))


class Reply:
    def __init__(self, content: bytes) -> None:
        self.content = content

    async def aread(self) -> bytes:
        return self.content

    async def aiter_lines(self) -> AsyncIterator[str]:
        yield self.content.decode()

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        yield self.content


class RecordedAsyncClient(AsyncClient):
    @contextlib.asynccontextmanager
    async def _open(self, written: Written) -> AsyncIterator[Any]:
        yield Reply(RECORDED.keep(written))


RECORDED = Recorded()


async def awaited(result: Any) -> None:
    """Read what an operation of the client for `async` gives."""
    if hasattr(result, "__aiter__"):
        async for _item in result:
            pass
    else:
        await result


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    list(operations(DOCUMENT)),
    ids=[operation["operationId"] for _method, _path, operation in operations(DOCUMENT)],
)
def test_both_clients_ask_what_the_document_describes(
    method: str, path: str, operation: Json, tmp_path: Path
) -> None:
    build = methods_of(path)[operation["operationId"]].build
    schema = schema_of(DOCUMENT, operation)
    given: Json = {
        key: "x"
        for key, parameter in inspect.signature(build).parameters.items()
        if key != "self" and parameter.kind is not parameter.VAR_KEYWORD
    }
    given |= dict.fromkeys(schema.get("properties", {}), "x")
    if "to" in given:
        given["to"] = tmp_path / "file"
    if "rows" in given:
        given["rows"] = [{"output": "x"}, b'{"output": "y"}']
    RECORDED.asked.clear()

    for client in (RecordedClient("http://x", "t"), RecordedAsyncClient("http://x", "t")):
        owner: Any = client.project("x") if path.startswith(PROJECT) else client
        result = getattr(owner, operation["operationId"])(**given)
        if isinstance(client, AsyncClient):
            asyncio.run(awaited(result))
        elif inspect.isgenerator(result):
            list(result)

    first, second = RECORDED.asked
    assert first == second
    asked, address, content = first
    address, _, query = address.partition("?")
    assert (asked, address) == (method, re.sub(r"\{\w+\}", "x", path))
    named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    assert set(parse_qs(query)) == named
    if "rows" in given:
        assert content == b'{"output": "x"}\n{"output": "y"}\n'
    else:
        assert set(json.loads(content or "{}")) == set(schema.get("properties", {}))


def test_type_checkers_of_callers_read_the_types() -> None:
    data = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]

    assert (CHECKOUT / "geval" / "py.typed").is_file()
    assert "py.typed" in data["package-data"]["geval"]


def test_a_name_is_quoted_within_an_address() -> None:
    assert Client("http://x", "t").project("a/b ü").path == "/projects/a%2Fb%20%C3%BC"


def test_an_upload_is_sent_again_from_its_beginning() -> None:
    request: Request[Any] = Request("POST", "/outputs", rows=[{"a": 1}])
    with request.written("t") as written:
        assert written.content is not None
        written.content.read()
        pause = blocking.pause_before_next(ConnectionResetError(), 1, written.content)
        again = written.content.read()

    assert (pause, again) == (1.0, b'{"a": 1}\n')
    assert written.headers["Content-Length"] == "9"
