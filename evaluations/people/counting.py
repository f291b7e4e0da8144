"""Count events in the database, shared by all processes; read by `operations/metrics.py`."""

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db import connection, transaction

from evaluations.models import CountedEvent, EvaluationRun
from geval.llm.parsing import Failure

_ADD = """
    INSERT INTO evaluations_eventcount (event, judge, reason, count)
    SELECT %s, %s, n.reason, n.count FROM unnest(%s::text[], %s::bigint[]) AS n(reason, count)
    ORDER BY n.reason
    ON CONFLICT (event, judge, reason)
        DO UPDATE SET count = evaluations_eventcount.count + excluded.count
"""


def count_events(event: CountedEvent, counts: Mapping[str, int], *, judge: int = 0) -> None:
    """Add to the counters of an event, by reason, once the transaction is committed."""
    kept = {reason: number for reason, number in counts.items() if number}
    # After the commit, so that workers wait for each other's counters only during this statement.
    if kept:
        transaction.on_commit(lambda: _add(event, kept, judge))


def count_items(judge: int, outcomes: Sequence[object]) -> None:
    """Count a judge's finished items: failed ones by reason, the others without."""
    reasons = (str(outcome.reason) if isinstance(outcome, Failure) else "" for outcome in outcomes)
    count_events(CountedEvent.ITEMS, Counter(reasons), judge=judge)


def count_lost(run_id: int, *, leases: int, failed: int, reason: str) -> None:
    """Count a run's items whose workers were lost, and those that failed because of it."""
    count_events(CountedEvent.LEASES_LOST, {"": leases})
    if failed:
        judge = EvaluationRun.objects.values_list("judge_id", flat=True).get(pk=run_id)
        count_events(CountedEvent.ITEMS, {reason: failed}, judge=judge)


def _add(event: CountedEvent, counts: Mapping[str, int], judge: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [event.value, judge, list(counts), list(counts.values())])
