"""Runs that use an endpoint's batch API (half the price, within a day): send, poll, read, and send
what remains.

All state is in rows, so a run survives days and restarts. A batch's items are marked before it is
sent; if a worker dies before it can store the batch's id, the batch is identified by a token in its
metadata.
"""

import asyncio
import datetime
import time
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any

import orjson
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.resuming import outage_if_lost
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare
from evaluations.judging.runs.shift import Shift
from evaluations.models import Batch, EvaluationRun, ItemState, RunItem
from geval.llm import wire
from geval.llm.calls import Answer
from geval.llm.cost import estimated_tokens, with_counts
from geval.llm.endpoints import TOKENS_TOO_MANY, Client, RemoteBatch
from geval.llm.errors import EndpointError
from geval.llm.judgement import Judgement, is_worth_asking_again, read_attempts
from geval.llm.metering import CallUsage
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import Reply
from geval.llm.requests import ChatRequest
from geval.llm.responses import RESPONSES, FailedError, body_by, route_at
from geval.texts.spelling import storable

# OpenAI accepts 50,000 requests and 200 MB per batch; smaller ones return sooner and need less
# memory to read.
BATCH_ITEMS = 5_000
# Small batches are done soon, large ones after hours: the pause grows with a batch's age.
LOOK_FIRST_SECONDS = 5
LOOK_LATER_SECONDS = 120
# It is renewed after a quarter, so only a lost worker's claim expires.
CLAIM_SECONDS = 300
# How soon a paused run stops, at a query per look.
LOOK_SECONDS = 1.0
# Failed steps in a row (sending, polling, reading) before the run pauses for a person.
MOST_FAILED_LOOKS = 5
# Endpoints promise a day; a batch that takes twice that is lost.
LONGEST_BATCH = datetime.timedelta(hours=48)
# More results for one question than any request asks for.
MOST_RESULTS = 128


class BatchShare(RunShare):
    """One worker's share of a run that uses batches."""

    # When this worker's claim on the run ends, and when it was last renewed.
    _until: datetime.datetime | None = None
    _claimed_at = 0.0

    def __init__(
        self,
        run: EvaluationRun,
        worker: str,
        database: Database,
        shift: Shift,
        questions: RunQuestions,
        client: Client,
    ) -> None:
        super().__init__(run, worker, database, shift)
        self.questions = questions
        self.client = client

    async def advance(self) -> None:
        """Advance the run's batches, one worker at a time: finish interrupted sends, read results,
        send waiting items. Stop at the first step that fails."""
        self._until = await self.database.call(lambda: _claim_run(self.run.pk))
        if self._until is None:
            return
        self._claimed_at = time.monotonic()
        await self.database.call(self.questions.read_criteria)
        watching = asyncio.create_task(self.watch(every=LOOK_SECONDS))
        try:
            for batch in await self.database.call(self._half_sent):
                await self._run_step(batch, self._send(batch, maybe_sent=True))
            for batch in await self.database.call(self._due):
                await self._run_step(batch, self._poll(batch))
            while not self.stopped.is_set() and (
                gathered := await self.database.call(self._gather)
            ):
                await self._run_step(gathered, self._send(gathered))
                await self.look_up()
        finally:
            self.stop()
            await watching
            await self.database.call(lambda: _release_claim(self.run.pk, self._until))
        await self.leave()

    async def renew(self) -> None:
        """Renew the claim on the run as well: a batch's files may take many minutes."""
        if time.monotonic() - self._claimed_at > CLAIM_SECONDS / 4:
            self._claimed_at = time.monotonic()
            self._until = await self.database.call(lambda: _renew_claim(self.run.pk, self._until))
        await super().renew()

    def _half_sent(self) -> list[Batch]:
        return list(self.run.batches.due().filter(state=Batch.State.SENDING))

    def _due(self) -> list[Batch]:
        return list(self.run.batches.due().filter(state=Batch.State.SENT))

    def _gather(self) -> Batch | None:
        """Collect items for another batch; None while a failed batch waits for its next attempt."""
        return None if self.run.batches.waiting_to_try_again().exists() else _gather(self.run)

    async def _run_step(self, batch: Batch, step: Coroutine[Any, Any, None]) -> None:
        """Run one step of a batch, unless an earlier step failed.

        After a transient error, any worker tries the batch again later; after any other error the
        run pauses.
        """
        if self.stopped.is_set():
            step.close()
            return
        try:
            await step
        except EndpointError as error:
            gives_up = (
                error.kind.stops_run
                or not error.kind.is_passing
                or batch.failures + 1 >= MOST_FAILED_LOOKS
            )
            sent = self.run.batches.exclude(remote_id="")
            cause = outage_if_lost(error, has_answered=await self.database.call(sent.exists))
            await self.database.call(lambda: _note_failure(batch, cause.message))
            self.stop(cause.message if gives_up else "", after=cause)
            return
        if batch.failures:
            await self.database.call(lambda: Batch.objects.filter(pk=batch.pk).update(failures=0))
        await self.end_outage()

    async def _send(self, batch: Batch, *, maybe_sent: bool = False) -> None:
        """Send a batch, unless a worker already sent it but died before it could record that."""
        remote = await self.client.find_batch(str(batch.token)) if maybe_sent else None
        if remote is None:
            lines = await self.database.call(lambda: self._lines(batch))
            if lines:
                remote = await self.client.send_batch(b"\n".join(lines), token=str(batch.token))
        await self.database.call(lambda: _note_sent(batch, remote))

    def _lines(self, batch: Batch) -> list[bytes]:
        """Return the requests of a batch as JSON lines, each question once, without those whose
        replies are stored."""
        requests: dict[str, ChatRequest] = {}
        for item in leases.batch_items(batch.pk):
            question = self.questions.question_of(item)
            if not isinstance(question, Failure):
                request = self._request(question)
                requests[self.questions.key_of([request])] = request
        stored = self.questions.stored_replies(list(requests))
        route = route_at(self.client.base_url)
        return [
            line
            for key, request in requests.items()
            if key not in stored
            for line in _request_lines(
                key, request, most=self.questions.frozen.fit.most_choices, route=route
            )
        ]

    def _request(self, question: Any) -> ChatRequest:
        """Return the single request of a question; evaluators that support batches make exactly
        one."""
        (request,) = self.questions.requests_of(question)
        assert isinstance(request, ChatRequest)
        return request

    async def _poll(self, batch: Batch) -> None:
        """Poll a batch, and read its results if it has ended."""
        remote = await self.client.get_batch(batch.remote_id) if batch.remote_id else None
        if remote and not remote.has_ended:
            if timezone.now() - batch.created_at > LONGEST_BATCH:
                self.stop(
                    f"The endpoint has not finished batch {remote.id} within two days. "
                    "Cancel the run, or resume it to keep waiting."
                )
            await self.database.call(lambda: _schedule_poll(batch, remote.state))
            return
        contents = [
            await self.client.get_file(file_id) for file_id in (remote.files if remote else ())
        ]
        most_tokens = TOKENS_TOO_MANY * (self.questions.frozen.max_tokens + 100)
        replies, errors = read_results(contents, most_tokens=most_tokens)
        spent = _usage_of(replies, estimated_tokens(self.questions.frozen.characters_each))
        # Count usage first, so that it is recorded even if the results cannot be stored.
        await self.database.call(lambda: results.count_up(self.run.pk, spent))
        await self.database.call(lambda: self._store(batch, replies, errors, remote))
        await self.database.call(lambda: results.note_result(self.run.pk))

    @transaction.atomic
    def _store(
        self,
        batch: Batch,
        replies: dict[str, list[Reply]],
        errors: dict[str, str],
        remote: RemoteBatch | None,
    ) -> None:
        """Store the results of a batch's items; unreadable replies are requested again a few
        times."""
        attempts = dict(RunItem.objects.filter(batch=batch).values_list("pk", "attempts"))
        finished: list[results.FinishedItem] = []
        again: list[int] = []
        paid: dict[str, Judgement] = {}
        most_attempts = read_attempts(self.questions.settings)
        items = leases.lease_batch(batch.pk, self.worker)
        questions = {item.id: self.questions.question_of(item) for item in items}
        keys = {
            pk: self.questions.key_of(self.questions.requests_of(question))
            for pk, question in questions.items()
            if not isinstance(question, Failure)
        }
        stored = self.questions.stored_replies(list(keys.values()))
        for item in items:
            question = questions[item.id]
            if isinstance(question, Failure):
                finished.append(results.FinishedItem(item, "", question))
                continue
            key = keys[item.id]
            if key in stored and _short(key) not in replies:
                answer = results.answer_from(stored[key])
                outcome = self.questions.score_again([answer], question)
                finished.append(
                    results.FinishedItem(item, key, outcome, stored_reply=stored[key].pk)
                )
                continue
            is_first = key not in paid
            if is_first:
                answers, error = replies.get(_short(key), []), errors.get(_short(key), "")
                paid[key] = self._judgement(answers, error, question)
            judgement = paid[key]
            outcome = judgement.outcome
            if not is_first and judgement.answers:
                # Criteria that are rated together share a reply; each reads its own score.
                outcome = self.questions.score_again(judgement.answers, question)
            if (
                is_worth_asking_again(outcome, self.questions.settings)
                and attempts[item.id] < most_attempts
            ):
                again.append(item.id)
                continue
            finished.append(
                results.FinishedItem(item, key, outcome, judgement if is_first else None)
            )
        results.store_each(self.run, finished, self.worker)
        RunItem.objects.filter(pk__in=again).update(
            state=ItemState.PENDING, leased_by="", lease_until=None, batch=None
        )
        Batch.objects.filter(pk=batch.pk).update(
            state=Batch.State.FAILED if remote and remote.has_failed else Batch.State.DONE,
            remote_state=remote.state if remote else "",
            message=remote.message if remote else "",
            ended_at=timezone.now(),
        )

    def _judgement(self, replies: Sequence[Reply], error: str, question: Any) -> Judgement:
        """Return the judgement of the replies to one question."""
        if not replies:
            message = error or "The batch ended without an answer to this item."
            return Judgement(Failure(Reason.ENDPOINT, message), ())
        answer = Answer(
            choices=tuple(choice for reply in replies for choice in reply.choices)[
                : max(1, self.questions.settings.samples)
            ],
            model=replies[-1].model,
            request_id=replies[-1].request_id,
            prompt_tokens=sum(reply.prompt_tokens or 0 for reply in replies),
            completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
            calls=len(replies),
            seconds=0.0,
        )
        outcome = self.questions.score_again([answer], question)
        return Judgement(outcome, (answer,))


def _note_failure(batch: Batch, text: str) -> None:
    wait = min(LOOK_LATER_SECONDS, LOOK_FIRST_SECONDS * 2**batch.failures)
    Batch.objects.filter(pk=batch.pk).update(
        failures=F("failures") + 1,
        message=text,
        look_at=timezone.now() + datetime.timedelta(seconds=wait),
    )


def _claim_run(run_id: int) -> datetime.datetime | None:
    """Claim a run for this worker. Return when the claim ends; None if another worker has it."""
    until = timezone.now() + datetime.timedelta(seconds=CLAIM_SECONDS)
    free = EvaluationRun.objects.active().unattended().filter(pk=run_id)
    return until if free.update(preparer_until=until) else None


def _renew_claim(run_id: int, until: datetime.datetime | None) -> datetime.datetime | None:
    later = timezone.now() + datetime.timedelta(seconds=CLAIM_SECONDS)
    claimed = EvaluationRun.objects.filter(pk=run_id, preparer_until=until)
    return later if claimed.update(preparer_until=later) else until


def _release_claim(run_id: int, until: datetime.datetime | None) -> None:
    EvaluationRun.objects.filter(pk=run_id, preparer_until=until).update(preparer_until=None)


@transaction.atomic
def _gather(run: EvaluationRun) -> Batch | None:
    """Put waiting items into a new batch; None if none wait or the run is paused."""
    if not EvaluationRun.objects.active().filter(pk=run.pk).exists():
        return None
    # Items that another worker is putting into a batch are skipped, not waited for.
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


def _note_sent(batch: Batch, remote: RemoteBatch | None) -> None:
    batch.remote_id = remote.id if remote else ""
    batch.remote_state = remote.state if remote else "nothing to ask"
    batch.state = Batch.State.SENT
    batch.look_at = timezone.now() + datetime.timedelta(seconds=LOOK_FIRST_SECONDS if remote else 0)
    batch.save(update_fields=["remote_id", "remote_state", "state", "look_at"])


def _request_lines(key: str, request: ChatRequest, *, most: int, route: str) -> Iterable[bytes]:
    """Yield a question's lines, each asking for at most `most` replies; for one reply with the
    Responses API."""
    most = 1 if route == RESPONSES else most
    for number, begins in enumerate(range(0, request.n, most)):
        body = body_by(route, replace(request, n=min(most, request.n - begins)))
        line = {"method": "POST", "url": f"/v1{route}", "body": body}
        yield orjson.dumps({"custom_id": f"{_short(key)}-{number}", **line})


def _short(key: str) -> str:
    """Shorten a key to fit the 64 characters of a custom id."""
    return key[:48]


def _usage_of(replies: dict[str, list[Reply]], tokens_each: int) -> CallUsage:
    """Return the usage of a batch's replies."""
    spent = CallUsage()
    for reply in (reply for answers in replies.values() for reply in answers):
        counted = with_counts(reply, tokens_each)
        spent.add(counted.prompt_tokens or 0, counted.completion_tokens or 0, calls=1)
        spent.add_details(reply)
    return spent


def _schedule_poll(batch: Batch, remote_state: str) -> None:
    age = (timezone.now() - batch.created_at).total_seconds()
    wait = min(LOOK_LATER_SECONDS, max(LOOK_FIRST_SECONDS, age / 10))
    Batch.objects.filter(pk=batch.pk).update(
        remote_state=remote_state, look_at=timezone.now() + datetime.timedelta(seconds=wait)
    )


def read_results(
    contents: Sequence[bytes], *, most_tokens: int = 32_000
) -> tuple[dict[str, list[Reply]], dict[str, str]]:
    """Read a batch's output and error files: replies and error messages, by shortened request
    key."""
    replies: dict[str, list[Reply]] = defaultdict(list)
    errors: dict[str, str] = {}
    for line in (line for content in contents for line in content.splitlines() if line.strip()):
        try:
            result = wire.loads(line)
            key = str(result["custom_id"]).rsplit("-", 1)[0]
            response = result.get("response") or {}
            failed = bool(result.get("error")) or response.get("status_code") != 200
        except (wire.MalformedError, LookupError, TypeError, AttributeError):
            continue  # its item has no reply, and is asked again
        if failed:
            errors[key] = _error_words(result)
        elif len(replies[key]) < MOST_RESULTS:
            try:
                request_id = str(response.get("request_id") or "")
                replies[key].append(
                    wire.read_chat_answer(
                        response.get("body"),
                        request_id=request_id,
                        n=MOST_RESULTS,
                        most_tokens=most_tokens,
                    )
                )
            except FailedError as error:
                errors[key] = str(error)
            except wire.MalformedError as error:
                errors[key] = f"The endpoint's answer is not a chat completion: {error}."
    return {key: answers for key, answers in replies.items() if answers}, errors


def _error_words(result: dict[str, Any]) -> str:
    body = (result.get("response") or {}).get("body") or {}
    error = result.get("error") or (body.get("error") if isinstance(body, dict) else None) or {}
    message = str(error.get("message") if isinstance(error, dict) else error)
    return storable(message)[:1000] or "The batch gave an error without a message."
