"""Store the results of a run's items in bulk, exactly once: scores, replies, failures, calls.

A result is stored only for an item whose lease the worker still holds (leases.py).
"""

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
import structlog
from django.db import DataError, IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import pause_run
from evaluations.models import EvaluationRun, ItemState, ModelReply, PairScore, Score
from evaluations.models.changes import note_change
from evaluations.people.counting import count_items, count_money
from geval.llm.calls import Answer
from geval.llm.judgement import Judgement
from geval.llm.metering import CallUsage
from geval.llm.parsing import Failure, Reason
from geval.llm.reply_structure import choices_from_json, choices_to_json
from geval.llm.scoring import Preferred, Scored
from geval.texts.numbers import thin
from geval.texts.spelling import storable
from geval_site.sql import execute_sql, fetch_rows, insert_rows

log = structlog.stdlib.get_logger(__name__)
EXCHANGED = (
    "From item {number} on, “{new}” answers; before, “{before}” did. Resume the run to keep the"
    " scores of both, or cancel it and start another."
)
# The reason if a value fits no column.
_REFUSED = (DataError, IntegrityError, ValueError, orjson.JSONEncodeError)


@dataclass(frozen=True)
class FinishedItem:
    """The result of a claimed item.

    `judgement` is None for an answer that another item paid for: one already stored
    (`stored_reply`), or one stored under the same request key no later than this item.
    """

    item: ClaimedItem
    request_key: str
    outcome: Scored | Failure
    judgement: Judgement | None = None
    stored_reply: int | None = None


def stored_replies(
    project_id: int, keys: Sequence[str], *, since: Any = None
) -> dict[str, ModelReply]:
    """Return the newest stored reply for each key; `since` excludes older ones."""
    # The newest comes last, and replaces earlier ones in the dictionary.
    replies = ModelReply.objects.filter(project_id=project_id, request_key__in=keys).order_by("pk")
    if since is not None:
        replies = replies.filter(created_at__gte=since)
    return {reply.request_key: reply for reply in replies}


def answer_from(stored: ModelReply) -> Answer:
    """Return a stored reply as an answer without cost."""
    return Answer(
        choices=choices_from_json(stored.choices),
        model=stored.model,
        request_id=stored.request_id,
        prompt_tokens=0,
        completion_tokens=0,
        calls=0,
        seconds=0.0,
    )


@transaction.atomic
def store(run: EvaluationRun, finished: Sequence[FinishedItem], worker: str) -> int:
    """Store results in one transaction; return how many items this worker still held.

    Usage is counted separately and earlier (`count_up`), so that it is recorded even if the results
    cannot be stored.
    """
    run_id, project_id = run.pk, run.project_id
    finished = [replace(entry, outcome=_as_stored(entry)) for entry in finished]
    ours = _still_ours([entry.item.id for entry in finished], worker)
    kept = [entry for entry in finished if entry.item.id in ours]
    replied = [entry for entry in kept if entry.judgement and entry.judgement.answers]
    stored = insert_rows(ModelReply, [_reply_row(run, entry) for entry in replied])
    replies = {entry.item.id: pk for entry, pk in zip(replied, stored, strict=True)}
    shared = [
        entry.request_key for entry in kept if entry.judgement is None and not entry.stored_reply
    ]
    reply_by_key = _newest_replies(project_id, [key for key in shared if key])
    hits = sum(isinstance(entry.outcome, Scored) and entry.judgement is None for entry in finished)
    if hits:
        EvaluationRun.objects.filter(pk=run_id).update(cache_hits=F("cache_hits") + hits)
    store_scores(
        run, [(entry.item, entry.outcome) for entry in kept if isinstance(entry.outcome, Scored)]
    )
    scored = {entry.item.criterion_id for entry in kept if isinstance(entry.outcome, Scored)}
    if scored and run.counts:
        note_change(project_id, scored, judge=run.judge_id)
    rows = [
        (
            entry.item.id,
            ItemState.DONE.value if isinstance(entry.outcome, Scored) else ItemState.FAILED.value,
            entry.outcome.reason if isinstance(entry.outcome, Failure) else "",
            entry.outcome.detail if isinstance(entry.outcome, Failure) else "",
            replies.get(entry.item.id) or reply_by_key.get(entry.request_key) or entry.stored_reply,
        )
        for entry in kept
    ]
    if rows:
        execute_sql(
            """UPDATE evaluations_runitem i
               SET state = n.state, reason = n.reason, detail = n.detail, reply_id = n.reply,
                   lease_until = NULL, leased_by = ''
               FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[])
                    AS n(id, state, reason, detail, reply)
               WHERE i.id = n.id""",
            [list(column) for column in zip(*rows, strict=True)],
        )
    _log_failures(run_id, [entry.outcome for entry in kept])
    count_items(run.judge_id, [entry.outcome for entry in kept])
    return len(kept)


def _as_stored(entry: FinishedItem) -> Scored | Failure:
    """Return an outcome in plain numbers; a model's score notes what it was not shown."""
    if isinstance(entry.outcome, Failure):
        return entry.outcome
    asked = bool(entry.request_key)
    return entry.outcome.noting(entry.item.texts.not_shown if asked else "").in_plain_numbers()


def _log_failures(run_id: int, outcomes: Sequence[Scored | Failure]) -> None:
    """Log one line for a stored batch, with reasons only: details may quote a reply."""
    reasons = Counter(str(outcome.reason) for outcome in outcomes if isinstance(outcome, Failure))
    if reasons:
        transaction.on_commit(
            lambda: log.warning(
                "items failed", run=run_id, count=reasons.total(), reasons=dict(reasons)
            )
        )


def store_each(run: EvaluationRun, finished: Sequence[FinishedItem], worker: str) -> None:
    """Store results together; if the database refuses one, store each separately, and that one as
    failed. Pause the run if another model began to answer."""
    _store_each(run, finished, worker)
    pause_if_exchanged(run, finished)


def _store_each(run: EvaluationRun, finished: Sequence[FinishedItem], worker: str) -> None:
    try:
        store(run, finished, worker)
    except _REFUSED:
        for entry in finished:
            try:
                store(run, [entry], worker)
            except _REFUSED as error:
                log.exception("result refused by the database", item=entry.item.id, run=run.pk)
                failure = Failure(
                    Reason.UNFORESEEN, f"Its result could not be stored ({reason_of(error)})."
                )
                store(run, [FinishedItem(entry.item, "", failure)], worker)


def pause_if_exchanged(run: EvaluationRun, finished: Sequence[FinishedItem]) -> None:
    """Note the models that replies named. Pause the run at a name that earlier replies did not
    have, once for each: whoever resumes it accepts the model."""
    firsts: dict[str, int] = {}
    for entry in finished:
        for answer in entry.judgement.answers if entry.judgement else ():
            firsts.setdefault(answer.model[:200], entry.item.id)
    if not run.counts or not set(firsts) - {"", *run.reply_models}:
        return
    with transaction.atomic():
        rows = EvaluationRun.objects.select_for_update().filter(pk=run.pk)
        # Without what is added now, which may be rolled back.
        run.reply_models = rows.values_list("reply_models", flat=True).first() or []
        models = list(dict.fromkeys([*run.reply_models, *filter(None, firsts)]))
        at = max(1, len(run.reply_models))
        if models[at:]:
            number = thin(run.items.filter(pk__lte=firsts[models[at]]).count())
            text = EXCHANGED.format(number=number, new=models[at], before=models[at - 1])
            if not pause_run(run.pk, text):
                return  # It is paused for another reason, so nobody would read of it.
        rows.update(reply_models=models)


def reason_of(error: BaseException) -> str:
    """Describe an unexpected error for users: the first cause of a group, with its type."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return storable(f"{type(error).__name__}: {error}")[:500]


def store_scores(run: EvaluationRun, scored: Sequence[tuple[ClaimedItem, Scored]]) -> None:
    """Add scores, and preferences between pairs, to a run."""
    mode = run.frozen.mode
    insert_rows(
        Score,
        [
            {
                "run_id": run.pk,
                "output_id": item.output_id,
                "criterion_id": item.criterion_id,
                "value": outcome.number,
                "distribution": outcome.written_distribution or None,
                "coverage": outcome.coverage,
                "entropy": outcome.entropy if outcome.distribution else None,
                "mode": mode,
                "note": outcome.note,
            }
            for item, outcome in scored
            if not isinstance(outcome, Preferred)
        ],
    )
    pairs = [(item, outcome) for item, outcome in scored if isinstance(outcome, Preferred)]
    if pairs:
        PairScore.objects.bulk_create(
            PairScore(
                run_id=run.pk,
                output_id=item.output_id,
                rival_id=item.rival_id or 0,
                criterion_id=item.criterion_id or 0,
                value=outcome.value,
                tie=outcome.distribution.get(0.5, 0.0),
                left=outcome.left,
                coverage=outcome.coverage,
            )
            for item, outcome in pairs
        )
        _score_by_wins(run.pk, [pk for item, _ in pairs for pk in (item.output_id, item.rival_id)])


def _score_by_wins(run_id: int, output_ids: Sequence[int | None]) -> None:
    """Score outputs that were compared: the mean preference over the document's other outputs."""
    # In one order: workers that store wins of the same outputs would wait for each other.
    execute_sql(
        """INSERT INTO evaluations_score (run_id, output_id, criterion_id, value, mode)
           SELECT %(run)s, o, criterion_id, avg(value), 'wins' FROM (
               SELECT output_id AS o, criterion_id, value FROM evaluations_pairscore
               WHERE run_id = %(run)s AND output_id = ANY(%(outputs)s)
               UNION ALL
               SELECT rival_id, criterion_id, 1 - value FROM evaluations_pairscore
               WHERE run_id = %(run)s AND rival_id = ANY(%(outputs)s)) AS sides
           GROUP BY o, criterion_id ORDER BY o, criterion_id
           ON CONFLICT (run_id, output_id, criterion_id) DO UPDATE
               SET value = excluded.value""",
        {"run": run_id, "outputs": sorted({pk for pk in output_ids if pk is not None})},
    )


def count_up(run_id: int, spent: CallUsage) -> None:
    """Add the usage of calls to the run's counters and to its project's month."""
    with transaction.atomic():
        EvaluationRun.objects.filter(pk=run_id).update(
            calls=F("calls") + spent.calls,
            prompt_tokens=F("prompt_tokens") + spent.prompt_tokens,
            completion_tokens=F("completion_tokens") + spent.completion_tokens,
            cached_tokens=F("cached_tokens") + spent.cached_tokens,
            reasoning_tokens=F("reasoning_tokens") + spent.reasoning_tokens,
        )
        count_money(
            run_id,
            spent.prompt_tokens,
            spent.completion_tokens,
            cached_tokens=spent.cached_tokens,
        )


def note_result(run_id: int) -> None:
    """Record that a result was just stored. Separate from storing results, because workers of a run
    would wait for each other's transactions."""
    EvaluationRun.objects.filter(pk=run_id).update(result_at=Now())


def note_wait(run_id: int, until: datetime.datetime | None, reason: str) -> None:
    """Record what the run's calls wait for, which its page shows."""
    EvaluationRun.objects.filter(pk=run_id).update(waits_until=until, waits_for=reason[:500])


def _still_ours(item_ids: Sequence[int], worker: str) -> set[int]:
    # By id, as items are claimed, to prevent deadlocks.
    rows = fetch_rows(
        """SELECT id FROM evaluations_runitem
           WHERE id = ANY(%s) AND state = 'leased' AND leased_by = %s ORDER BY id FOR UPDATE""",
        [list(item_ids), worker],
    )
    return {row[0] for row in rows}


def _newest_replies(project_id: int, keys: Sequence[str]) -> dict[str, int]:
    """Return the id of the newest stored reply for each key."""
    if not keys:
        return {}
    return {key: reply.pk for key, reply in stored_replies(project_id, keys).items()}


def _reply_row(run: EvaluationRun, entry: FinishedItem) -> dict[str, Any]:
    assert entry.judgement is not None
    answers = entry.judgement.answers
    return {
        "project_id": run.project_id,
        # A study needs current replies, and no other run may reuse them.
        "request_key": entry.request_key if entry.judgement.is_kept and not run.purpose else "",
        "choices": choices_to_json([choice for answer in answers for choice in answer.choices]),
        "model": answers[-1].model[:200],
        "request_id": answers[-1].request_id[:200],
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "completion_tokens": sum(answer.completion_tokens for answer in answers),
        "calls": sum(answer.calls for answer in answers),
        "seconds": sum(answer.seconds for answer in answers),
    }
