"""Leases on a run's items: claimed a few at a time, renewed while the worker lives, released when
it leaves.

Workers share a run through `FOR UPDATE SKIP LOCKED`. The items of a lost worker become claimable
when their lease expires. Results (results.py) are stored only under a valid lease.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from evaluations.models import EvaluationRun, ItemState, RunItem
from evaluations.models.runs import EXPIRED
from evaluations.people.counting import count_lost
from evaluations.people.limits import money_left
from geval.llm.item_texts import Texts
from geval.llm.parsing import Reason
from geval.texts.turns import turns_from
from geval_site.sql import execute_sql, fetch_rows

log = structlog.stdlib.get_logger(__name__)
# It is renewed after a quarter (`share.py`), so only a lost worker's items are claimed again.
LEASE_SECONDS = 60
# The first part of a run has the items of this many claims; while the rest is laid out, one claim's
# calls are in flight and the other waits.
FIRST_CLAIMS = 2
# How many workers may be lost while judging an item before the item is taken to be the cause.
MOST_LOST_WORKERS = 5


def claimed_at_once(slots: int) -> int:
    """Return how many items a worker with this many slots claims at a time, so that its slots never
    wait for the next claim."""
    return max(2 * slots, 20)


@dataclass(frozen=True)
class ClaimedItem:
    """An item that this worker may judge, with the texts that its prompt needs."""

    id: int
    output_id: int
    criterion_id: int | None
    texts: Texts
    rival_id: int | None = None


# The columns of a claimed item `i`; read by `_claimed`.
_COLUMNS = """SELECT i.id, i.output_id, i.criterion_id, i.rival_id,
                     d.source, o.text, d.context, d.references, v.text,
                     k.turns, d.turns_before, o.turns, coalesce(v.turns, '[]')"""
_TEXTS = """JOIN evaluations_candidateoutput o ON o.id = i.output_id
               JOIN evaluations_document d ON d.id = o.document_id
               LEFT JOIN evaluations_candidateoutput v ON v.id = i.rival_id
               LEFT JOIN evaluations_conversation k ON k.id = d.conversation_id"""


def claim(run_id: int, worker: str, *, most: int, after_id: int = 0) -> list[ClaimedItem]:
    """Lease up to `most` items with an id above `after_id`, in layout order; none if the run is not
    running.

    An item whose workers were lost repeatedly fails, instead of costing another worker.
    """
    # SKIP LOCKED: workers that claim at the same moment get different items without waiting.
    # By id: items were laid out in the order in which they are to be judged.
    # The run's row is only read, as a lock on it would let one worker claim at a time.
    rows = fetch_rows(
        f"""WITH free AS (
               SELECT i.id, i.attempts, i.state, i.leased_by FROM evaluations_runitem i
               WHERE i.run_id = %(run)s AND i.id > %(after)s
                   AND i.state IN ('pending', 'leased')
                 AND (i.state = 'pending' OR {EXPIRED.format("i.lease_until")})
                 AND EXISTS (SELECT FROM evaluations_evaluationrun r WHERE r.id = %(run)s
                     AND r.state = 'running')
               ORDER BY i.id LIMIT %(most)s FOR UPDATE OF i SKIP LOCKED),
           failed AS (
               UPDATE evaluations_runitem i
               SET state = 'failed', reason = %(lost)s, lease_until = NULL, leased_by = '',
                   detail = format('%%s workers ended while they judged this item.', i.attempts)
               FROM free WHERE i.id = free.id AND free.attempts >= %(most_lost)s),
           picked AS (SELECT id FROM free WHERE attempts < %(most_lost)s),
           leased AS (
               UPDATE evaluations_runitem i
               SET state = 'leased', leased_by = %(worker)s, attempts = attempts + 1,
                   lease_until = now() + make_interval(secs => %(lease)s)
               FROM picked WHERE i.id = picked.id
                   RETURNING i.id, i.output_id, i.criterion_id, i.rival_id),
           lost AS (
               SELECT count(*) FILTER (WHERE state = 'leased') AS leases,
                   array_agg(DISTINCT leased_by) FILTER (WHERE state = 'leased') AS workers,
                   count(*) FILTER (WHERE attempts >= %(most_lost)s) AS failed
               FROM free)
           {_COLUMNS}, lost.leases, lost.workers, lost.failed
           FROM lost LEFT JOIN (leased i {_TEXTS}) ON TRUE ORDER BY i.id""",
        {
            "run": run_id,
            "after": after_id,
            "most": most,
            "worker": worker,
            "lease": LEASE_SECONDS,
            "lost": Reason.WORKER_LOST,
            "most_lost": MOST_LOST_WORKERS,
        },
    )
    _log_lost(run_id, *rows[0][-3:])
    return _claimed([row[:-3] for row in rows if row[0] is not None])


def answered_item(run_id: int) -> ClaimedItem | None:
    """Return an item of a run that the endpoint has answered; None if there is none."""
    selected = fetch_rows(
        f"""{_COLUMNS} FROM evaluations_runitem i {_TEXTS}
            WHERE i.run_id = %s AND i.state = 'done' AND i.reply_id IS NOT NULL
            ORDER BY i.id LIMIT 1""",
        [run_id],
    )
    rows = _claimed(selected)
    return rows[0] if rows else None


def _log_lost(run_id: int, leases: int, workers: list[str] | None, failed: int) -> None:
    """Log one line for items taken over from lost workers, and one for items that failed because of
    them."""
    count_lost(run_id, leases=leases, failed=failed, reason=str(Reason.WORKER_LOST))
    if leases:
        transaction.on_commit(
            lambda: log.warning("lease lost", run=run_id, count=leases, lost_workers=workers)
        )
    if failed:
        reasons = {str(Reason.WORKER_LOST): failed}
        transaction.on_commit(
            lambda: log.warning("items failed", run=run_id, count=failed, reasons=reasons)
        )


def _claimed(rows: Sequence[tuple[Any, ...]]) -> list[ClaimedItem]:
    return [
        ClaimedItem(
            item,
            output,
            criterion,
            Texts(
                source,
                text,
                context,
                tuple(orjson.loads(references)),
                rival_text or "",
                turns_from(orjson.loads(around)[:before]) if around else (),
                turns_from(orjson.loads(own)),
                turns_from(orjson.loads(of_rival)),
            ),
            rival,
        )
        for (
            item, output, criterion, rival, source, text, context, references, rival_text, around,
            before, own, of_rival,
        ) in rows
    ]  # fmt: skip


def renew_leases(item_ids: Sequence[int], worker: str) -> None:
    """Renew the leases of this worker's items."""
    if item_ids:
        execute_sql(
            """UPDATE evaluations_runitem SET lease_until = now() + make_interval(secs => %s)
               WHERE id = ANY(%s) AND leased_by = %s AND state = 'leased'""",
            [LEASE_SECONDS, list(item_ids), worker],
        )


def items_with_texts(which: Sequence[tuple[int, int | None, int | None]]) -> list[ClaimedItem]:
    """Return items that have no rows yet, from (output, criterion, rival), in the given order."""
    columns = [list(column) for column in zip(*which, strict=True)] or [[], [], []]
    rows = fetch_rows(
        f"""{_COLUMNS} FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY
                AS i(output_id, criterion_id, rival_id, id)
            {_TEXTS} ORDER BY i.id""",
        columns,
    )
    return _claimed(rows)


def batch_items(batch_id: int) -> list[ClaimedItem]:
    """Return the items of a batch that is at the endpoint."""
    rows = fetch_rows(
        f"""{_COLUMNS} FROM evaluations_runitem i {_TEXTS}
           WHERE i.batch_id = %s AND i.state = 'sent' ORDER BY i.id""",
        [batch_id],
    )
    return _claimed(rows)


def lease_batch(batch_id: int, worker: str) -> list[ClaimedItem]:
    """Lease the items of a batch whose results have arrived, to store them."""
    rows = fetch_rows(
        f"""WITH leased AS (
               UPDATE evaluations_runitem SET state = 'leased', leased_by = %(worker)s,
                      lease_until = now() + make_interval(secs => %(lease)s)
               WHERE batch_id = %(batch)s AND state = 'sent'
                   RETURNING id, output_id, criterion_id, rival_id)
           {_COLUMNS} FROM leased i {_TEXTS} ORDER BY i.id""",
        {"batch": batch_id, "worker": worker, "lease": 10 * LEASE_SECONDS},
    )
    return _claimed(rows)


def give_back(run_id: int, worker: str) -> None:
    """Release the items that this worker holds and will not judge, without counting an attempt."""
    held = RunItem.objects.filter(run_id=run_id, state=ItemState.LEASED, leased_by=worker)
    held.update(
        state=ItemState.PENDING,
        leased_by="",
        lease_until=None,
        attempts=Greatest(F("attempts") - 1, 0),
    )


@transaction.atomic
def claim_within_budget(
    run_id: int, worker: str, *, most: int, after_id: int = 0
) -> tuple[list[ClaimedItem], bool]:
    """Claim what the run's budget and the month's money allow, reserving the highest possible cost
    of the items in progress.

    Returns:
        The items, and whether the budget withholds items.
    """
    # The row lock makes workers count the money one at a time.
    run = EvaluationRun.objects.select_for_update().get(pk=run_id)
    each, spent = run.frozen.most_each, run.cost
    if run.budget is not None and spent is not None and each:
        in_work = run.items_by_state()[ItemState.LEASED]
        most = min(most, int((run.budget - spent) / each) - in_work)
    if each and (left := money_left(run.project)) is not None:
        most = min(most, int(left / each))
    if most < 1:
        return [], RunItem.objects.filter(run_id=run_id).claimable().exists()
    return claim(run_id, worker, most=most, after_id=after_id), False


def release_lost(run_id: int) -> bool:
    """Release the items of lost workers, for which money is set aside; return whether there are
    any."""
    leased = RunItem.objects.filter(run_id=run_id, state=ItemState.LEASED)
    lost = leased.claimable().update(state=ItemState.PENDING, leased_by="", lease_until=None)
    _log_lost(run_id, lost, None, 0)
    return lost > 0


def is_being_worked_on(run_id: int) -> bool:
    """Whether any worker holds an item of the run."""
    return RunItem.objects.filter(run_id=run_id).held().exists()
