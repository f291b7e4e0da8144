"""`make bench-outages`: an endpoint that answered is away in twenty ways for 2, 20 and 60 s; nobody
touches anything, and each run ends without a failed item within twice the outage.

Twenty runs at once, each with an endpoint of its own, which is away from its third second on, by
one worker of the site, and one whose endpoint is not. A line shows how much later than that one a
run ended, in times the outage (QUICK=1: the outage of 2 s alone).
Where only rate limits were met, ten seconds are allowed as well: the pace that held is tried again.
"""

import argparse
import asyncio
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.site import Worker, temporary_site, wait_for_workers

OUTAGES, BEGINS, LATENCY = (2.0, 20.0, 60.0), 3.0, 0.4
ITEMS, IN_FLIGHT, GOAL = 96, 4, 2.0
# After rate limits the pace is tried again within so many seconds.
AFTER_LIMITS = 10.0
REPLY = {
    "model": "judge",
    "choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1},
}
REFUSED = json.dumps({"error": {"message": "not now", "type": "server_error"}}).encode()
ERROR_IN_BODY = json.dumps({"error": {"message": "no upstream", "code": 503}}).encode()
PAGE = b"<html><body>We will be back soon</body></html>"
# Status, headers and body; or what happens to the connection.
WAYS: dict[str, tuple[int, str, bytes] | str] = {
    "500": (500, "", REFUSED),
    "502 with a page": (502, "", PAGE),
    "503": (503, "", REFUSED),
    "503, Retry-After": (503, "after", REFUSED),
    "504 without a body": (504, "", b""),
    "529": (529, "", REFUSED),
    "408": (408, "", REFUSED),
    "429": (429, "", REFUSED),
    "429, Retry-After": (429, "after", REFUSED),
    "401": (401, "", REFUSED),
    "403 with a page": (403, "", PAGE),
    "404 with a page": (404, "", PAGE),
    "307 to a page": (307, "Location: /sign-in", b""),
    "200 with a page": (200, "", PAGE),
    "200 without a body": (200, "", b""),
    "200 with a list": (200, "", b"[]"),
    "200 with an error": (200, "", ERROR_IN_BODY),
    "half a reply": (200, "half", json.dumps(REPLY).encode()),
    "closed without a reply": "close",
    "silent": "hang",
}
# The same run beside them, whose endpoint is not away.
CLEAN = "none"


@dataclass
class Endpoint:
    """A server that answers, and from its third second on is away in a way for some seconds."""

    way: str
    seconds: float
    began: float = float("inf")
    port: int = 0
    calls: int = field(default=0)

    @property
    def until(self) -> float:
        return self.began + BEGINS + self.seconds

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().split("\r\n")
                lengths = [int(line[15:]) for line in lines if line.startswith("content-length:")]
                await reader.readexactly(sum(lengths))
                self.calls += 1
                self.began = min(self.began, time.monotonic())
                if not await self._answer(writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client left
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> bool:
        """Answer a call; False if the connection ends."""
        left = self.until - time.monotonic()
        is_away = 0 < left <= self.seconds and self.way != CLEAN
        way = WAYS[self.way] if is_away else (200, "", json.dumps(REPLY).encode())
        if way == "close":
            return False
        if way == "hang":
            await asyncio.sleep(left)
            return False
        assert not isinstance(way, str)
        await asyncio.sleep(0.02 if is_away else LATENCY)
        status, header, body = way
        size = 2 * len(body) if header == "half" else len(body)
        after = f"Retry-After: {max(1, round(left))}" if header == "after" else header
        more = f"{after}\r\n" if ":" in after else ""
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}"
        writer.write(f"{head}Content-Length: {size}\r\n\r\n".encode() + body)
        await writer.drain()
        return header != "half"


def serve_all(endpoints: list[Endpoint]) -> Callable[[], object]:
    """Serve endpoints in a thread; return what stops it."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def begin() -> None:
        for endpoint in endpoints:
            server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
            endpoint.port = server.sockets[0].getsockname()[1]
        ready.set()

    def run() -> None:
        loop.create_task(begin())
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    ready.wait()
    return lambda: loop.call_soon_threadsafe(loop.stop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the shortest outage")
    outages = OUTAGES[:1] if parser.parse_args().quick else OUTAGES
    missed = 0
    with temporary_site():
        project = _project()
        worker = Worker(concurrency=2 * len(WAYS))
        try:
            wait_for_workers(1)
            for seconds in outages:
                missed += _measure(project, seconds)
        finally:
            worker.stop()
    if missed:
        raise SystemExit(f"{missed} of {len(outages) * len(WAYS)} runs missed the goal.")


def _project() -> Any:
    from evaluations.models import CandidateOutput, Document, Project, System

    project = Project.objects.create(slug="outages", name="Outages")
    project.criteria.create(name="coherence", definition="One well-built whole.", position=0)
    system = System.objects.create(project=project, name="s")
    for number in range(ITEMS):
        document = Document.objects.create(project=project, doc_id=f"d{number}", source="A text")
        CandidateOutput.objects.create(document=document, system=system, text=f"Output {number}")
    return project


def _measure(project: Any, seconds: float) -> int:
    from evaluations.judging.runs.starting import start_run
    from evaluations.models import Endpoint as EndpointRow
    from evaluations.models import EvaluationRun, Judge, RunState

    endpoints = [Endpoint(way, seconds) for way in (*WAYS, CLEAN)]
    stop = serve_all(endpoints)
    runs = {}
    for endpoint in endpoints:
        name = f"{endpoint.way}, {seconds:g} s"
        row = EndpointRow.objects.create(
            project=project, name=name, base_url=f"http://127.0.0.1:{endpoint.port}/v1"
        )
        judge = Judge.objects.create(
            project=project, name=name, endpoint=row, model="judge", kind="geval", use_steps=False,
            mode="samples", samples=1, settings={}, concurrency=IN_FLIGHT, timeout_seconds=30,
        )  # fmt: skip
        runs[name] = (endpoint, start_run(judge, list(project.criteria.all())))
    ended: dict[str, float] = {}
    latest = time.monotonic() + 6 * seconds + 120
    while len(ended) < len(runs) and time.monotonic() < latest:
        time.sleep(0.5)
        states = dict(EvaluationRun.objects.values_list("pk", "state"))
        for name, (_, run) in runs.items():
            if states[run.pk] in (RunState.DONE, RunState.FAILED, RunState.CANCELLED):
                ended.setdefault(name, time.monotonic())
    stop()
    durations = {
        endpoint.way: ended.get(name, latest) - endpoint.began
        for name, (endpoint, _run) in runs.items()
    }
    missed = 0
    goals = f"at most {GOAL:g} times later, 429 {AFTER_LIMITS:g} s"
    print(f"{'an outage of':44} {seconds:5g} s  ({goals})")
    for endpoint, run in runs.values():
        late = (durations[endpoint.way] - durations[CLEAN]) / seconds
        failed = run.items.filter(state="failed").count()
        done = run.items.filter(state="done").count()
        goal = max(GOAL, AFTER_LIMITS / seconds) if "429" in endpoint.way else GOAL
        is_met = done == ITEMS and not failed and late <= goal
        missed += not is_met
        print(
            f"{endpoint.way:44} {late:7.2f} x  {done:3} of {ITEMS} done, {failed} failed,"
            f" {endpoint.calls - ITEMS:4} calls more{'' if is_met else '  MISSED'}", flush=True
        )  # fmt: skip
        if not is_met:
            run.refresh_from_db()
            print(f"    {run.state}: {run.message} {run.waits_for}")
    return missed


if __name__ == "__main__":
    main()
