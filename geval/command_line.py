"""Commands that need no site and no database: `geval-site check FILE…`, `evaluate FILE…`."""

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
}
# Options of Django's own command `check`, which inspects a site.
OF_DJANGO = {"--deploy", "--tag", "-t", "--list-tags", "--fail-level", "--database"}


def main(arguments: Sequence[str]) -> int:
    """Run one of `COMMANDS`, with its options; the exit code."""
    _title, module = COMMANDS[arguments[0]]
    code: int = import_module(module).run(list(arguments[1:]))
    return code


def is_for(arguments: Sequence[str]) -> bool:
    """Whether a command line is for `main`: one of its commands, but not Django's `check`, which
    takes no files."""
    if not arguments or arguments[0] not in COMMANDS:
        return False
    if arguments[0] != "check":
        return True
    names = {argument.partition("=")[0] for argument in arguments[1:]}
    has_files = any(not name.startswith("-") for name in names)
    return not names & OF_DJANGO and (has_files or bool(names & {"-h", "--help"}))
