"""An endpoint that answered and is lost pauses the run, which tries again by itself; no item fails
for it. An item that it alone cannot take fails, and the others go on."""

import datetime
import re
import socket
import struct
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import pytest
from django.utils import timezone

from evaluations.judging.runs.asking import Asking
from evaluations.judging.runs.batches import MOST_FAILED_LOOKS
from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.resuming import (
    FIRST_OUTAGE_WAIT,
    LONGEST_OUTAGE_WAIT,
    UNSURE_FOR,
    next_outage_wait,
    outage,
    resume_due_runs,
)
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    Batch,
    EvaluationRun,
    ItemState,
    Judge,
    ModelReply,
    Project,
    RunState,
)
from geval.llm.calls import RetryPolicy
from geval.llm.errors import EndpointError, ErrorKind
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=2, first_wait=0.01, longest_wait=0.02)
SECOND = datetime.timedelta(seconds=1)
OPEN, FAILING, CUTTING = "open", "failing", "cutting"
# What a server in front of a model says while that is away, by name: status and body.
AWAY = {
    FAILING: (503, b'{"error": {"message": "upstream is away"}}'),
    "a page": (200, b"<html><body>We will be back soon</body></html>"),
    "nothing": (200, b""),
    "a list": (200, b"[]"),
    "no key": (401, b'{"error": {"message": "unknown key"}}'),
    "forbidden": (403, b"Forbidden"),
    "not found": (404, b"<html>404</html>"),
    "moved": (307, b""),
}
UNSURE = ("no key", "forbidden", "not found", "moved")


class Door:
    """A server in front of the stand-in: lets so many calls pass, and then fails or cuts them; one
    text may be what it never takes."""

    def __init__(self, behind: str) -> None:
        self.passes, self.then, self.never = 10**9, FAILING, ""
        self.never_with = FAILING
        # How many calls it fails before it is back.
        self.again = 10**9
        # The call from which on another model answers.
        self.exchanged = 10**9
        self.calls = 0
        door, lock = self, Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                length = self.headers["Content-Length"]
                body = self.rfile.read(int(length)) if length else None
                with lock:
                    door.calls += 1
                    is_other = door.calls >= door.exchanged
                    is_away = 0 < door.calls - door.passes <= door.again
                    state = door.then if is_away else OPEN
                if door.never and body and door.never in body.decode():
                    state = door.never_with
                if state == CUTTING:
                    # Closed with a reset, as a server does that is killed.
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.connection.close()
                    self.close_connection = True
                    return
                status, reply = AWAY[FAILING if state == OPEN else state]
                if state == OPEN:
                    wanted = urllib.request.Request(
                        behind.removesuffix("/v1") + self.path,
                        body,
                        {"Content-Type": self.headers["Content-Type"]} if body else {},
                        method=self.command,
                    )
                    with urllib.request.urlopen(wanted, timeout=30) as answer:
                        status, reply = answer.status, answer.read()
                    if is_other:
                        time.sleep(0.3)  # so that results are stored before all items are judged
                        reply = re.sub(rb'"model": ?"[^"]*"', b'"model": "other"', reply)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def door(start_standin: Callable[..., StandInProcess]) -> Iterator[Door]:
    door = Door(start_standin().base_url)
    yield door
    door.close()


@pytest.fixture
def run(small_project: Project, make_judge: Callable[..., Judge], door: Door) -> EvaluationRun:
    judge = make_judge(small_project, base_url=door.address, use_steps=False, concurrency=2)
    return start_run(judge, list(small_project.criteria.all()))


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def resumed(run: EvaluationRun) -> EvaluationRun:
    EvaluationRun.objects.filter(pk=run.pk).update(resumes_at=timezone.now())
    resume_due_runs()
    return worked_on(run)


def failed(run: EvaluationRun) -> int:
    return run.items.filter(state=ItemState.FAILED).count()


@pytest.mark.parametrize("then", [*AWAY, CUTTING])
def test_a_run_waits_for_an_endpoint_that_answered_and_ends_by_itself(
    run: EvaluationRun, door: Door, then: str
) -> None:
    door.passes, door.then = 4, then

    worked_on(run)

    assert run.state == RunState.PAUSED
    assert "answered before and does not now" in run.message
    assert run.resumes_at is not None
    assert run.outage_since is not None
    assert FIRST_OUTAGE_WAIT <= run.resumes_at - run.outage_since < FIRST_OUTAGE_WAIT + SECOND
    assert (failed(run), run.scores.count()) == (0, 4)

    door.passes = 10**9
    resumed(run)

    assert (run.state, run.message, run.outage_since) == (RunState.DONE, "", None)
    assert (failed(run), run.scores.count()) == (0, 12)


def test_another_model_pauses_the_run_once(run: EvaluationRun, door: Door) -> None:
    door.exchanged = 6

    worked_on(run)

    [model, other] = run.reply_models
    assert (run.state, run.resumes_at, other) == (RunState.PAUSED, None, "other")
    assert re.match(rf"From item [5-7] on, “other” answers; before, “{model}” did\.", run.message)
    stored = run.scores.count()

    resume_run(run)
    worked_on(run)

    assert (run.state, run.message, failed(run)) == (RunState.DONE, "", 0)
    assert (run.scores.count(), run.calls) == (12, 12)
    assert stored < 12


def test_answers_that_another_worker_had_count(
    run: EvaluationRun, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.passes = 4
    worked_on(run)
    looked: list[Asking] = []
    begin = Asking.begin

    async def look_before_the_first_answer(asking: Asking) -> None:
        if looked:
            await begin(asking)
        looked.append(asking)

    monkeypatch.setattr(Asking, "begin", look_before_the_first_answer)
    door.then = "not found"

    resumed(run)

    assert run.state == RunState.PAUSED
    assert run.resumes_at is not None
    assert failed(run) == 0


@pytest.mark.parametrize("then", AWAY)
def test_a_short_outage_pauses_nothing(run: EvaluationRun, door: Door, then: str) -> None:
    door.passes, door.then, door.again = 4, then, 10

    work_on_run(run.pk, "tester", policy=RetryPolicy(attempts=12, first_wait=0.01))
    run.refresh_from_db()

    assert (run.state, failed(run), run.scores.count()) == (RunState.DONE, 0, 12)


@pytest.mark.parametrize(
    ("then", "lasted", "tries"),
    [*((then, UNSURE_FOR, False) for then in UNSURE),
     ("no key", UNSURE_FOR - 60 * SECOND, True), ("a page", 5 * UNSURE_FOR, True)],
)  # fmt: skip
def test_who_refuses_the_key_for_an_hour_waits_for_somebody(
    run: EvaluationRun, door: Door, then: str, lasted: datetime.timedelta, tries: bool
) -> None:
    door.passes, door.then = 4, then
    worked_on(run)
    assert ("by itself for an hour" in run.message) == (then in UNSURE)
    EvaluationRun.objects.filter(pk=run.pk).update(outage_since=timezone.now() - lasted)

    resumed(run)

    assert (run.state, failed(run)) == (RunState.PAUSED, 0)
    assert (run.resumes_at is not None, "by itself" in run.message) == (tries, tries)


@pytest.mark.parametrize(
    ("then", "tries"), [("a page", True), ("nothing", True), ("no key", False)]
)
def test_a_page_is_an_outage_even_of_an_endpoint_that_never_answered(
    run: EvaluationRun, door: Door, then: str, tries: bool
) -> None:
    door.passes, door.then = 0, then

    worked_on(run)

    assert (run.state, failed(run)) == (RunState.PAUSED, 0)
    assert (run.resumes_at is not None) == tries


def test_connections_that_failed_are_no_calls(run: EvaluationRun, door: Door) -> None:
    door.passes, door.then = 4, CUTTING
    worked_on(run)
    before = run.calls
    door.close()

    resumed(run)

    assert run.state == RunState.PAUSED
    assert run.calls == before


def test_while_it_is_lost_few_calls_try_and_the_waits_grow(run: EvaluationRun, door: Door) -> None:
    door.passes = 4
    worked_on(run)
    since = timezone.now() - datetime.timedelta(minutes=5)
    EvaluationRun.objects.filter(pk=run.pk).update(outage_since=since)
    calls = door.calls

    resumed(run)

    assert (run.state, failed(run)) == (RunState.PAUSED, 0)
    assert run.resumes_at is not None
    assert run.resumes_at - timezone.now() > datetime.timedelta(minutes=4.5)
    assert door.calls - calls <= 4  # two at once, and for each one that was answered before


@pytest.mark.parametrize(
    ("lasted", "wait"),
    [
        (FIRST_OUTAGE_WAIT - SECOND, FIRST_OUTAGE_WAIT),
        (FIRST_OUTAGE_WAIT + SECOND, FIRST_OUTAGE_WAIT + SECOND),
        (LONGEST_OUTAGE_WAIT, LONGEST_OUTAGE_WAIT),
        (LONGEST_OUTAGE_WAIT + SECOND, LONGEST_OUTAGE_WAIT),
    ],
)
def test_each_wait_is_as_long_as_the_outage_has_lasted(
    lasted: datetime.timedelta, wait: datetime.timedelta
) -> None:
    assert next_outage_wait(lasted) == wait


@pytest.mark.parametrize(
    ("concurrency", "never_with"),
    [(1, FAILING), (8, FAILING), (2, "forbidden"), (2, "not found"), (2, "a page")],
)
def test_an_item_that_the_endpoint_cannot_take_fails_and_the_others_go_on(
    run: EvaluationRun, door: Door, concurrency: int, never_with: str
) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(
        parameters=run.parameters | {"concurrency": concurrency}
    )
    # Asked first of all, it would look like an endpoint that never answers.
    door.passes = 4
    worked_on(run)
    text = run.items.exclude(state=ItemState.DONE).latest("pk").output.text
    door.passes, door.never, door.never_with = 10**9, text, never_with

    for _time in range(9):
        if run.state == RunState.PAUSED:
            resumed(run)

    assert run.state == RunState.DONE
    asked = [item.output.text for item in run.items.filter(state=ItemState.FAILED)]
    assert set(asked) == {text}
    assert run.scores.count() == 12 - len(asked)


@pytest.mark.parametrize("left", [1, 2])
def test_items_that_it_cannot_take_keep_no_run_where_they_alone_are_left(
    run: EvaluationRun, door: Door, left: int
) -> None:
    """As when somebody retries them: the worker has had no answer yet."""
    worked_on(run)
    output = run.items.order_by("pk")[0].output
    retried = list(run.items.filter(output=output).order_by("pk")[:left])
    for item in retried:
        run.scores.filter(output=output, criterion=item.criterion).delete()
        ModelReply.objects.filter(items=item).update(request_key="")
        run.items.filter(pk=item.pk).update(state=ItemState.PENDING, reply=None)
    EvaluationRun.objects.filter(pk=run.pk).update(state=RunState.RUNNING, finished_at=None)
    door.never = output.text

    worked_on(run)

    assert (run.state, failed(run)) == (RunState.DONE, left)


def test_a_time_that_the_endpoint_names_is_waited_for() -> None:
    met = EndpointError(ErrorKind.SERVER, "Back soon.", retry_after=240)

    assert outage(met).retry_after == 240


def test_an_endpoint_that_never_answered_waits_for_somebody(run: EvaluationRun, door: Door) -> None:
    door.close()

    worked_on(run)

    assert (run.state, run.resumes_at) == (RunState.PAUSED, None)


@pytest.mark.parametrize("then", [FAILING, CUTTING])
def test_a_run_whose_endpoint_is_lost_while_it_writes_steps_goes_on_by_itself(
    small_project: Project, make_judge: Callable[..., Judge], door: Door, then: str
) -> None:
    door.passes, door.then = 1, then
    run = start_run(
        make_judge(small_project, base_url=door.address), list(small_project.criteria.all())
    )

    worked_on(run)

    assert (run.state, run.started_at) == (RunState.PAUSED, None)
    assert "answered before and does not now" in run.message
    assert run.resumes_at is not None

    resumed(run)  # it is still away

    assert (run.state, run.started_at) == (RunState.PAUSED, None)
    assert run.resumes_at is not None

    door.passes = 10**9
    resumed(run)

    assert (run.state, run.message, run.outage_since) == (RunState.DONE, "", None)
    assert (failed(run), run.scores.count()) == (0, 12)


def looked_at(run: EvaluationRun) -> EvaluationRun:
    """What a worker does when it is time to look at batches."""
    Batch.objects.update(look_at=timezone.now())
    return worked_on(run)


@pytest.mark.parametrize("then", [FAILING, CUTTING])
def test_a_run_in_batches_waits_for_its_endpoint_and_goes_on_by_itself(
    small_project: Project, make_judge: Callable[..., Judge], door: Door, then: str
) -> None:
    judge = make_judge(small_project, base_url=door.address, use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()), RunRequest(transport="batch"))
    looked_at(run)
    assert run.batches.get().remote_id
    door.passes, door.then = door.calls, then

    for _ in range(MOST_FAILED_LOOKS):
        assert run.state == RunState.RUNNING
        looked_at(run)

    assert run.state == RunState.PAUSED
    assert run.resumes_at is not None
    assert "answered before and does not now" in run.message

    door.passes = 10**9
    Batch.objects.update(look_at=timezone.now())
    resumed(run)

    assert (run.state, run.message, run.outage_since) == (RunState.DONE, "", None)
    assert (failed(run), run.scores.count()) == (0, 12)
