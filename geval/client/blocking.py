"""The client that waits for replies; it needs only the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from geval.client.operations import ProjectOperations, SiteOperations
from geval.client.outbox import NotNowError, Outbox, RefusedError
from geval.client.pulling import Contents, Pulled
from geval.client.replies import (
    REPORT_SECONDS,
    Frames,
    Pushed,
    frame_of,
    is_report,
    newest_judge,
    progress_of_run,
    uploads_of,
)
from geval.client.requests import (
    SECONDS,
    TOKEN_VARIABLE,
    ApiError,
    Blocking,
    Request,
    Written,
    failed_probe,
    may_pass,
    no_token,
    pause_before_next,
    probe_request,
    refusal,
    whole_file,
)

if TYPE_CHECKING:
    from typing import Unpack

    from geval.client.shapes import RunIn, RunOut


class Logging:
    """The methods of both clients for logging what a program's models write."""

    @property
    def _outbox(self) -> Outbox:
        raise NotImplementedError

    def log(
        self,
        project: str | ProjectOperations,
        *,
        system: str,
        output: str | None = None,
        source: str | None = None,
        doc_id: str | None = None,
        **more: Any,
    ) -> None:
        """Send an output to a project soon, in a separate thread; never waits or raises.

        Args:
            project: it, or its short name.
            doc_id: without one, documents are distinguished by their source.
            more: other columns of uploads, such as `context`, `references`, `session_id` or
                `turns` of a conversation.
        """
        row = {"doc_id": doc_id, "system_id": system, "source": source, "output": output, **more}
        slug = project if isinstance(project, str) else project.slug
        self._outbox.put(slug, {name: value for name, value in row.items() if value is not None})

    @property
    def dropped(self) -> int:
        """How many logged rows were lost: the site refused them, or too many waited."""
        return self._outbox.dropped


@dataclass(frozen=True)
class Client(SiteOperations, Logging, Blocking):
    """A site and a token. Every call opens a new connection, so that threads can share a client."""

    # Whether an operation that needs a probe of an endpoint waits for it.
    WAITS: ClassVar[bool] = True

    base_url: str
    token: str = field(repr=False)
    timeout: float = SECONDS

    @property
    def client(self) -> Client:
        return self

    def project(self, slug: str) -> Project:
        """A project by its short name; sends no request."""
        return Project(self, slug)

    def flush(self, seconds: float = 30.0) -> bool:
        """Send what was logged; returns whether the site has taken or refused all of it."""
        return self._outbox.flush(seconds)

    @cached_property
    def _outbox(self) -> Outbox:
        return Outbox(self._send_logged)

    def _send_logged(self, slug: str, lines: Sequence[bytes]) -> None:
        try:
            self.project(slug).load_outputs(lines)
        except ApiError as error:
            if may_pass(error):
                raise NotNowError from error
            listed = frozenset(int(each["line"]) for each in error.errors if each.get("line"))
            raise RefusedError(str(error), listed) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotNowError from error

    def _read_answer(self, request: Request[Any]) -> Any:
        """The JSON of a reply; waits for a probe of an endpoint that it needs.

        Raises:
            ApiError: the site refused.
            OSError: it does not answer.
        """
        while True:
            try:
                return self._read(request)
            except ApiError as error:
                if not (self.WAITS and (probe := error.probe)):
                    raise
            self.wait_for_probe(probe)

    def _read_pages(self, request: Request[Any]) -> Iterator[Any]:
        """All items of a list, page by page."""
        cursor: int | None = 0
        while cursor is not None:
            page = self._read_answer(request.at(cursor))
            yield from page["items"]
            cursor = page["next"]

    def _read_lines(self, request: Request[Any]) -> Iterator[Any]:
        """The objects of a reply in lines, as they arrive."""
        with request.written(self.token) as written, self._open(written) as response:
            for line in response:
                yield json.loads(line)

    def _save(self, request: Request[Path]) -> Path:
        """Write a reply to a file; return its path."""
        target = Path(request.to)
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
            probe = self._read(probe_request(address))
            if probe["state"] == "done":
                return dict(probe["findings"])
            if probe["state"] == "failed":
                raise failed_probe(probe["message"])
            time.sleep(every)

    def _read(self, request: Request[Any]) -> Any:
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
class Project(ProjectOperations, Blocking):
    """One project of a site."""

    client: Client
    slug: str

    def push(self, evaluation: Pushed) -> dict[str, dict[str, Any]]:
        """Load what `geval.evaluate` judged: outputs, people's ratings, and the judge's scores.

        What the project has already is not loaded twice.

        Raises:
            ApiError: the site refused; what came before is loaded.
            ValueError: the outputs are turns of conversations; upload their file instead.
        """
        return {
            name: getattr(self, f"load_{name}")(rows)
            for name, rows in uploads_of(evaluation).items()
        }

    def pull(self) -> Pulled:
        """Outputs, ratings, preferences and scores, as `geval.measure` takes them.

        Ratings of locked documents stay on the site until its last look.

        Raises:
            ApiError: the site refused.
        """
        return Contents(
            self.list_criteria(),
            self.list_judges(),
            self.list_documents(),
            self.list_outputs(),
            self.get_ratings(),
            self.get_preferences(),
            self.get_scores(),
            self.get_choices(),
        ).pulled()

    def probe(self, endpoint: int, model: str) -> dict[str, Any]:
        """Find out what an endpoint can do with a model; waits until a worker has probed it.

        Raises:
            ApiError: the endpoint does not answer.
        """
        return self.client.wait_for_probe(self.probe_endpoint(endpoint, model)["address"])

    def start_run(self, judge: str | int, **more: Unpack[RunIn]) -> Run:
        """Start a run of a judge, by name (its newest version) or id; `criteria`, `fresh`,
        `budget`, `transport`.

        Raises:
            LookupError: there is no judge with that name.
        """
        if isinstance(judge, str):
            judge = newest_judge(self.list_judges(), judge, self.slug)
        return Run(self, self.make_run(judge, **more)["id"])

    def report(self, **options: Any) -> dict[str, Any]:
        """The whole report; `level`, `coefficient`, `over`, `human_score`, `documents`, `round`.

        A large project's first report is waited for. Later reports with `stale` are the last
        numbers, while a worker computes new ones.
        """
        while True:
            report: Any = self.get_report(**options)
            if is_report(report):
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

    def status(self) -> RunOut:
        """State, message and counts."""
        return self.project.get_run(self.id)

    def pause(self) -> bool:
        return self.project.pause_run(self.id)["done"]

    def cancel(self) -> bool:
        return self.project.cancel_run(self.id)["done"]

    def resume(self, *, retry_failed: bool = False) -> bool:
        return self.project.resume_run(self.id, retry_failed=retry_failed)["done"]

    def wait(self, *, every: float = 1.0, progress: bool | IO[str] = True) -> RunOut:
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
        ApiError: the site refused, or has no such project.
        OSError: it does not answer.

    >>> import geval
    >>> geval.pull("https://geval.example.org", "mine", token="")
    Traceback (most recent call last):
    ValueError: GEVAL_TOKEN is not set; put a token of https://geval.example.org there...
    """
    given = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    if not given:
        raise ValueError(no_token(site))
    return Client(site, token=given).project(project).pull()
