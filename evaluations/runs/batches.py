"""Runs that go through an endpoint's batch API (half the price, within a day): send, look, read,
send what is left.

The rows know everything, so a run survives days and restarts: a batch's items are marked before it
is sent, and a batch that was sent by a worker that died before it could write the id down is found
again by a token in its metadata.
"""

import datetime
import os
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

import orjson
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.llm import wire
from evaluations.llm.calls import Answer
from evaluations.llm.cost import estimated_tokens
from evaluations.llm.endpoints import TOKENS_TOO_MANY, Client, EndpointError, RemoteBatch
from evaluations.llm.judgement import (
    READ_ATTEMPTS,
    Judgement,
    JudgeSettings,
    Question,
    first_request,
    score_choices,
)
from evaluations.llm.metering import Spent
from evaluations.llm.parsing import Failure, Reason
from evaluations.llm.replies import Reply
from evaluations.llm.scoring import Scored
from evaluations.models import Batch, EvaluationRun, ItemState, RunItem
from evaluations.runs import leases, results
from evaluations.runs.database import Database
from evaluations.runs.item_questions import (
    Asked,
    criteria_asked,
    key_of,
    question_about,
    settings_of,
)
from evaluations.runs.lifecycle import close_if_finished, pause_run
from evaluations.texts import storable

# OpenAI takes 50,000 requests and 200 MB in a batch; smaller ones come back sooner and are read in
# less memory.
BATCH_ITEMS = 5_000
LOOK_FIRST_SECONDS = 5
LOOK_LATER_SECONDS = 120
TENDING_SECONDS = 300
# Looks in a row that may fail before a person should know.
MOST_FAILED_LOOKS = 5
# Endpoints promise a day; one that needs twice that has lost the batch.
LONGEST_BATCH = datetime.timedelta(hours=48)
# More results for one question than any request asks for.
MOST_RESULTS = 128


async def advance_batches(run: EvaluationRun, client: Client, database: Database) -> None:
    """Do what can be done for a run now: read batches that came back, send items that wait. One
    worker at a time."""
    worker = f"batches:{os.getpid()}"
    if not await database.call(lambda: _tend(run.pk)):
        return
    asked = await database.call(lambda: criteria_asked(run))
    try:
        for batch in await database.call(
            lambda: list(run.batches.filter(state=Batch.State.SENDING))
        ):
            sending = _send(batch, run, asked, client, database, maybe_sent=True)
            if not await _tried(batch, sending, database):
                return
        for batch in await database.call(lambda: _due(run)):
            if not await _tried(
                batch, _look(batch, run, asked, worker, client, database), database
            ):
                return
        while made := await database.call(lambda: _gather(run)):
            if not await _tried(made, _send(made, run, asked, client, database), database):
                return
    finally:
        await database.call(lambda: _stop_tending(run.pk))
    await database.call(lambda: close_if_finished(run.pk))


async def _tried(batch: Batch, step: Coroutine[Any, Any, None], database: Database) -> bool:
    """Whether a step with a batch worked.

    An error that may pass leaves the batch for a later look, by any worker; if it does not pass,
    the run pauses.
    """
    try:
        await step
    except EndpointError as error:
        text = error.message
        gives_up = (
            error.kind.stops_run
            or not error.kind.is_passing
            or batch.failures + 1 >= MOST_FAILED_LOOKS
        )
        await database.call(lambda: _note_failure(batch, text))
        if gives_up:
            await database.call(lambda: pause_run(batch.run_id, text))
        return False
    if batch.failures:
        await database.call(lambda: Batch.objects.filter(pk=batch.pk).update(failures=0))
    return True


def _note_failure(batch: Batch, text: str) -> None:
    wait = min(LOOK_LATER_SECONDS, LOOK_FIRST_SECONDS * 2**batch.failures)
    Batch.objects.filter(pk=batch.pk).update(
        failures=F("failures") + 1,
        message=text,
        look_at=timezone.now() + datetime.timedelta(seconds=wait),
    )


def _tend(run_id: int) -> bool:
    until = timezone.now() + datetime.timedelta(seconds=TENDING_SECONDS)
    return (
        EvaluationRun.objects.active().unattended().filter(pk=run_id).update(preparer_until=until)
        == 1
    )


def _stop_tending(run_id: int) -> None:
    EvaluationRun.objects.filter(pk=run_id).update(preparer_until=None)


def _due(run: EvaluationRun) -> list[Batch]:
    return list(run.batches.filter(state=Batch.State.SENT, look_at__lte=timezone.now()))


@transaction.atomic
def _gather(run: EvaluationRun) -> Batch | None:
    """Put waiting items into a new batch; None if none wait or the run is paused."""
    if not EvaluationRun.objects.active().filter(pk=run.pk).exists():
        return None
    waiting = (
        RunItem.objects.filter(run=run)
        .claimable()
        .order_by("pk")
        .select_for_update(skip_locked=True)
    )
    ids = list(waiting.values_list("pk", flat=True)[:BATCH_ITEMS])
    if not ids:
        return None
    batch = Batch.objects.create(run=run)
    RunItem.objects.filter(pk__in=ids).update(
        state=ItemState.SENT,
        batch=batch,
        attempts=F("attempts") + 1,
        leased_by="",
        lease_until=None,
    )
    return batch


async def _send(
    batch: Batch,
    run: EvaluationRun,
    asked: dict[int, Asked],
    client: Client,
    database: Database,
    *,
    maybe_sent: bool = False,
) -> None:
    """Send a batch, unless it was sent already by a worker that did not live to write that down."""
    remote = await client.find_batch(str(batch.token)) if maybe_sent else None
    if remote is None:
        lines = await database.call(lambda: _lines(batch, run, asked, client.base_url))
        if lines:
            remote = await client.send_batch(b"\n".join(lines), token=str(batch.token))
    await database.call(lambda: _note_sent(batch, remote))


def _note_sent(batch: Batch, remote: RemoteBatch | None) -> None:
    batch.remote_id = remote.id if remote else ""
    batch.remote_state = remote.state if remote else "nothing to ask"
    batch.state = Batch.State.SENT
    batch.look_at = timezone.now() + datetime.timedelta(seconds=LOOK_FIRST_SECONDS if remote else 0)
    batch.save(update_fields=["remote_id", "remote_state", "state", "look_at"])


def _lines(batch: Batch, run: EvaluationRun, asked: dict[int, Asked], base_url: str) -> list[bytes]:
    """The requests of a batch as JSON lines, each question once, without those that the store can
    answer."""
    settings = settings_of(run)
    items = leases.batch_items(batch.pk)
    questions: dict[str, Question] = {}
    for item in items:
        question = question_about(item, asked)
        if isinstance(question, Question):
            questions[key_of(question, settings, base_url)] = question
    since = run.created_at if run.parameters["fresh"] else None
    known = results.stored_replies(run.project_id, list(questions), since=since)
    return [
        line
        for key, question in questions.items()
        if key not in known
        for line in _request_lines(
            key, question, settings, several=run.parameters.get("several_choices", True)
        )
    ]


def _request_lines(
    key: str, question: Question, settings: JudgeSettings, *, several: bool
) -> Iterable[bytes]:
    body = first_request(settings, question.prompt).body()
    lines = 1
    if not several:
        lines = body.pop("n", 1)
    for number in range(lines):
        request = {"method": "POST", "url": "/v1/chat/completions", "body": body}
        yield orjson.dumps({"custom_id": f"{_short(key)}-{number}", **request})


def _short(key: str) -> str:
    """A key within the 64 characters that a custom id may have."""
    return key[:48]


async def _look(
    batch: Batch,
    run: EvaluationRun,
    asked: dict[int, Asked],
    worker: str,
    client: Client,
    database: Database,
) -> None:
    """Ask about a batch, and read it if it has ended."""
    remote = await client.get_batch(batch.remote_id) if batch.remote_id else None
    if remote and not remote.has_ended:
        if timezone.now() - batch.created_at > LONGEST_BATCH:
            text = (
                f"The endpoint has not finished batch {remote.id} within two days. "
                "Cancel the run, or resume it to keep waiting."
            )
            await database.call(lambda: pause_run(run.pk, text))
        await database.call(lambda: _look_later(batch, remote.state))
        return
    contents = [await client.get_file(file_id) for file_id in (remote.files if remote else ())]
    most_tokens = TOKENS_TOO_MANY * (int(run.parameters["max_tokens"]) + 100)
    replies, errors = read_results(contents, most_tokens=most_tokens)
    spent = _spent(replies, estimated_tokens(run.parameters.get("characters_each", 4000)))
    # Counted before anything is made of them, so that it counts whatever comes of them.
    await database.call(lambda: results.count_up(run.pk, spent))
    await database.call(
        lambda: _store_results(batch, run, asked, worker, client.base_url, replies, errors, remote)
    )


def _spent(replies: dict[str, list[Reply]], tokens_each: int) -> Spent:
    """What the replies of a batch took; tokens are estimated where the endpoint does not say."""
    spent = Spent()
    for reply in (reply for found in replies.values() for reply in found):
        written = sum(len(choice.text) for choice in reply.choices)
        spent.add(
            tokens_each if reply.prompt_tokens is None else reply.prompt_tokens,
            (
                estimated_tokens(written)
                if reply.completion_tokens is None
                else reply.completion_tokens
            ),
            calls=1,
        )
    return spent


def _look_later(batch: Batch, remote_state: str) -> None:
    age = (timezone.now() - batch.created_at).total_seconds()
    wait = min(LOOK_LATER_SECONDS, max(LOOK_FIRST_SECONDS, age / 10))
    Batch.objects.filter(pk=batch.pk).update(
        remote_state=remote_state, look_at=timezone.now() + datetime.timedelta(seconds=wait)
    )


def read_results(
    contents: Sequence[bytes], *, most_tokens: int = 32_000
) -> tuple[dict[str, list[Reply]], dict[str, str]]:
    """The lines of a batch's output and error files: replies and error messages, by the shortened
    request key."""
    replies: dict[str, list[Reply]] = defaultdict(list)
    errors: dict[str, str] = {}
    for line in (line for content in contents for line in content.splitlines() if line.strip()):
        try:
            result = wire.loads(line)
            key = str(result["custom_id"]).rsplit("-", 1)[0]
            response = result.get("response") or {}
            failed = bool(result.get("error")) or response.get("status_code") != 200
        except (wire.MalformedError, LookupError, TypeError, AttributeError):
            continue  # its item stays without a reply, and is asked again
        if failed:
            errors[key] = _error_words(result)
        elif len(replies[key]) < MOST_RESULTS:
            try:
                request_id = str(response.get("request_id") or "")
                replies[key].append(
                    wire.chat_reply(
                        response.get("body"),
                        request_id=request_id,
                        n=MOST_RESULTS,
                        most_tokens=most_tokens,
                    )
                )
            except wire.MalformedError as error:
                errors[key] = f"The endpoint's answer is not a chat completion: {error}."
    return {key: found for key, found in replies.items() if found}, errors


def _error_words(result: dict[str, Any]) -> str:
    body = (result.get("response") or {}).get("body") or {}
    error = result.get("error") or (body.get("error") if isinstance(body, dict) else None) or {}
    said = str(error.get("message") if isinstance(error, dict) else error)
    return storable(said)[:1000] or "The batch gave an error without a message."


@transaction.atomic
def _store_results(
    batch: Batch,
    run: EvaluationRun,
    asked: dict[int, Asked],
    worker: str,
    base_url: str,
    replies: dict[str, list[Reply]],
    errors: dict[str, str],
    remote: RemoteBatch | None,
) -> None:
    settings = settings_of(run)
    attempts = dict(RunItem.objects.filter(batch=batch).values_list("pk", "attempts"))
    finished: list[results.FinishedItem] = []
    again: list[int] = []
    paid: dict[str, Judgement] = {}
    items = leases.lease_batch(batch.pk, worker)
    questions = {item.id: question_about(item, asked) for item in items}
    keys = {
        pk: key_of(q, settings, base_url) for pk, q in questions.items() if isinstance(q, Question)
    }
    since = run.created_at if run.parameters["fresh"] else None
    known = results.stored_replies(run.project_id, list(keys.values()), since=since)
    for item in items:
        question = questions[item.id]
        if isinstance(question, Failure):
            finished.append(results.FinishedItem(item, "", question))
            continue
        key = keys[item.id]
        if key in known and _short(key) not in replies:
            outcome = score_choices([results.answer_from(known[key])], question, settings.mode)
            finished.append(results.FinishedItem(item, key, outcome, stored_reply=known[key].pk))
            continue
        is_first = key not in paid
        judgement = paid.setdefault(
            key, _judgement(replies.get(_short(key), []), errors, key, question, settings)
        )
        if not isinstance(judgement.outcome, Scored) and attempts[item.id] < READ_ATTEMPTS:
            again.append(item.id)
            continue
        finished.append(
            results.FinishedItem(item, key, judgement.outcome, judgement if is_first else None)
        )
    results.store_each(run, finished, worker)
    RunItem.objects.filter(pk__in=again).update(
        state=ItemState.PENDING, leased_by="", lease_until=None, batch=None
    )
    Batch.objects.filter(pk=batch.pk).update(
        state=Batch.State.FAILED if remote and remote.has_failed else Batch.State.DONE,
        remote_state=remote.state if remote else "",
        message=remote.message if remote else "",
        ended_at=timezone.now(),
    )


def _judgement(
    replies: Sequence[Reply],
    errors: dict[str, str],
    key: str,
    question: Question,
    settings: JudgeSettings,
) -> Judgement:
    """What the replies to one question come to."""
    if not replies:
        said = errors.get(_short(key), "The batch ended without an answer to this item.")
        return Judgement(Failure(Reason.ENDPOINT, said), ())
    answer = Answer(
        choices=tuple(choice for reply in replies for choice in reply.choices)[
            : max(1, settings.samples)
        ],
        model=replies[-1].model,
        request_id=replies[-1].request_id,
        prompt_tokens=sum(reply.prompt_tokens or 0 for reply in replies),
        completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
        calls=len(replies),
        seconds=0.0,
    )
    return Judgement(score_choices([answer], question, settings.mode), (answer,))
