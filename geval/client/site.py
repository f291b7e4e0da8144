"""A site, its projects and their runs. Requests need only the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from geval.client.pulling import Contents, Pulled
from geval.client.replies import (
    REPORT_SECONDS,
    Frames,
    Pushed,
    frame_of,
    newest_judge,
    progress_of_run,
)
from geval.client.requests import (
    ITEMS_A_PAGE,
    PREFIX,
    SECONDS,
    TOKEN_VARIABLE,
    ApiError,
    Request,
    Rows,
    Written,
    failed_probe,
    no_token,
    pause_before_next,
    refusal,
    whole_file,
)


@dataclass(frozen=True)
class Client:
    """A site and a token. Every call opens a new connection, so that threads can share a client."""

    base_url: str
    token: str = field(repr=False)
    timeout: float = SECONDS

    def project(self, slug: str) -> Project:
        """A project by its short name; sends no request."""
        return Project(self, slug)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        rows: Rows | None = None,
        to: str | Path = "",
    ) -> Any:
        """Send any request of the API; returns the JSON of the reply. If an endpoint must be probed
        first, this waits for the probe.

        Args:
            path: after `/api/v1`, such as `/projects`.
            query: parameters; those that are None are not sent.
            body: sent as JSON.
            rows: an upload: the path of a file, or dictionaries.
            to: the file that the reply is written to; its path is returned.

        Raises:
            ApiError: the site refused.
            OSError: it does not answer.
        """
        request = Request(method, path, query or {}, body, rows)
        if to:
            return self._save(request, Path(to))
        while True:
            try:
                return self._read(request)
            except ApiError as error:
                if not (probe := error.probe):
                    raise
            self.wait_for_probe(probe)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All items of a list that the API gives in pages."""
        cursor: int | None = 0
        while cursor is not None:
            place = {"cursor": cursor, "limit": ITEMS_A_PAGE}
            page = self.request("GET", path, query=query | place)
            yield from page["items"]
            cursor = page["next"]

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """The objects of a reply in lines, as they arrive."""
        with Request("GET", path).written(self.token) as written, self._open(written) as response:
            for line in response:
                yield json.loads(line)

    def log(
        self,
        project: str,
        *,
        system: str,
        output: str | None = None,
        source: str | None = None,
        doc_id: str | None = None,
        **more: Any,
    ) -> None:
        """Send an output to a project, in one request that is waited for.

        Args:
            project: its short name.
            doc_id: without one, documents are distinguished by their source.
            more: other columns of uploads, such as `context`, `references`, `session_id` or
                `turns` of a conversation.

        Raises:
            ApiError: the site refused the output.
            OSError: it cannot be reached.
        """
        row = {"doc_id": doc_id, "system_id": system, "source": source, "output": output, **more}
        sent = {name: value for name, value in row.items() if value is not None}
        self.project(project).request("POST", "/outputs", rows=[sent])

    def _save(self, request: Request, target: Path) -> Path:
        with (
            request.written(self.token) as written,
            self._open(written) as response,
            whole_file(target) as file,
        ):
            shutil.copyfileobj(response, file)
        return target

    def wait_for_probe(self, address: str, *, every: float = 0.5) -> dict[str, Any]:
        """The findings of a probe, once a worker has made it.

        Raises:
            ApiError: the endpoint does not answer.
        """
        while True:
            probe = self._read(Request("GET", address.removeprefix(PREFIX)))
            if probe["state"] == "done":
                return dict(probe["findings"])
            if probe["state"] == "failed":
                raise failed_probe(probe["message"])
            time.sleep(every)

    def _read(self, request: Request) -> Any:
        attempt = 1
        with request.written(self.token) as written:
            while True:
                try:
                    with self._open(written) as response:
                        content = response.read()
                    return json.loads(content) if content else None
                except (OSError, ApiError) as error:
                    pause = pause_before_next(error, attempt, written.content)
                time.sleep(pause)
                attempt += 1

    @contextlib.contextmanager
    def _open(self, written: Written) -> Iterator[IO[bytes]]:
        """Open a connection and return the reply's body.

        Raises:
            ApiError: the site refused.
            OSError: it does not answer.
        """
        parts = urlsplit(self.base_url)
        is_encrypted = parts.scheme == "https"
        kind = http.client.HTTPSConnection if is_encrypted else http.client.HTTPConnection
        with contextlib.closing(kind(parts.netloc, timeout=self.timeout)) as connection:
            address = f"{parts.path.rstrip('/')}{written.address}"
            connection.request(
                written.method, address, body=written.content, headers=dict(written.headers)
            )
            response = connection.getresponse()
            if response.status >= 400:
                raise refusal(
                    response.status,
                    response.reason,
                    response.read(),
                    response.headers.get("Retry-After", ""),
                )
            yield response


@dataclass(frozen=True)
class Project:
    """One project of a site. Paths of its requests come after those of the project."""

    client: Client
    slug: str

    @property
    def path(self) -> str:
        """What its addresses begin with."""
        return f"/projects/{quote(self.slug, safe='')}"

    def request(self, method: str, path: str = "", **more: Any) -> Any:
        """As `Client.request`."""
        return self.client.request(method, f"{self.path}{path}", **more)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """As `Client.pages`."""
        return self.client.pages(f"{self.path}{path}", **query)

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """As `Client.lines`."""
        return self.client.lines(f"{self.path}{path}")

    def push(self, evaluation: Pushed) -> dict[str, dict[str, Any]]:
        """Load what `geval.evaluate` judged: outputs, people's ratings, and the judge's scores.

        What the project has already is not loaded twice.

        Raises:
            ApiError: the site refused; what came before is loaded.
            ValueError: the outputs are turns of conversations; upload their file instead.
        """
        return {
            name: self.request("POST", f"/{name}", rows=rows)
            for name, rows in evaluation.to_tables().items()
            if rows
        }

    def pull(self) -> Pulled:
        """Outputs, ratings, preferences and scores, as `geval.measure` takes them.

        Ratings of locked documents stay on the site until its last look.

        Raises:
            ApiError: the site refused.
        """
        return Contents(
            self.request("GET", "/criteria"),
            self.request("GET", "/judges"),
            self.pages("/documents"),
            self.pages("/outputs"),
            self.lines("/ratings"),
            self.lines("/preferences"),
            self.lines("/scores"),
            self.lines("/choices"),
        ).pulled()

    def start_run(self, judge: str | int, **more: Any) -> Run:
        """Start a run of a judge, by name (its newest version) or id; `criteria`, `fresh`,
        `budget`, `transport`.

        Raises:
            LookupError: there is no judge with that name.
        """
        if isinstance(judge, str):
            judge = newest_judge(self.request("GET", "/judges"), judge, self.slug)
        return Run(self, self.request("POST", "/runs", body={"judge": judge, **more})["id"])

    def report(self, **options: Any) -> dict[str, Any]:
        """The whole report; `level`, `coefficient`, `over`, `human_score`, `documents`, `round`.

        A large project's first report is waited for. Later reports with `stale` are the last
        numbers, while a worker computes new ones.
        """
        while True:
            report = self.request("GET", "/report", query=options)
            # Without criteria, the reply is the progress of a worker that computes the report.
            if "criteria" in report:
                return dict(report)
            time.sleep(REPORT_SECONDS)

    def report_frame(self, kind: Frames = "pandas", **options: Any) -> Any:
        """The report's correlations as a data frame: a row for each criterion, judge, coefficient
        and level."""
        return frame_of(self.report(**options), kind)


@dataclass(frozen=True)
class Run:
    """One run of a judge."""

    project: Project
    id: int

    def status(self) -> dict[str, Any]:
        """State, message and counts."""
        return dict(self.project.request("GET", f"/runs/{self.id}"))

    def wait(self, *, every: float = 1.0, progress: bool | IO[str] = True) -> dict[str, Any]:
        """Wait until the run is over or paused; returns its last status. Shows a progress bar on
        the terminal.

        Args:
            every: seconds between two requests.
            progress: whether, or where, to show the bar.
        """
        with progress_of_run(progress) as is_over:
            while not is_over(status := self.status()):
                time.sleep(every)
            return status


# What reading a reply of something else raises.
_NOT_A_SITE = (
    AttributeError, KeyError, RecursionError, TypeError, ValueError, http.client.HTTPException,
)  # fmt: skip


def pull(site: str, project: str, *, token: str | None = None) -> Pulled:
    """The outputs, ratings, preferences and scores of a site's project, as `measure` takes them.

        result = geval.measure(geval.pull("https://geval.example.org", "mine"))

    Ratings of locked documents stay on the site until its last look, and means that a release
    states for several people are not among the ratings.

    Args:
        site: its address.
        project: its short name.
        token: by default that in the environment variable GEVAL_TOKEN.

    Raises:
        ValueError: there is no token.
        InputError: its reply is not that of a site.
        ApiError: the site refused, or has no such project.
        OSError: it does not answer.

    >>> import geval
    >>> geval.pull("https://geval.example.org", "mine", token="")
    Traceback (most recent call last):
    ValueError: GEVAL_TOKEN is not set; put a token of https://geval.example.org there...
    """
    if token is None:
        token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise ValueError(no_token(site))
    try:
        return Client(site, token=token).project(project).pull()
    except _NOT_A_SITE as error:
        from geval.measuring.inputs import InputError

        raise InputError(
            f"{site} does not answer as a site of this version does ({type(error).__name__}:"
            f" {str(error)[:100]})."
        ) from None
