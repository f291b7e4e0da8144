"""The client for programs with `async`: the same operations, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from geval.client.blocking import Client, Logging
from geval.client.operations import ProjectOperations, SiteOperations
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
    ApiError,
    Awaiting,
    Request,
    Written,
    failed_probe,
    pause_before_next,
    probe_request,
    refusal,
    whole_file,
)

if TYPE_CHECKING:
    from typing import Unpack

    import httpx2

    from geval.client.outbox import Outbox
    from geval.client.shapes import RunIn, RunOut

# A file may be larger than memory.
PIECE = 2**16


@dataclass(frozen=True)
class AsyncClient(SiteOperations, Logging, Awaiting):
    """A site and a token. Close it with `async with`, or `await client.close()`."""

    base_url: str
    token: str = field(repr=False)
    timeout: float = SECONDS

    @property
    def client(self) -> AsyncClient:
        return self

    @cached_property
    def _http(self) -> httpx2.AsyncClient:
        import httpx2

        return httpx2.AsyncClient(timeout=self.timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    def project(self, slug: str) -> AsyncProject:
        """A project by its short name; sends no request."""
        return AsyncProject(self, slug)

    async def flush(self, seconds: float = 30.0) -> bool:
        """Send what was logged; returns whether the site has taken or refused all of it."""
        return await asyncio.to_thread(self._outbox.flush, seconds)

    @cached_property
    def _outbox(self) -> Outbox:
        """Return the queue of logged rows; a thread sends them and waits for replies."""
        return Client(self.base_url, self.token, self.timeout)._outbox

    async def _read_answer(self, request: Request[Any]) -> Any:
        """The JSON of a reply; waits for a probe of an endpoint that it needs.

        Raises:
            ApiError: the site refused.
            OSError: it does not answer.
        """
        while True:
            try:
                return await self._read(request)
            except ApiError as error:
                if not (probe := error.probe):
                    raise
            await self.wait_for_probe(probe)

    async def _read_pages(self, request: Request[Any]) -> AsyncIterator[Any]:
        """All items of a list, page by page."""
        cursor: int | None = 0
        while cursor is not None:
            page = await self._read_answer(request.at(cursor))
            for item in page["items"]:
                yield item
            cursor = page["next"]

    async def _read_lines(self, request: Request[Any]) -> AsyncIterator[Any]:
        """The objects of a reply in lines, as they arrive."""
        with request.written(self.token) as written:
            async with self._open(written) as response:
                async for line in response.aiter_lines():
                    yield json.loads(line)

    async def _save(self, request: Request[Path]) -> Path:
        """Write a reply to a file; return its path."""
        target = Path(request.to)
        with request.written(self.token) as written:
            async with self._open(written) as response:
                with whole_file(target) as file:
                    async for piece in response.aiter_bytes():
                        file.write(piece)
        return target

    async def wait_for_probe(self, address: str, *, every: float = 0.5) -> dict[str, Any]:
        """The findings of a probe, once a worker has made it.

        Raises:
            ApiError: the endpoint does not answer.
        """
        while True:
            probe = await self._read(probe_request(address))
            if probe["state"] == "done":
                return dict(probe["findings"])
            if probe["state"] == "failed":
                raise failed_probe(probe["message"])
            await asyncio.sleep(every)

    async def _read(self, request: Request[Any]) -> Any:
        attempt = 1
        with request.written(self.token) as written:
            while True:
                try:
                    async with self._open(written) as response:
                        content = await response.aread()
                    return json.loads(content) if content else None
                except (OSError, ApiError) as error:
                    pause = pause_before_next(error, attempt, written.content)
                await asyncio.sleep(pause)
                attempt += 1

    @contextlib.asynccontextmanager
    async def _open(self, written: Written) -> AsyncIterator[httpx2.Response]:
        import httpx2

        try:
            async with self._http.stream(
                written.method,
                f"{self.base_url.rstrip('/')}{written.address}",
                headers=dict(written.headers),
                content=None if written.content is None else _pieces(written.content),
            ) as response:
                if response.status_code >= 400:
                    raise refusal(
                        response.status_code,
                        response.reason_phrase,
                        await response.aread(),
                        response.headers.get("Retry-After", ""),
                    )
                yield response
        except httpx2.TransportError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error


async def _pieces(content: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := content.read(PIECE):
        yield piece


@dataclass(frozen=True)
class AsyncProject(ProjectOperations, Awaiting):
    """One project of a site."""

    client: AsyncClient
    slug: str

    async def push(self, evaluation: Pushed) -> dict[str, dict[str, Any]]:
        """As `Project.push`."""
        return {
            name: await getattr(self, f"load_{name}")(rows)
            for name, rows in uploads_of(evaluation).items()
        }

    async def pull(self) -> Pulled:
        """As `Project.pull`."""
        return Contents(
            await self.list_criteria(),
            await self.list_judges(),
            [each async for each in self.list_documents()],
            [each async for each in self.list_outputs()],
            [each async for each in self.get_ratings()],
            [each async for each in self.get_preferences()],
            [each async for each in self.get_scores()],
            [each async for each in self.get_choices()],
        ).pulled()

    async def probe(self, endpoint: int, model: str) -> dict[str, Any]:
        """As `Project.probe`."""
        asked = await self.probe_endpoint(endpoint, model)
        return await self.client.wait_for_probe(asked["address"])

    async def start_run(self, judge: str | int, **more: Unpack[RunIn]) -> AsyncRun:
        """As `Project.start_run`."""
        if isinstance(judge, str):
            judge = newest_judge(await self.list_judges(), judge, self.slug)
        return AsyncRun(self, (await self.make_run(judge, **more))["id"])

    async def report(self, **options: Any) -> dict[str, Any]:
        """As `Project.report`."""
        while True:
            report: Any = await self.get_report(**options)
            if is_report(report):
                return dict(report)
            await asyncio.sleep(REPORT_SECONDS)

    async def report_frame(self, kind: Frames = "pandas", **options: Any) -> Any:
        """As `Project.report_frame`."""
        return frame_of(await self.report(**options), kind)


@dataclass(frozen=True)
class AsyncRun:
    """One run of a judge; its methods are those of `Run`, awaited."""

    project: AsyncProject
    id: int

    async def status(self) -> RunOut:
        return await self.project.get_run(self.id)

    async def pause(self) -> bool:
        return (await self.project.pause_run(self.id))["done"]

    async def cancel(self) -> bool:
        return (await self.project.cancel_run(self.id))["done"]

    async def resume(self, *, retry_failed: bool = False) -> bool:
        return (await self.project.resume_run(self.id, retry_failed=retry_failed))["done"]

    async def wait(self, *, every: float = 1.0, progress: bool | IO[str] = True) -> RunOut:
        """As `Run.wait`."""
        with progress_of_run(progress) as is_over:
            while not is_over(status := await self.status()):
                await asyncio.sleep(every)
            return status
