"""Pages of the docs that are written from the code: options of commands, endpoints of the API,
settings of evaluators, the library, the Python client, licences, thresholds."""

import inspect
import os
import re
import sys
import tempfile
from argparse import Action, ArgumentParser
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

import licences

COMMANDS = ("evaluations", "assurance")


def pages_from_code() -> dict[str, str]:
    """The texts of the pages by their file names."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("GEVAL_MODE", "local")
        os.environ.update(GEVAL_DATA_DIR=folder, DJANGO_SETTINGS_MODULE="geval_site.settings")
        sys.argv[0] = "geval-site"  # messages and help texts name the program
        import django

        django.setup()
        return {
            "command-options.md": "\n\n".join(command_options()) + "\n",
            "api-endpoints.md": "\n\n".join(api_endpoints()) + "\n",
            "evaluator-settings.md": "\n\n".join(evaluator_settings()) + "\n",
            "library.md": "\n\n".join(library()) + "\n",
            "python-client.md": "\n\n".join(python_client()) + "\n",
            "licences.md": licences.markdown(),
            "thresholds.md": import_module("geval.statistics.thresholds").markdown(),
        }


def command_options() -> Iterator[str]:
    """Each command with its help and options."""
    from django.core.management import get_commands, load_command_class

    from geval.command_line import COMMANDS as ON_FILES

    yield "# Options of commands"
    yield "What `geval-site COMMAND --help` prints; [commands](../commands.md) says what it is for."
    parsers: dict[str, ArgumentParser] = {
        name: load_command_class(app, name).create_parser("geval-site", name)
        for name, app in get_commands().items()
        if app in COMMANDS
    }
    for name, (_title, module) in ON_FILES.items():
        parsers[f"{name} FILE…"] = import_module(module)._parser()
    for name, parser in sorted(parsers.items()):
        ours = [action for action in parser._actions if not is_djangos(action)]
        yield f"## {name}"
        yield in_cells(parser.description or "").replace("\\|", "|")
        if ours:
            rows = (f"| {spelled(action)} | {in_cells(explained(action))} |" for action in ours)
            yield "\n".join(["| option | what it does |", "|---|---|", *rows])


def is_djangos(action: Action) -> bool:
    """Whether every command of Django has this option."""
    return bool(
        {
            "--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback",
            "--no-color", "--force-color", "--skip-checks",
        }.intersection(action.option_strings)
    )  # fmt: skip


def spelled(action: Action) -> str:
    takes = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    if action.choices and not action.metavar:
        takes = "\\|".join(map(str, action.choices))
    if not action.option_strings:
        return f"`{takes}`"
    return "`" + ", ".join(action.option_strings) + (f" {takes}`" if takes else "`")


def explained(action: Action) -> str:
    said = (action.help or "") % {"default": action.default}
    shown = action.nargs != 0 and action.default not in (None, "", [], ())
    return said + (f" (default: {action.default})" if shown and "default" not in said else "")


def api_endpoints() -> Iterator[str]:
    """Each endpoint of the API with what it takes, from its OpenAPI description."""
    from evaluations.web.api.app import api

    schema = api.get_openapi_schema()
    yield "# Endpoints of the API"
    yield (
        "From the site's OpenAPI description, which it serves at `/api/v1/openapi.json`, with a"
        " page to try it out at `/api/v1/docs`. [HTTP API](../api.md) says how to sign in, page"
        " through lists and repeat requests."
    )
    for path, methods in schema["paths"].items():
        for method, about in methods.items():
            yield f"## {method.upper()} {path.removeprefix('/api/v1')}"
            yield paragraph(about.get("description", ""))
            rows = [
                f"| `{one['name']}` | {one['in']} | {kind_of(one['schema'])} |"
                for one in about.get("parameters", ())
            ]
            rows += body_rows(about, schema)
            if rows:
                yield "\n".join(["| name | where | type |", "|---|---|---|", *rows])


def body_rows(about: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    content = about.get("requestBody", {}).get("content", {})
    rows = []
    for one in content.values():
        found = one.get("schema", {})
        if "$ref" in found:
            found = schema["components"]["schemas"][found["$ref"].rpartition("/")[2]]
        rows += [
            f"| `{name}` | body | {kind_of(field)} |"
            for name, field in found.get("properties", {}).items()
        ]
    return rows


def kind_of(schema: dict[str, Any]) -> str:
    """A type in words: `integer`, `string or null`, `list of string`."""
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    said = str(schema.get("type", "anything"))
    return said + (f" (default: `{schema['default']}`)" if schema.get("default") else "")


def evaluator_settings() -> Iterator[str]:
    """Each evaluator with its settings."""
    from geval.evaluators.registry import evaluators

    yield "# Settings of evaluators"
    yield "Given with `--set NAME=VALUE`, on the page of a new judge, or as `settings` in the API."
    for kind, evaluator in evaluators().items():
        yield f"## {evaluator.title} (`{kind}`)"
        yield f"{evaluator.summary} More: [{evaluator.title}](../evaluators/{kind}.md)."
        rows = [
            f"| `{name}` | {'required' if field.is_required() else f'`{field.default!r}`'}"
            f" | {in_cells(field.description or '')} |"
            for name, field in evaluator.Settings.model_fields.items()
        ]
        if rows:
            yield "\n".join(["| setting | default | what it does |", "|---|---|---|", *rows])


def library() -> Iterator[str]:
    """What `import geval` offers: functions, then what they return or raise."""
    import geval

    yield "# Functions of the library"
    yield paragraph(inspect.getdoc(geval) or "")
    for name in sorted(geval.__all__, key=lambda name: (name[0].isupper(), name)):
        yield from documented(name, getattr(geval, name))


def python_client() -> Iterator[str]:
    """The client's classes and methods with their docstrings."""
    from geval import client

    yield "# Python client"
    yield paragraph(inspect.getdoc(client) or "")
    for name in ("Client", "Project", "Run", "ApiError"):
        yield from documented(name, getattr(client, name))


def documented(name: str, item: Any) -> Iterator[str]:
    """A function, or a class with its methods: signatures and docstrings."""
    yield f"## {name}"
    if inspect.isfunction(item):
        yield signed(item)
    yield paragraph(inspect.getdoc(item) or "")
    for method, member in vars(item).items():
        is_property = isinstance(member, property | cached_property)
        if not method.startswith("_") and (is_property or inspect.isfunction(member)):
            yield f"### {name}.{method}"
            if not is_property:
                yield signed(member)
            yield paragraph(inspect.getdoc(member) or "")


def signed(function: Callable[..., Any]) -> str:
    """A function's signature, a line for each parameter, without the modules of types."""
    by_name = inspect.signature(function).parameters
    parameters = [one for name, one in by_name.items() if name != "self"]
    listed = [str(one) for one in parameters]
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        listed.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    inner = "".join(f"\n    {one}," for one in listed) + "\n" * bool(listed)
    shown = re.sub(r"<(?:function )?([\w.]+)[^>]*>|\b(?:[a-z]+\.)+(?=[A-Z])", r"\1", inner)
    return f"```python\n{function.__name__}({shown})\n```"


def paragraph(text: str) -> str:
    """A docstring as Markdown: its indented parts and examples stay as they are."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```text\n{part}\n```" if re.search(r"^(?: {4}|\w+:$|>>> )", part, re.M) else part
        for part in parts
    )


def in_cells(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
