"""`apply`, `diff` and `export_project --as yaml`: their output and exit codes, for a site over
HTTP; the management commands of the same names use their own site instead."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from geval.client import ApiError, Client
from geval.client.requests import TOKEN_VARIABLE, no_token
from geval.pipelines.project_files.applying import ApplyError, apply_plan, read_current
from geval.pipelines.project_files.file import ProjectFile, read_project_file
from geval.pipelines.project_files.planning import ProjectPlan, plan_of, problems_of
from geval.pipelines.project_files.reading import (
    MOST_BYTES,
    Problem,
    ProjectFileError,
    YamlDocument,
)
from geval.pipelines.project_files.writing import written_project
from geval.texts.program import command

NOTHING, CHANGES, ERROR = 0, 1, 2
SUMMARIES = {
    "apply": "Make a project what a YAML file says of its criteria, judges and campaigns",
    "diff": "Say what `apply` would change: ends with 0 (nothing), 1 (changes) or 2 (an error)",
    "export_project": "Write a project of a site as a YAML file (--as yaml)",
}


class CannotError(Exception):
    """The command cannot do something; the message has lines for the terminal."""


def add_site(parser: ArgumentParser) -> None:
    """Add the options that name a site."""
    parser.add_argument(
        "--site",
        metavar="URL",
        help="a site, over its HTTP API; without it, the one of this folder",
    )
    parser.add_argument(
        "--token-variable",
        default=TOKEN_VARIABLE,
        metavar="NAME",
        help=f"the environment variable with a token of that site (default: {TOKEN_VARIABLE})",
    )


def add_file(parser: ArgumentParser) -> None:
    """Add the options of `apply` and `diff`."""
    parser.add_argument("file", help="the project's YAML file")
    add_site(parser)


def run(arguments: Sequence[str]) -> int:
    """Run one of the commands for a site over HTTP; return the exit code."""
    name = arguments[0]
    parser = ArgumentParser(prog=command(name), description=f"{SUMMARIES[name]}.")
    if name == "export_project":
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("file", type=Path, help="what to write; it must not exist yet")
        parser.add_argument("--as", dest="form", choices=("yaml",), required=True)
        add_site(parser)
    else:
        add_file(parser)
    options = parser.parse_args(list(arguments[1:]))
    try:
        client = client_of(options)
        return RUN[name](client, options, sys.stdout)
    except CannotError as error:
        sys.stderr.write(f"{error}\n")
        return ERROR


def client_of(options: Namespace) -> Client:
    """Return a client of the named site, with the token in the environment variable.

    Raises:
        CannotError: the variable is not set.
    """
    token = os.environ.get(options.token_variable, "")
    if not token:
        raise CannotError(
            f"{no_token(options.site, options.token_variable)}, or name another variable with"
            " --token-variable."
        )
    return Client(options.site, token=token)


def apply(client: Client, options: Namespace, out: TextIO, *, is_whole: bool = False) -> int:
    """Make the changes; print a line for each, then what was left unchanged.

    Args:
        is_whole: the caller undoes everything if it cannot be completed.

    Raises:
        CannotError: the file cannot be applied, or the site refused a change.
    """
    wanted, document, plan = _planned(client, options.file)
    try:
        for line in apply_plan(client, wanted, plan):
            out.write(f"{line}\n")
            out.flush()
    except ApplyError as error:
        at = document.line_of(error.change.place)
        message = _stopped(error, is_whole=is_whole)
        raise CannotError(f"{options.file}:{at}: {message}") from error
    if not plan.changes:
        out.write(f"{wanted.project} is what {options.file} says; nothing was changed.\n")
    _write_left_alone(plan, out)
    return NOTHING


def diff(client: Client, options: Namespace, out: TextIO) -> int:
    """Print the changes.

    Raises:
        CannotError: the file cannot be applied.
    """
    wanted, _document, plan = _planned(client, options.file)
    for change in plan.changes:
        out.write(f"{change}\n")
    if not plan.changes:
        out.write(f"{wanted.project} is what {options.file} says.\n")
    _write_left_alone(plan, out)
    return CHANGES if plan.changes else NOTHING


def export(client: Client, options: Namespace, out: TextIO) -> int:
    """Write the file of a project.

    Raises:
        CannotError: there is no such project, or the file exists or cannot be written.
    """
    current = _asked(lambda: read_current(client, options.project))
    if current.project is None:
        raise CannotError(f"There is no project {options.project!r} that you have access to.")
    try:
        with Path(options.file).open("x", encoding="utf-8") as file:
            file.write(written_project(current))
    except FileExistsError:
        raise CannotError(f"{options.file} already exists; choose another file.") from None
    except OSError as error:
        raise CannotError(f"{options.file} cannot be written: {error.strerror}.") from None
    out.write(f"{options.file}: project {options.project}, without its texts and ratings.\n")
    return NOTHING


RUN: Mapping[str, Callable[[Client, Namespace, TextIO], int]] = {
    "apply": apply,
    "diff": diff,
    "export_project": export,
}


def wanted_in(path: str) -> ProjectFile:
    """Read a file before any request to a site.

    Raises:
        CannotError: lists everything that is wrong in it.
    """
    return _read(path)[0]


def _read(path: str) -> tuple[ProjectFile, YamlDocument]:
    try:
        return read_project_file(content_of(path), path)
    except ProjectFileError as error:
        raise CannotError(f"{error}\nNothing was changed.") from None


def _planned(client: Client, path: str) -> tuple[ProjectFile, YamlDocument, ProjectPlan]:
    wanted, document = _read(path)
    current = _asked(lambda: read_current(client, wanted.project))
    problems = [
        Problem(document.line_of(place), message) for place, message in problems_of(wanted, current)
    ]
    if problems:
        raise CannotError(f"{ProjectFileError(path, problems)}\nNothing was changed.")
    return wanted, document, plan_of(wanted, current)


def content_of(path: str) -> bytes:
    """Return the bytes of a file, or slightly more than the allowed size.

    Raises:
        CannotError: it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CannotError(f"{path} cannot be read: {error.strerror}.") from None


def _asked(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ApiError, OSError) as error:
        raise CannotError(f"The project cannot be read: {error}") from None


def _stopped(error: ApplyError, *, is_whole: bool) -> str:
    lines = [f"stopped at {error.change}", f"  {error}"]
    if is_whole:
        return "\n".join([*lines, "Nothing was changed."])
    lines += ["Done before that:", *(f"  {line}" for line in error.done)] if error.done else []
    lines += ["Not done:", *(f"  {change}" for change in error.left)] if error.left else []
    return "\n".join(lines)


def _write_left_alone(plan: ProjectPlan, out: TextIO) -> None:
    if plan.left_alone:
        out.write(f"Not in the file, left as it is: {', '.join(plan.left_alone)}.\n")
