"""`apply`, `diff` and `export_project --as yaml`: changes of a site by a plan, the written file,
output and exit codes, over HTTP or within the site's process.

The management commands of the same names use their own site instead.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import yaml
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from geval.client import ApiError, Client
from geval.client.requests import TOKEN_VARIABLE, no_token
from geval.files.project_fields import EndpointFields, given
from geval.llm.judge_settings import JudgeSettings
from geval.pipelines.project_files.current import REFERENCES, Current, Record, read_current, renamed
from geval.pipelines.project_files.file import SECTIONS, FormatsPart, ProjectFile, read_project_file
from geval.pipelines.project_files.planning import (
    NAMED,
    TEXTS,
    PlannedChange,
    ProjectPlan,
    is_in_use,
    plan_of,
    problems_of,
)
from geval.pipelines.project_files.reading import (
    MOST_BYTES,
    Problem,
    ProjectFileError,
    YamlDocument,
    meaning,
)
from geval.reports.options import REMOVED_WORDS
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


HEAD = "# yaml-language-server: $schema=project.schema.json\n"


def written_project(current: Current) -> str:
    """Return the file of an existing project, without its data, people's answers and keys."""
    assert current.project is not None
    info = current.project
    file = {"project": info["slug"]} | {name: info[name] for name in TEXTS}
    file["formats"] = {
        name: info[name] for name in FormatsPart.model_fields if info[name] not in ("plain", "")
    }
    for section in NAMED:
        records = filter(is_in_use, current.of(section).values())
        file[section] = {record["name"]: _part(section, record) for record in records}
    file["requirements"] = [_requirement(each) for each in current.of("requirements").values()]
    message = to_jsonable_python({name: value for name, value in file.items() if value})
    text = yaml.dump(message, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return HEAD + text


def _other_than_usual(record: Record, part: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a part of the file that differ from their defaults."""
    fields = {name: field for name, field in part.model_fields.items() if name in record}
    return {name: record[name] for name in fields if record[name] != fields[name].default}


def _part(section: str, record: Record) -> dict[str, Any]:
    if section != "judges":
        return _other_than_usual(record, SECTIONS[section])
    settings = {name: value for name, value in record["settings"].items() if value is not None}
    fields: dict[str, Any] = {"kind": record["kind"], "settings": settings}
    if record["endpoint"]:
        # The site's choices are written, so that another site judges in the same way.
        fields |= {name: record[name] for name in ("endpoint", "model")}
        fields |= _other_than_usual(record, JudgeSettings)
        fields |= {name: record[name] for name in ("mode", "temperature")}
        fields |= {name: float(fields[name]) for name in fields if name.startswith("price_")}
    return {name: value for name, value in fields.items() if value not in ({}, "")}


def _requirement(record: Record) -> dict[str, Any]:
    score = record["human_score"]
    return _other_than_usual(
        record | {"human_score": REMOVED_WORDS.get(score, score)}, SECTIONS["requirements"]
    )


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and quotes words that would be read as something
    else."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None if isinstance(meaning(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


# The fields of records that the site changes as a whole; of an endpoint all but its key, which
# stays.
_WHOLE: Mapping[str, tuple[str, ...]] = {
    "endpoints": tuple(EndpointFields.model_fields),
    "judges": ("kind", "model", "endpoint", "settings", *JudgeSettings.model_fields),
}
# A judge keeps its endpoint where the file has none.
NO_ENDPOINT = ("endpoint", "")


def make_change(client: Client, change: PlannedChange, wanted: ProjectFile) -> str:
    """Make a change; return a line that says what was done, "" if nothing was needed any more.

    Raises:
        ApiError, OSError: the site refused it, or does not answer.
    """
    section, record, project = change.section, change.record, client.project(wanted.project)
    verb = "created" if record is None else "changed" if change.differences else "restored"
    line = f"{verb} {change.what}"
    if section in ("project", "formats"):
        if record is None:
            names = {"name": wanted.project, "slug": wanted.project}
            client.request("POST", "/projects", body=names)
        if body := _changed(change):
            project.request("PUT", "" if section == "project" else "/formats", body=body)
        return line
    current = read_current(client, wanted.project)
    if section == "requirements":
        if all(each.place != change.place for each in plan_of(wanted, current).changes):
            return ""
        made = project.request("POST", "/certificates", body=body_of(change, current))
        return f"certified {change.what}: {made['outcome']}"
    body = body_of(change, current)
    if record is None:
        made = project.request("POST", f"/{section}", body=body)
        details = {"campaigns": ", a draft"}
        if section == "judges":
            details["judges"] = f" ({made['mode'] or made['kind']})"
        return line + details.get(section, "")
    address = f"/{section}/{record['id']}"
    if change.restores:
        project.request("PUT", f"{address}/retired", body={"retired": False})
    if not change.differences:
        return line
    made = project.request("PUT", address, body=body)
    is_new = section == "judges" and made["label"] != record["label"]
    return f"{line}: a new version, {made['label']}" if is_new else line


def _changed(change: PlannedChange) -> dict[str, Any]:
    """Return the file's values that differ from the current ones, as in JSON."""
    return {name: value for name, value in given(change.part).items() if name in change.differences}


def body_of(change: PlannedChange, current: Current) -> dict[str, Any]:
    """Return a request's body: of a new record the file's values, else those that differ, with
    the current ones where the site changes a record as a whole."""
    section, record = change.section, change.record
    if section == "requirements" or record is None:
        body = given(change.part)
    else:
        body = {name: record[name] for name in _WHOLE.get(section, ()) if name in record}
        if "mode" in change.differences:
            body["temperature"] = None  # another mode has its own default
        settings = body.get("settings", {}) | given(change.part).get("settings", {})
        changed = _changed(change) | ({"settings": settings} if section == "judges" else {})
        body |= {name: value for name, value in changed.items() if (name, value) != NO_ENDPOINT}
    if body.get("endpoint") == "":
        del body["endpoint"]
    if section in _WHOLE or (record is None and section != "requirements"):
        body["name"] = change.name

    def pk(kind: str, name: str, _place: Any) -> int:
        named = current.find(kind, name)
        assert named is not None
        return int(named["id"])

    return renamed(body, REFERENCES.get(section, {}), pk)
