"""`python -m geval.pipelines.github`: the program of the GitHub Action. It measures files, or
requests a report from a site; compares with the base branch; and reports in a comment, annotations
and a summary.

Everything is read from the environment (`INPUT_…` are the action's inputs), and tokens from files
that it names: no text of a pull request reaches a shell. Whoever opens a pull request writes its
files, so they are read only if they are files of the checkout and no links.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from geval.client import ApiError, Client
from geval.measuring.certifying import Certification, certify, exit_code_of, fields_named
from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement
from geval.measuring.measuring import measure
from geval.reports.verdicts.verdict import exit_code_of as exit_code_of_verdicts
from geval.reports.verdicts.verdict_table import MARK, VerdictLine, comment, verdict_lines

# 0 to 2 are the exit codes of `geval-site check`, for verdicts.
ERROR = 3
TITLE = "May the judge rate?"
SECONDS = 30.0
# How much of a quoted cell is in an error: a token is longer.
MOST_QUOTED, MOST_OF_ERROR = 30, 2000
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|“[^”]*(?:”|$)""", re.DOTALL)
MARKUP = re.compile(r"[\\\]*_~]")
# The beginnings of what GitHub makes a link of by itself: addresses, issues and commits.
LINKED = re.compile(
    r":(?=//)|www(?=\.)|#|\bGH(?=-)|\b(?=[a-f]*\d)[0-9a-f]{6}(?=[0-9a-f])", re.IGNORECASE
)
# The most comments of a pull request that are searched, a hundred per page.
MOST_PAGES = 30


@dataclass(frozen=True)
class Checked:
    """The result of a check: verdicts, requirements as lines, an exit code, and a link to more."""

    lines: list[VerdictLine]
    required: list[str]
    code: int
    link: str = ""


def main(variables: MutableMapping[str, str] = os.environ) -> int:
    """Run a check; return the exit code: 0, 1, 2 as `geval-site check`, 3 for an error."""
    try:
        inputs = _inputs(variables)
        checked = _of_site(inputs) if inputs.get("site") else _of_files(inputs, variables)
        before = None if inputs.get("site") else _of_base(inputs, variables)
    except (InputError, ApiError, OSError) as error:
        _annotate("error", QUOTED.sub(_clipped, str(error)[:MOST_OF_ERROR]))
        return ERROR
    name = inputs.get("name") or "verdicts"
    text = comment(
        inputs.get("title") or TITLE,
        _lines_as_letters(checked.lines),
        None if before is None else _lines_as_letters(before),
        required=[_as_letters(line) for line in checked.required],
        link=checked.link or _run_link(variables),
        name=name,
    )
    _append(variables.get("GITHUB_STEP_SUMMARY", ""), f"{text}\n")
    _append(variables.get("GITHUB_OUTPUT", ""), f"exit-code={checked.code}\n")
    _annotate_all(checked)
    try:
        _comment(text, MARK.format(name=name), variables, inputs["token"])
    except OSError as error:
        # The verdict counts even if the comment could not be written.
        _annotate("warning", f"The comment could not be written: {error}")
    sys.stdout.write(f"{text}\n")
    return checked.code


def _inputs(variables: MutableMapping[str, str]) -> dict[str, str]:
    """Return the inputs, and take them and the files of tokens away, so that what starts later does
    not have them."""
    inputs = {
        name.removeprefix("INPUT_").replace("-", "_").lower(): variables.pop(name).strip()
        for name in [*variables]
        if name.startswith("INPUT_")
    }
    for name in ("token", "site_token"):
        path = inputs.pop(f"{name}_file", "")
        inputs[name] = Path(path).read_text(encoding="utf-8").strip() if path else ""
        if path:
            Path(path).unlink()
    return inputs


def _files(inputs: Mapping[str, str], variables: Mapping[str, str]) -> list[str]:
    """Return the names of the files.

    Raises:
        InputError: a quote has no end; or a file is outside the checkout, or behind a link, so that
            its content is not what the pull request shows.
    """
    try:
        files = shlex.split(inputs.get("files", ""))
    except ValueError as error:
        raise InputError(f"files cannot be read: {error}. Close or remove the quote.") from None
    root = Path(variables.get("GITHUB_WORKSPACE") or ".").resolve()
    for name in files:
        path = Path.cwd().resolve() / name
        if path.resolve() != Path(os.path.normpath(path)):
            raise InputError(f"{name} is a link, or in a folder that is one; name the file itself.")
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{name} is outside the checkout; only its files are read.")
    return files


def _clipped(quoted: re.Match[str]) -> str:
    """Return a quoted text of at most 30 letters: a cell may hold what belongs in no log."""
    text = quoted[0]
    return text if len(text) <= MOST_QUOTED + 2 else f"{text[: MOST_QUOTED + 1]}…{text[-1]}"


def _lines_as_letters(lines: Sequence[VerdictLine]) -> list[VerdictLine]:
    return [
        replace(
            line,
            criterion=_as_letters(line.criterion),
            judge=_as_letters(line.judge),
            figures=tuple(each._replace(name=_as_letters(each.name)) for each in line.figures),
        )
        for line in lines
    ]


def _as_letters(name: str) -> str:
    """Return a name of a file as Markdown that makes no link of it, and nothing bold; what would
    break a table is left to `comment`."""
    return LINKED.sub("\\g<0>\u200b", MARKUP.sub(r"\\\g<0>", name))


def _listed(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _options(inputs: Mapping[str, str]) -> dict[str, Any]:
    named = {
        "human": _listed(inputs.get("human", "")),
        "judge": _listed(inputs.get("judge", "")),
        "criterion": inputs.get("criterion"),
        "document": inputs.get("document"),
        "system": inputs.get("system"),
        "group": inputs.get("group"),
    }
    return {name: value for name, value in named.items() if value}


def _of_files(inputs: Mapping[str, str], variables: Mapping[str, str]) -> Checked:
    files = _files(inputs, variables)
    if not files:
        raise InputError("Name files with ratings and scores (files), or a site and a project.")
    requirements = _listed(inputs.get("require", ""))
    measured = measure(files, **_options(inputs), by=fields_named((), requirements))
    certified = _certified(measured, requirements)
    return Checked(
        verdict_lines(measured.to_dict()),
        [line for each in certified for line in str(each).splitlines()],
        exit_code_of(certified) if certified else measured.exit_code,
    )


def _certified(measured: Measurement, requirements: Sequence[str]) -> list[Certification]:
    return certify(measured, requirements) if requirements else []


def _of_site(inputs: Mapping[str, str]) -> Checked:
    """Check a site's report; with requirements, issue a certificate for the named judge and
    criterion."""
    address, slug = inputs["site"].rstrip("/"), inputs.get("project", "")
    if not slug or not inputs.get("site_token"):
        raise InputError("A site needs its project (project) and a token (site-token).")
    project = Client(address, inputs["site_token"]).project(slug)
    ids = {
        kind: _id_of(inputs[kind], project.request("GET", path), kind)
        for kind, path in (("judge", "/judges"), ("criterion", "/criteria"))
        if inputs.get(kind)
    }
    asked = inputs.get("criterion", "").lower()
    lines = [
        line for line in verdict_lines(project.report()) if asked in ("", line.criterion.lower())
    ]
    requirements = _listed(inputs.get("require", ""))
    link = f"{address}/p/{slug}/report/"
    if "judge" in ids and not requirements:
        raise InputError("A judge of a site is named with requirements (require).")
    if not requirements:
        return Checked(lines, [], exit_code_of_verdicts([line.verdict for line in lines]), link)
    if len(ids) < 2:
        raise InputError("Requirements of a site need one judge (judge) and a criterion.")
    made = project.request("POST", "/certificates", body={**ids, "require": requirements})
    codes = {"met": 0, "not met": 1}
    outcome = [f"{inputs['judge']} on {inputs['criterion']}: {made['outcome']}"]
    return Checked(lines, outcome, codes.get(made["outcome"], 2), link)


def _id_of(name: str, listed: Sequence[Mapping[str, Any]], kind: str) -> int:
    """Return the id of the record with a name; of a judge's versions the newest."""
    ids = [int(each["id"]) for each in listed if each["name"].lower() == name.lower()]
    if not ids:
        names = ", ".join(sorted({each["name"] for each in listed})) or "none"
        raise InputError(f"The site has no {kind} {name!r} (there are: {names}).")
    return max(ids)


def _of_base(inputs: Mapping[str, str], variables: Mapping[str, str]) -> list[VerdictLine] | None:
    """Return the verdicts of the same files on the base branch; None if there is none."""
    base = variables.get("GITHUB_BASE_REF", "")
    if not base:
        return None
    with tempfile.TemporaryDirectory(prefix="geval-") as folder:
        files = []
        for number, name in enumerate(_files(inputs, variables)):
            shown = subprocess.run(
                ["git", "show", f"origin/{base}:./{name}"],
                capture_output=True,
                check=False,
            )
            if shown.returncode:
                return None
            # File names can determine the format; files in two folders may have the same name.
            path = Path(folder) / str(number) / Path(name).name
            path.parent.mkdir()
            path.write_bytes(shown.stdout)
            files.append(str(path))
        try:
            return verdict_lines(measure(files, **_options(inputs)).to_dict())
        except InputError:
            return None


def _annotate_all(checked: Checked) -> None:
    level = {0: "notice", 1: "error", 2: "warning"}[checked.code]
    for requirement in checked.required:
        _annotate(level, requirement)
    for line in checked.lines:
        named = f" ({line.judge})" if line.judge else ""
        _annotate(
            "notice" if line.is_usable else level, f"{line.criterion}: {line.verdict.label}{named}"
        )


def _annotate(level: str, message: str) -> None:
    """Print a line that the runner shows next to the check; characters that would end it are
    escaped."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    sys.stdout.write(f"::{level} title=geval-site::{escaped}\n")


def _append(path: str, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _run_link(variables: Mapping[str, str]) -> str:
    parts = [variables.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else ""


def _comment(text: str, mark: str, variables: Mapping[str, str], token: str) -> None:
    """Update the comment of the pull request, or create it."""
    number = _pull_request(variables)
    if not token or number is None:
        return
    login = _own_login(variables, token)
    issues = f"{variables['GITHUB_API_URL']}/repos/{variables['GITHUB_REPOSITORY']}/issues"
    for page in range(1, MOST_PAGES + 1):
        address = f"{issues}/{number}/comments?per_page=100&page={page}"
        comments = _call("GET", address, token)
        for each in comments:
            # People and other bots may quote the mark; their comments must not be changed.
            author, body = each["user"] or {}, each["body"] or ""
            is_ours = author.get("type") == "Bot" and author.get("login") == login
            if is_ours and body.rstrip().endswith(mark):
                _call("PATCH", f"{issues}/comments/{each['id']}", token, {"body": text})
                return
        if len(comments) < 100:
            break
    _call("POST", f"{issues}/{number}/comments", token, {"body": text})


def _own_login(variables: Mapping[str, str], token: str) -> str:
    """Return the name under which comments with this token are written; "" if GitHub does not say,
    so that no comment is taken for ours."""
    address = variables.get("GITHUB_GRAPHQL_URL", "")
    asked = {"query": "query { viewer { login } }"}
    answer = _call("POST", address, token, asked) if address else {}
    return str(((answer.get("data") or {}).get("viewer") or {}).get("login") or "")


def _pull_request(variables: Mapping[str, str]) -> int | None:
    path = variables.get("GITHUB_EVENT_PATH", "")
    if not path:
        return None
    event = json.loads(Path(path).read_text(encoding="utf-8"))
    number: int | None = event.get("pull_request", {}).get("number")
    return number


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token would go along, to whatever address it names."""

    def redirect_request(self, *_arguments: object) -> None: ...


def _call(method: str, address: str, token: str, body: Any = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 (the runner's own address)
        address,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise OSError(f"{error.code} {error.reason}") from None


if __name__ == "__main__":
    sys.exit(main())
