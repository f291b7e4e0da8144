"""Commands that need no site and no database: `geval-site check FILE…` and others."""

from collections.abc import Sequence
from importlib import import_module

# By name: what it does, and the module that does it, which is loaded once it is wanted: numpy takes
# a while.
COMMANDS = {
    "check": (
        "Whether a judge may rate, from a file of ratings and scores",
        "geval.measuring.command",
    ),
    "evaluate": (
        "Have a model rate the outputs in a file by G-Eval",
        "geval.evaluating.command",
    ),
    "improve": (
        "A better judge from a file of ratings and scores, and its proof (with --locked)",
        "geval.improving.command",
    ),
    "policy": (
        "Which outputs a judge may decide, which go to people, and what error remains",
        "geval.improving.policy_command",
    ),
    "agents": (
        "Tools for a coding agent on files, without a site (MCP)",
        "geval.agent_tools",
    ),
}
# Commands of a site that take --site: with it they need neither Django nor a database here.
ON_A_SITE = ("apply", "diff", "export_project")
# Options of Django's own command `check`, which inspects a site.
OF_DJANGO = {"--deploy", "--tag", "-t", "--list-tags", "--fail-level", "--database"}


def main(arguments: Sequence[str]) -> int:
    """Run one of `COMMANDS`, or one of `ON_A_SITE`, with its options; the exit code."""
    if arguments[0] in ON_A_SITE:
        on_a_site: int = import_module("geval.pipelines.project_files.command").run(list(arguments))
        return on_a_site
    _title, module = COMMANDS[arguments[0]]
    code: int = import_module(module).run(list(arguments[1:]))
    return code


def is_for(arguments: Sequence[str]) -> bool:
    """Whether a command line is for `main`: one of its commands, but neither Django's `check`,
    which takes no files, nor a site's `improve`, whose locked documents are in no file."""
    if arguments and arguments[0] in ON_A_SITE:
        return any(argument.partition("=")[0] == "--site" for argument in arguments[1:])
    if not arguments or arguments[0] not in COMMANDS:
        return False
    names = {argument.partition("=")[0] for argument in arguments[1:]}
    if arguments[0] == "improve":
        return "--locked" in names
    if arguments[0] != "check":
        return True
    has_files = any(not name.startswith("-") for name in names)
    return not names & OF_DJANGO and (has_files or bool(names & {"-h", "--help"}))
