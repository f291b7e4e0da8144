"""Write the operations of `geval.client`, and the shapes of what they take and give, from the API's
OpenAPI document: `python .ci/client_operations.py`. A test says when that is due."""

import os
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOM = Path(__file__).resolve().parents[1] / "geval" / "client"
WRITTEN = "Written by `.ci/client_operations.py` from the API's OpenAPI document."
PROJECT = "/projects/{slug}"
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
WIDTH = 100
Json = dict[str, Any]

OPERATIONS = '''\
"""The operations of the HTTP API, as methods of both clients.

{written}
"""
# fmt: off

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from geval.client.requests import Request, Rows, answered, lined, listed, saved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from geval.client import shapes


class SiteOperations:
    """What is asked of a site."""

{site}


class ProjectOperations:
    """What is asked of a project."""

    slug: str

    @property
    def path(self) -> str:
        """What its addresses begin with."""
        return f"/projects/{{quote(self.slug, safe='')}}"

{project}
'''
SHAPES = '''\
"""What operations of the HTTP API give (`…Out`) and may take besides what they need (`…In` and
others).

{written}
"""
# fmt: off

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

{shapes}
'''


def files_of(document: Json) -> dict[str, str]:
    """The texts of the two modules, by their names."""
    written = Writing(document)
    sites, projects = [], []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            address = path.removeprefix("/api/v1")
            (projects if address.startswith(PROJECT) else sites).append(
                written.operation(method.upper(), address, operation)
            )
    shapes = written.shapes()
    return {
        "operations.py": OPERATIONS.format(
            written=WRITTEN,
            site="\n\n".join(sites),
            project="\n\n".join(projects),
        ),
        "shapes.py": SHAPES.format(written=WRITTEN, shapes="\n\n".join(shapes)),
    }


class Writing:
    """What is written from a document.

    `bodies` are the shapes of request bodies, of which only optional fields are named.
    """

    def __init__(self, document: Json) -> None:
        self.schemas: Json = document["components"]["schemas"]
        self.bodies: set[str] = set()
        self.used: set[str] = set()

    def operation(self, method: str, path: str, operation: Json) -> str:
        """A method of the client."""
        kind, gives = self._reply(operation)
        takes, query, optional = [], [], []
        for parameter in operation.get("parameters", ()):
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                if name != "slug":
                    takes.append(f"{name}: {self.type_of(schema)}")
            elif not (kind == "listed" and name in ("limit", "cursor")):
                query.append(f'"{name}": {name}')
                type_ = self.type_of(schema).replace("list[", "Sequence[").removesuffix(" | None")
                if parameter.get("required"):
                    takes.append(f"{name}: {type_}")
                else:
                    optional.append(f"{name}: {type_} | None = None")
        more = [f"query={{{', '.join(query)}}}"] if query else []
        body = self._body(operation)
        if kind == "saved":
            takes.insert(0, "to: str | Path")
            more.append("to=to")
        if body == "rows":
            takes.append("rows: Rows")
            more.append("rows=rows")
        elif body:
            fields = self.schemas[body]["properties"]
            needed = self.schemas[body].get("required", [])
            takes += [f"{name}: {self.type_of(fields[name])}" for name in needed]
            parts = [f'"{name}": {name}' for name in needed]
            if len(needed) < len(fields):
                self.bodies.add(body)
                optional.append(f"**more: Unpack[shapes.{body}]")
                parts.append("**more")
            written = "more" if parts == ["**more"] else f"{{{', '.join(parts)}}}"
            more.append(f"body={written}")
        if optional and not optional[0].startswith("**"):
            optional.insert(0, "*")
        signature = ", ".join(["self", *takes, *optional])
        address = path.replace(PROJECT, "{self.path}")
        written = f'f"{address}"' if "{" in address else f'"{address}"'
        if address == "{self.path}":
            written = "self.path"
        asked = ", ".join([f'"{method}"', written, *more])
        lines = [
            f"@{kind}",
            *_wrapped(f"def {operation['operationId']}(", signature, f") -> Request[{gives}]:"),
            *(f"    {line}" for line in _docstring(operation.get("description", ""))),
            *(f"    {line}" for line in _wrapped("return Request(", asked, ")")),
        ]
        return textwrap.indent("\n".join(lines), "    ")

    def _reply(self, operation: Json) -> tuple[str, str]:
        """How a reply is read, and its type."""
        contents = [
            (name, media.get("schema", {}))
            for _status, response in sorted(operation["responses"].items())
            for name, media in response.get("content", {}).items()
        ]
        if not contents and "204" not in map(str, operation["responses"]):
            return "saved", "Path"
        kinds = {name for name, _schema in contents}
        if kinds == {"application/x-ndjson"}:
            return "lined", "dict[str, Any]"
        if kinds - {"application/json"}:
            return "saved", "Path"
        if "cursor" in {each["name"] for each in operation.get("parameters", ())}:
            return "listed", self._item(contents[0][1])
        types = dict.fromkeys(self.type_of(schema) for _name, schema in contents)
        return "answered", " | ".join(types) or "None"

    def _item(self, schema: Json) -> str:
        page = self.schemas[_ref(schema)] if "$ref" in schema else {}
        items = page.get("properties", {}).get("items", {"items": {}})
        return self.type_of(items["items"] or {"type": "object"})

    def _body(self, operation: Json) -> str:
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            return _ref(content["application/json"]["schema"])
        return "rows" if content else ""

    def type_of(self, schema: Json, *, within: str = "shapes.") -> str:
        """A type as Python writes it."""
        if "$ref" in schema:
            name = _ref(schema)
            if "enum" in self.schemas[name]:
                return self.type_of(self.schemas[name], within=within)
            self.used.add(name)
            return f"{within}{name}"
        if "allOf" in schema:
            return self.type_of(schema["allOf"][0], within=within)
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(_quoted, values))}]"
        if "anyOf" in schema:
            return " | ".join(
                dict.fromkeys(self.type_of(each, within=within) for each in schema["anyOf"])
            )
        if schema.get("type") == "array":
            return f"list[{self.type_of(schema['items'], within=within)}]"
        if "type" not in schema:
            return "Any"
        if schema["type"] == "object":
            inner = schema.get("additionalProperties", True)
            value = self.type_of(inner, within=within) if isinstance(inner, dict) else "Any"
            return f"dict[str, {value}]"
        return TYPES[schema["type"]]

    def shapes(self) -> list[str]:
        """The shapes that are named, and those within them, by their names."""
        written: dict[str, str] = {}
        while left := (self.bodies | self.used) - written.keys():
            for name in left:
                written[name] = "\n".join(self._shape(name))
        return [written[name] for name in sorted(written)]

    def _shape(self, name: str) -> Iterator[str]:
        schema = self.schemas[name]
        is_body = name in self.bodies
        # What may hold nothing else is as somebody wrote it, who may leave out some.
        is_exact = schema.get("additionalProperties") is False
        needed = set(schema.get("required", ()))
        yield ""
        yield f"class {name}(TypedDict{', total=False' if is_body else ''}):"
        if "description" in schema:
            yield from (f"    {line}" for line in _docstring(schema["description"]))
            yield ""
        for field, about in schema["properties"].items():
            if is_body and field in needed:
                continue
            text = self.type_of(about, within="")
            is_optional = is_exact and not is_body and field not in needed
            is_optional |= about.get("x-may-be-missing", False)
            yield from _split(field, f"NotRequired[{text}]" if is_optional else text)


def _split(field: str, text: str) -> Iterator[str]:
    line = f"    {field}: {text}"
    if len(line) <= WIDTH:
        yield line
        return
    before, _, inner = text.partition("[")
    inner, _, after = inner.rpartition("]")
    yield f"    {field}: {before}["
    yield textwrap.indent(textwrap.fill(inner, WIDTH - 8), " " * 8)
    yield f"    ]{after}"


def _ref(schema: Json) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[1]


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _docstring(text: str) -> list[str]:
    words = " ".join(text.split())
    return textwrap.wrap(f'"""{words}"""', WIDTH - 8)


def _wrapped(before: str, inner: str, after: str) -> list[str]:
    line = f"{before}{inner}{after}"
    if len(line) <= WIDTH - 8:
        return [line]
    kept_together = f"{inner},".replace(": ", ":\N{NO-BREAK SPACE}")
    parts = [
        part.replace("\N{NO-BREAK SPACE}", " ")
        for part in textwrap.wrap(kept_together, WIDTH - 12, break_on_hyphens=False)
    ]
    if inner.rsplit(", ", 1)[-1].startswith("**"):
        parts[-1] = parts[-1].removesuffix(",")
    return [before, *(f"    {part}" for part in parts), after]


def document() -> Json:
    """The document of the site, as it is in this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("GEVAL_MODE", "local")
        os.environ.update(GEVAL_DATA_DIR=folder, DJANGO_SETTINGS_MODULE="geval_site.settings")
        import django

        django.setup()
        from evaluations.web.api.app import api

        return dict(api.get_openapi_schema())


if __name__ == "__main__":
    for file_name, content in files_of(document()).items():
        (ROOM / file_name).write_text(content, encoding="utf-8")
