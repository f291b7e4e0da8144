"""Counters in the database, shared by all processes: of events, for `operations/metrics.py`, and of
a project's cost in a month, for its limit.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.db import transaction

from evaluations.models import CountedEvent, EvaluationRun
from evaluations.models.limits import this_month
from geval.llm.cost import cost
from geval.llm.parsing import Failure
from geval.llm.run_parameters import RunParameters
from geval_site.sql import execute_sql

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
    execute_sql(_ADD, [event.value, judge, list(counts), list(counts.values())])


def count_money(
    run_id: int, prompt_tokens: int, completion_tokens: int, *, cached_tokens: int = 0
) -> None:
    """Add the cost of a run's calls to its project's month; nothing for a judge without prices."""
    run = EvaluationRun.objects.filter(pk=run_id).with_prices("project_id").first()
    if run is None:
        return
    prices = RunParameters.from_json(run).prices
    money = cost(prompt_tokens, completion_tokens, prices, cached_tokens=cached_tokens)
    add_money(run["project_id"], money)


def add_money(project_id: int, money: Decimal | None) -> None:
    """Add the cost of calls to a project's month; nothing if it is unknown."""
    if not money:
        return
    execute_sql(
        """INSERT INTO evaluations_monthlyspending AS s (project_id, month, money)
           VALUES (%s, %s, %s)
           ON CONFLICT (project_id, month) DO UPDATE SET money = s.money + excluded.money""",
        [project_id, this_month(), money],
    )
