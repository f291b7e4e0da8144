"""The output of `geval-site --help`: our commands, in groups; Django's own on request."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from django.core.management import get_commands

from geval.command_line import COMMANDS
from geval.texts.program import command

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "serve", "doctor"),
    "Data": ("load", "export_project", "import_project"),
    "Projects as files": ("apply", "diff"),
    "Judges": ("evaluators", "add_judge", "probe"),
    "Runs": ("judge",),
    "Results": ("report", "reproduce"),
    "Better judges": ("improve", "certify", "verify"),
    "People and projects": ("member", "create_token", "forget_person", "delete_project"),
    "The site": ("web", "worker", "mcp", "backup", "restore", "tidy"),
    "Models on this machine": ("local_llm", "standin_llm"),
}


def own_commands() -> dict[str, str]:
    """Return our installed commands, each with its app."""
    apps = {"evaluations", "assurance"}
    return {name: app for name, app in get_commands().items() if app in apps}


def help_text() -> str:
    """Return our commands by group, one per line."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    installed = own_commands()
    yield f"usage: {command('COMMAND')} [options]; `{command('COMMAND --help')}` lists its options"
    for group, names in GROUPS.items():
        present = [name for name in names if name in installed]
        if present:
            yield f"\n{group}"
            yield from (f"  {name:<15} {_summary(installed[name], name)}" for name in present)
    yield "\nWithout a site"
    yield from (f"  {name:<15} {summary}" for name, (summary, _module) in COMMANDS.items())
    yield f"\nCommands of Django, such as migrate and createsuperuser: {command('help --all')}"


def _summary(app: str, name: str) -> str:
    """Return the first sentence of a command's help, read from its source: importing commands takes
    seconds."""
    module = import_module(f"{app}.management.commands")
    tree = ast.parse((Path(module.__path__[0]) / f"{name}.py").read_text(encoding="utf-8"))
    (written,) = (
        node.value
        for command_class in tree.body
        if isinstance(command_class, ast.ClassDef) and command_class.name == "Command"
        for node in command_class.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "help"
    )
    return _constant(written).split(". ")[0].split(";")[0].rstrip(".")


def _constant(text: ast.expr) -> str:
    """Return a text in the source up to its first inserted value."""
    first = text.values[0] if isinstance(text, ast.JoinedStr) else text
    return str(ast.literal_eval(first))
