"""`apply`, `diff` and `export_project --as yaml`: their output and exit codes, for a site over
HTTP; the management commands of the same names use their own site instead."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from geval.client import ApiError, Client
from geval.client.requests import TOKEN_VARIABLE, no_token
from geval.pipelines.project_files.applying import make_change
from geval.pipelines.project_files.current import Current, read_current
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
# From a project's short name to a client of its site.
SiteOf = Callable[[str], Client]


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
        return RUN[name](lambda _project: client, options, sys.stdout)
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


def apply(site_of: SiteOf, options: Namespace, out: TextIO, *, is_whole: bool = False) -> int:
    """Make the changes; print a line for each, then what was left unchanged.

    Args:
        is_whole: the caller undoes everything if it cannot be completed.

    Raises:
        CannotError: the file cannot be applied, or the site refused a change.
    """
    client, wanted, document, plan = _planned(site_of, options.file)
    done: list[str] = []
    for number, change in enumerate(plan.changes, start=1):
        try:
            line = make_change(client, change, wanted)
        except (ApiError, OSError) as error:
            place = f"{options.file}:{document.line_of(change.place)}"
            lines = [f"{place}: stopped at {change}", f"  {error}"]
            left = [str(each) for each in plan.changes[number:]]
            for title, listed in (("Done before that:", done), ("Not done:", left)):
                if listed and not is_whole:
                    lines += [title, *(f"  {each}" for each in listed)]
            raise CannotError("\n".join(lines + ["Nothing was changed."] * is_whole)) from error
        if line:
            done.append(line)
            out.write(f"{line}\n")
            out.flush()
    _write_rest(wanted, options.file, plan, out, "; nothing was changed")
    return NOTHING


def diff(site_of: SiteOf, options: Namespace, out: TextIO, **_whole: bool) -> int:
    """Print the changes.

    Raises:
        CannotError: the file cannot be applied.
    """
    _client, wanted, _document, plan = _planned(site_of, options.file)
    for change in plan.changes:
        out.write(f"{change}\n")
    _write_rest(wanted, options.file, plan, out)
    return CHANGES if plan.changes else NOTHING


def export(site_of: SiteOf, options: Namespace, out: TextIO) -> int:
    """Write the file of a project.

    Raises:
        CannotError: there is no such project, or the file exists or cannot be written.
    """
    current = _current(site_of(options.project), options.project)
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


RUN: Mapping[str, Callable[..., int]] = {"apply": apply, "diff": diff, "export_project": export}


def _planned(site_of: SiteOf, path: str) -> tuple[Client, ProjectFile, YamlDocument, ProjectPlan]:
    """Read a file, then the state of its project; both without errors."""
    try:
        with Path(path).open("rb") as file:
            wanted, document = read_project_file(file.read(MOST_BYTES + 1), path)
    except OSError as error:
        raise CannotError(f"{path} cannot be read: {error.strerror}.") from None
    except ProjectFileError as error:
        raise CannotError(f"{error}\nNothing was changed.") from None
    client = site_of(wanted.project)
    current = _current(client, wanted.project)
    problems = [
        Problem(document.line_of(place), message) for place, message in problems_of(wanted, current)
    ]
    if problems:
        raise CannotError(f"{ProjectFileError(path, problems)}\nNothing was changed.")
    return client, wanted, document, plan_of(wanted, current)


def _current(client: Client, project: str) -> Current:
    try:
        return read_current(client, project)
    except (ApiError, OSError) as error:
        raise CannotError(f"The project cannot be read: {error}") from None


def _write_rest(
    wanted: ProjectFile, path: str, plan: ProjectPlan, out: TextIO, also: str = ""
) -> None:
    if not plan.changes:
        out.write(f"{wanted.project} is what {path} says{also}.\n")
    if plan.left_alone:
        out.write(f"Not in the file, left as it is: {', '.join(plan.left_alone)}.\n")
