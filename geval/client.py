"""A small client of the HTTP API that needs only the standard library.

from geval.client import Client

site = Client("https://geval.example.org", token="geval_…")
project = site.project("mine")
project.upload_outputs("outputs.jsonl")
run = project.start_run("G-Eval mini")
run.wait()
frame = project.report_frame()

A program logs what its models write, without waiting for the site:

site.log("mine", doc_id="q17", system="bot-3", source=question, output=answer)
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Literal, Protocol
from urllib.parse import quote, urlencode, urlsplit

from geval.outbox import NotNowError, Outbox, RefusedError

Frames = Literal["pandas", "polars"]
Kind = Literal["outputs", "ratings", "preferences", "scores"]
Rows = str | Path | Iterable[Mapping[str, Any]]
SECONDS = 120.0
ATTEMPTS = 3
# Between two looks whether a worker has computed a large report.
REPORT_SECONDS = 2.0
PASSING = frozenset({429, 502, 503, 504})


class ApiError(Exception):
    """The site refused a request: the status, its message, each error with its place, and the
    `questions` about columns that can be read in several ways."""

    def __init__(
        self, status: int, problem: Mapping[str, Any], *, retry_after: float = 0.0
    ) -> None:
        self.status = status
        self.retry_after = retry_after
        self.title = str(problem.get("title", ""))
        self.probe = str(problem.get("probe", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, Any]] = list(problem.get("errors", []))
        self.questions: list[dict[str, Any]] = list(problem.get("questions", []))
        lines = [
            ": ".join(
                str(error[name])
                for name in ("line", "at", "message")
                if error.get(name) not in (None, "", 0)
            )
            for error in self.errors[:5]
        ]
        lines += [
            f"{choice['label']} ({', '.join(choice['columns'])}): {choice['gives']}"
            for question in self.questions
            for choice in question["choices"]
        ]
        super().__init__("\n".join([f"{status} {self.title}: {self.detail}", *lines]))


class Pushed(Protocol):
    """What `push` takes: rows of uploads, by their kind."""

    def to_tables(self) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...


@dataclass(frozen=True)
class Client:
    """A site and a token. Every call opens a new connection, so that threads can share a client."""

    base_url: str
    token: str
    timeout: float = SECONDS

    def project(self, slug: str) -> Project:
        """A project by its short name; sends no request."""
        return Project(self, slug)

    def projects(self) -> list[dict[str, Any]]:
        """All projects that the token can access, with their counts."""
        return list(self.pages("/projects"))

    def make_project(self, name: str, description: str = "") -> Project:
        """Create a project, owned by the token's user. The site chooses its short name,
        `project.slug`."""
        made = self.call("POST", "/projects", {"name": name, "description": description})
        return self.project(made["slug"])

    def log(
        self,
        project: str | Project,
        *,
        system: str,
        output: str | None = None,
        source: str | None = None,
        doc_id: str | None = None,
        **more: Any,
    ) -> None:
        """Have an output sent to a project soon, by a thread of its own; never waits or raises.

        Args:
            project: it, or its short name.
            doc_id: without one, documents are distinguished by their source.
            more: other columns of uploads, such as `context`, `references`, `session_id` or
                `turns` of a conversation.
        """
        row = {"doc_id": doc_id, "system_id": system, "source": source, "output": output, **more}
        slug = project.slug if isinstance(project, Project) else project
        self._outbox.put(slug, {name: value for name, value in row.items() if value is not None})

    def flush(self, seconds: float = 30.0) -> bool:
        """Send what was logged; returns whether the site has taken or refused all of it."""
        return self._outbox.flush(seconds)

    @property
    def dropped(self) -> int:
        """How many logged rows were lost: the site refused them, or too many waited."""
        return self._outbox.dropped

    @cached_property
    def _outbox(self) -> Outbox:
        return Outbox(self._send_logged)

    def _send_logged(self, slug: str, lines: Sequence[bytes]) -> None:
        try:
            self.project(slug).send_lines("outputs", lines)
        except ApiError as error:
            if _may_pass(error):
                raise NotNowError from error
            listed = frozenset(int(one["line"]) for one in error.errors if one.get("line"))
            raise RefusedError(str(error), listed) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotNowError from error

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All items of a list, page by page."""
        cursor: Any = 0
        while cursor is not None:
            found = self.call(
                "GET", f"{path}?{urlencode({**query, 'cursor': cursor, 'limit': 1000})}"
            )
            yield from found["items"]
            cursor = found["next"]

    def call(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json"
    ) -> Any:
        """Send a request; returns the JSON of its response.

        If the site does not answer or asks to wait, the request is repeated with the same
        idempotency key, so that changes happen only once.

        Raises:
            ApiError: the site refused.
            OSError: it does not answer.
        """
        key = uuid.uuid4().hex if method != "GET" else ""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._open(method, path, body, content_type, key) as response:
                    content = response.read()
                return json.loads(content) if content else None
            except (OSError, ApiError) as error:
                if attempt == ATTEMPTS or not _may_pass(error):
                    raise
                if hasattr(body, "seek"):
                    body.seek(0)
                time.sleep(getattr(error, "retry_after", 0) or 0.5 * 2**attempt)
        raise AssertionError  # the last attempt returns or raises

    def wait_for_probe(self, address: str, *, every: float = 0.5) -> dict[str, Any]:
        """The findings of a probe, once a worker has made it.

        Raises:
            ApiError: the endpoint does not answer.
        """
        while True:
            found: dict[str, Any] = self.call("GET", address.removeprefix("/api/v1"))
            if found["state"] == "done":
                return dict(found["findings"])
            if found["state"] == "failed":
                raise ApiError(
                    502, {"title": "The endpoint did not answer", "detail": found["message"]}
                )
            time.sleep(every)

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """The objects of a JSON Lines response, as they arrive."""
        with self._open("GET", path, None, "") as response:
            for line in response:
                yield json.loads(line)

    @contextlib.contextmanager
    def _open(
        self, method: str, path: str, body: Any, content_type: str, key: str = ""
    ) -> Iterator[http.client.HTTPResponse]:
        parts = urlsplit(self.base_url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(parts.netloc, timeout=self.timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        if body is not None:
            headers["Content-Type"] = content_type
            if content_type == "application/json":
                body = json.dumps(body).encode()
            else:  # a file: with its length, since few servers accept a body without
                headers["Content-Length"] = str(os.fstat(body.fileno()).st_size)
        try:
            connection.request(
                method, f"{parts.path.rstrip('/')}/api/v1{path}", body=body, headers=headers
            )
            response = connection.getresponse()
            if response.status >= 400:
                wait = response.headers.get("Retry-After", "")
                raise ApiError(
                    response.status,
                    _problem(response),
                    retry_after=float(wait) if wait.isdigit() else 0.0,
                )
            yield response
        finally:
            connection.close()


def _may_pass(error: OSError | ApiError) -> bool:
    """Whether the same request can succeed a little later."""
    if isinstance(error, ApiError):
        return error.status in PASSING or error.title == "Request in progress"
    return True


def _problem(response: http.client.HTTPResponse) -> Mapping[str, Any]:
    content = response.read()
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    return (
        found
        if isinstance(found, dict)
        else {"title": response.reason, "detail": content[:200].decode("utf-8", "replace")}
    )


@dataclass(frozen=True)
class Project:
    """One project of a site."""

    client: Client
    slug: str

    @property
    def path(self) -> str:
        return f"/projects/{quote(self.slug, safe='')}"

    def info(self) -> dict[str, Any]:
        """Name, description, counts."""
        info: dict[str, Any] = self.client.call("GET", self.path)
        return info

    def upload(
        self,
        rows: Rows,
        *,
        kind: Kind = "outputs",
        columns: Mapping[str, str] | None = None,
        scales: Mapping[str, str] | None = None,
        check: bool = False,
        **more: str,
    ) -> dict[str, Any]:
        """Load a table as it comes: outputs, ratings by people and scores of judges in columns.

        Args:
            kind: of rows in the form of the other uploads, instead of a table.
            columns: the meaning of columns that are not recognised, such as
                `{"Note_Anna": 'ratings["quality","Anna"]'}`; "" leaves one out.
            scales: of new criteria, such as `{"quality": "1-5"}`; otherwise guessed.
            check: a dry run: `contents` of what it returns says what would exist.
            more: `judge`, `annotator`, `criterion`, `rate` for rows that do not say theirs; the
                `sheet` of a workbook.

        Raises:
            ApiError: with `questions` if columns can be read in several ways; answer with
                `columns`.
        """
        said = {
            "columns": [f"{name}={target}" for name, target in (columns or {}).items()],
            "scale": [f"{name}={scale}" for name, scale in (scales or {}).items()],
        }
        return self._upload(kind, rows, **said, check="true" if check else "", **more)

    def upload_outputs(self, rows: Rows, *, rate: str = "") -> dict[str, Any]:
        """Load outputs: a file that the upload page accepts, or dictionaries: `doc_id, system_id,
        source, output`, or `turns` of a conversation.

        Args:
            rate: what of conversations is rated: `reply`, `session`, or a role such as `assistant`.
        """
        return self._upload("outputs", rows, rate=rate)

    def upload_ratings(self, rows: Rows) -> dict[str, Any]:
        """Load ratings: `doc_id, system_id, criterion, annotator, score`."""
        return self._upload("ratings", rows)

    def upload_preferences(self, rows: Rows) -> dict[str, Any]:
        """Load preferences: `doc_id, system_a, system_b, annotator, winner`."""
        return self._upload("preferences", rows)

    def upload_scores(
        self, rows: Rows, *, judge: str = "imported", criterion: str = ""
    ) -> dict[str, Any]:
        """Load scores of judges that ran elsewhere: `doc_id, system_id, criterion, judge,
        score`."""
        return self._upload("scores", rows, judge=judge, criterion=criterion)

    def push(self, evaluation: Pushed) -> dict[str, dict[str, Any]]:
        """Load what `geval.evaluate` judged: outputs, people's ratings, and the judge's scores.

        What the project has already is not loaded twice.

        Raises:
            ApiError: the site refused; what came before is loaded.
            ValueError: the outputs are turns of conversations; upload their file instead.
        """
        loaded = {}
        for name, rows in evaluation.to_tables().items():
            if rows:
                loaded[name] = self._upload(name, rows)
        return loaded

    def documents(self, words: str = "") -> Iterator[dict[str, Any]]:
        """Documents, optionally only those that contain some words."""
        return self.client.pages(f"{self.path}/documents", q=words)

    def conversation(self, document: int) -> dict[str, Any]:
        """The `turns` of a document's conversation, and the number of the one that is `rated`."""
        return dict(self.client.call("GET", f"{self.path}/documents/{document}/conversation"))

    def outputs(self, **which: str) -> Iterator[dict[str, Any]]:
        """Candidate outputs, optionally of one `doc_id` or `system_id`."""
        return self.client.pages(f"{self.path}/outputs", **which)

    def ratings(self) -> Iterator[dict[str, Any]]:
        """All ratings of people."""
        return self.client.lines(f"{self.path}/ratings")

    def scores(self) -> Iterator[dict[str, Any]]:
        """All scores of all judges."""
        return self.client.lines(f"{self.path}/scores")

    def judges(self) -> list[dict[str, Any]]:
        """All judges with all their versions."""
        judges: list[dict[str, Any]] = self.client.call("GET", f"{self.path}/judges")
        return judges

    def make_judge(self, name: str, **fields: Any) -> dict[str, Any]:
        """Create a judge from `kind` and `settings`, or `endpoint`, `model` and so on
        (docs/api.md).

        If the site has to probe the endpoint first, this waits for the result.
        """
        return self._judge("POST", "judges", {"name": name, **fields})

    def change_judge(self, judge: int, name: str, **fields: Any) -> dict[str, Any]:
        """Change a judge, all of it: what is left out gets its default. Once runs have used it,
        this creates a new version, which is returned. Waits for a probe as `make_judge` does."""
        return self._judge("PUT", f"judges/{judge}", {"name": name, **fields})

    def _judge(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        while True:
            try:
                judge: dict[str, Any] = self.client.call(method, f"{self.path}/{path}", body)
                return judge
            except ApiError as error:
                if not error.probe:
                    raise
                self.client.wait_for_probe(error.probe)

    def probe(self, endpoint: int, model: str) -> dict[str, Any]:
        """Find out what an endpoint can do with a model; waits until a worker has probed it.

        Raises:
            ApiError: the endpoint does not answer.
        """
        started = self.client.call(
            "POST", f"{self.path}/endpoints/{endpoint}/probe", {"model": model}
        )
        return self.client.wait_for_probe(started["address"])

    def make_endpoint(self, base_url: str, **fields: Any) -> dict[str, Any]:
        """Create an endpoint from `key` or `key_env` and so on (docs/api.md)."""
        endpoint: dict[str, Any] = self.client.call(
            "POST", f"{self.path}/endpoints", {"base_url": base_url, **fields}
        )
        return endpoint

    def start_run(self, judge: str | int, **fields: Any) -> Run:
        """Start a run of a judge, by name (its newest version) or id; `criteria`, `fresh`,
        `budget`, `transport`.

        Raises:
            LookupError: there is no judge with that name.
        """
        if isinstance(judge, str):
            named = [
                one
                for one in self.judges()
                if judge in (one["name"], one["label"]) and not one["retired_at"]
            ]
            if not named:
                raise LookupError(f"There is no judge {judge!r} in {self.slug}.")
            judge = max(named, key=lambda one: one["version"])["id"]
        made = self.client.call("POST", f"{self.path}/runs", {"judge": judge, **fields})
        return Run(self, made["id"])

    def download(self, path: str | Path, name: str = "argilla.json") -> Path:
        """Write outputs with their ratings and each judge's newest scores into a file, which
        `geval.measure` and uploads read.

        Args:
            name: of the form: `argilla.json`, `label-studio.json` or `hugging-face.zip`.
        """
        target = Path(path)
        with (
            self.client._open("GET", f"{self.path}/exports/{name}", None, "") as response,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(response, file)
        return target

    def report(self, **options: str) -> dict[str, Any]:
        """The whole report; `level`, `coefficient`, `over`, `documents`.

        A large project's first report is waited for. Later reports with `stale` are the last
        numbers, while a worker computes new ones.
        """
        while True:
            report: dict[str, Any] = self.client.call(
                "GET", f"{self.path}/report?{urlencode(options)}"
            )
            if "criteria" in report:
                return report
            time.sleep(REPORT_SECONDS)

    def report_frame(self, kind: Frames = "pandas", **options: str) -> Any:
        """The report's correlations as a data frame: a row for each criterion, judge, coefficient
        and level."""
        rows = report_rows(self.report(**options))
        if kind == "polars":
            import polars

            return polars.DataFrame(rows, infer_schema_length=None)
        import pandas

        return pandas.DataFrame(rows)

    def _upload(self, name: str, rows: Rows, **query: str | list[str]) -> dict[str, Any]:
        """Send a file unchanged, or rows as JSON Lines; if there is any error, nothing is loaded.

        Raises:
            ApiError: with an error for each invalid line.
        """
        if isinstance(rows, str | Path):
            path = self._loading(name, query)
            with Path(rows).open("rb") as file:
                return dict(
                    self.client.call("POST", path, file, content_type="application/octet-stream")
                )
        return self.send_lines(name, (json.dumps(dict(row)).encode() for row in rows), **query)

    def send_lines(
        self, name: str, lines: Iterable[bytes], **query: str | list[str]
    ) -> dict[str, Any]:
        """Load lines of JSON, each a row of `outputs`, `ratings`, `preferences` or `scores`."""
        with tempfile.TemporaryFile() as file:
            file.writelines(line + b"\n" for line in lines)
            file.seek(0)
            path = self._loading(name, query)
            return dict(self.client.call("POST", path, file, content_type="application/x-ndjson"))

    def _loading(self, name: str, query: Mapping[str, str | list[str]]) -> str:
        given = {key: value for key, value in query.items() if value}
        return f"{self.path}/{name}?{urlencode(given, doseq=True)}"


@dataclass(frozen=True)
class Run:
    """One run of a judge."""

    project: Project
    id: int

    def status(self) -> dict[str, Any]:
        """State, message and counts."""
        status: dict[str, Any] = self.project.client.call(
            "GET", f"{self.project.path}/runs/{self.id}"
        )
        return status

    def pause(self) -> bool:
        return self._do("pause")

    def cancel(self) -> bool:
        return self._do("cancel")

    def resume(self, *, retry_failed: bool = False) -> bool:
        return self._do("resume", {"retry_failed": retry_failed})

    def wait(self, *, every: float = 1.0, progress: bool | IO[str] = True) -> dict[str, Any]:
        """Wait until the run is over or paused; returns its last status. Shows a progress bar on
        the terminal.

        Args:
            every: seconds between two requests.
            progress: whether, or where, to show the bar.
        """
        from tqdm import tqdm

        shown = progress if not isinstance(progress, bool) else sys.stderr
        with tqdm(total=None, unit="item", file=shown, disable=progress is False) as bar:
            while True:
                status = self.status()
                bar.total = status["items"]
                bar.update(status["done"] + status["failed"] - bar.n)
                if status["state"] not in ("preparing", "running"):
                    return status
                time.sleep(every)

    def _do(self, what: str, body: Any = None) -> bool:
        return bool(
            self.project.client.call("POST", f"{self.project.path}/runs/{self.id}/{what}", body)[
                "done"
            ]
        )


def report_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The correlations of a report's JSON as flat rows."""
    rows = []
    for criterion, found in report["criteria"].items():
        for judge, numbers in found["judges"].items():
            for coefficient in ("pearson", "spearman", "kendall"):
                for level, estimate in numbers[coefficient].items():
                    if isinstance(estimate, dict) and "value" in estimate:
                        low, high = estimate.get("ci") or (None, None)
                        rows.append(
                            {
                                "criterion": criterion,
                                "judge": judge,
                                "coefficient": coefficient,
                                "level": level,
                                "value": estimate["value"],
                                "low": low,
                                "high": high,
                                "reason": estimate.get("reason") or "",
                            }
                        )
    return rows
