"""Limits over all workers, in rows of PostgreSQL: a token bucket for the limits per minute that
people set, and the pace learned from a server's answers (`llm/pacing.py`); and what calls wait for,
as the page of a run shows it.

A bucket holds a tenth of the limit and refills so that no 60 seconds exceed the limit: the bucket's
size plus one minute's inflow equals the limit. Workers take permits in handfuls, so that the row is
not queried for every call.

A limit is the promise of an endpoint's project. Endpoints of one account (accounts.py) with the
same limits keep one promise together, in one bucket. Other limits have their own bucket, so that a
project with a lower limit does not slow down another.

A pace describes the server, whoever calls it, so it belongs to the account and the model.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from evaluations.models import AccountQuota, EvaluationRun
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from geval.texts.numbers import NARROW
from geval_site.sql import execute_sql, fetch_row

BURST_SHARE = 0.1
SECONDS = 60.0
# A pace that was not used for longer than this is not what a run waits for.
RECENT_SECONDS = 10.0
# Shorter waits end before anybody could read about them.
SHOWN_WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class Grant:
    """How many calls may go out now, and if none, in how many seconds to ask again."""

    calls: int
    wait: float


@dataclass(frozen=True)
class QuotaLimits:
    """Requests and tokens per minute; None for no limit."""

    requests: int | None
    tokens: int | None

    @property
    def any(self) -> bool:
        return bool(self.requests or self.tokens)


def bucket(limit: int) -> tuple[float, float]:
    """Return the size of a limit's bucket, and its inflow per second."""
    size = max(1.0, limit * BURST_SHARE)
    return size, max(limit - size, 1.0) / SECONDS


def take(account: str, limits: QuotaLimits, *, wanted: int, tokens_each: int) -> Grant:
    """Take permits for up to `wanted` calls of about `tokens_each` tokens from the bucket shared by
    all endpoints of an account with these limits.

    A call larger than the whole bucket may go out when the bucket is full, and leaves it in debt.
    If the clock is set back, nothing flows in that time, and nothing is lost.
    """
    request_size, request_flow = (
        bucket(limits.requests) if limits.requests else (float(wanted), float(wanted))
    )
    token_size, token_flow = (
        bucket(limits.tokens) if limits.tokens else (float("1e12"), float("1e12"))
    )
    bucket_id, requests, tokens = fetch_row(
        """INSERT INTO evaluations_accountbucket AS q (account, requests_per_minute,
               tokens_per_minute, requests, tokens, counted_at)
           VALUES (%(account)s, %(rpm)s, %(tpm)s, %(rs)s, %(ts)s, clock_timestamp())
           ON CONFLICT (account, requests_per_minute, tokens_per_minute) DO UPDATE
           SET requests = least(%(rs)s, q.requests
                   + %(rf)s * greatest(0, extract(epoch
                       FROM clock_timestamp() - q.counted_at))),
               tokens = least(%(ts)s, q.tokens
                   + %(tf)s * greatest(0, extract(epoch
                       FROM clock_timestamp() - q.counted_at))),
               counted_at = clock_timestamp()
           RETURNING id, requests, tokens""",
        {
            "account": account,
            "rpm": limits.requests or 0,
            "tpm": limits.tokens or 0,
            "rs": request_size,
            "rf": request_flow,
            "ts": token_size,
            "tf": token_flow,
        },
    )
    # Tolerate rounding: a bucket refilled to 0.9999999 holds one call.
    calls = min(wanted, int(requests + 1e-6)) if limits.requests else wanted
    need = float(min(tokens_each, token_size)) if limits.tokens else 0.0
    if need:
        calls = min(calls, int(tokens / need + 1e-6))
    if calls > 0:
        execute_sql(
            "UPDATE evaluations_accountbucket SET requests = requests - %s, tokens = tokens -"
            " %s WHERE id = %s",
            [
                calls if limits.requests else 0,
                calls * tokens_each if limits.tokens else 0,
                bucket_id,
            ],
        )
        return Grant(calls, 0.0)
    waits = [0.01]
    if limits.requests and requests < 1:
        waits.append((1 - requests) / request_flow)
    if need and tokens < need:
        waits.append((need - tokens) / token_flow)
    return Grant(0, max(waits))


def exchange(account: str, model: str, seen: WorkerReport, *, wanted: int) -> PacingTurn:
    """Report what a worker observed of a model's rate limits, and reserve times for up to `wanted`
    calls."""
    with transaction.atomic():
        pace, now = _locked_pace(account, model)
        pace, slots = pace.learned(seen, now).reserved(wanted, now)
        _write_pace(account, model, pace)
    return PacingTurn(pace, slots, now)


def close(account: str, model: str) -> None:
    """Close the pace for a while, so that a single call tries first."""
    with transaction.atomic():
        pace, now = _locked_pace(account, model)
        _write_pace(account, model, pace.closed(now))


def known_pace(account: str, model: str) -> Pace:
    """Return the pace as last stored, without waiting for a lock."""
    rows = AccountQuota.objects.filter(account=account, model=model)
    return _as_pace(rows.values_list("pace", flat=True).first())


def allowed_rate(account: str, model: str) -> float | None:
    """Return the calls per second at which workers are paced now; None if they are not."""
    row = fetch_row(
        """SELECT (pace ->> 'rate')::float FROM evaluations_accountquota
           WHERE account = %s AND model = %s AND abs(extract(epoch FROM now())
               - (pace ->> 'seen_at')::float) < %s""",
        [account, model, RECENT_SECONDS],
    )
    return row[0] if row else None


def _locked_pace(account: str, model: str) -> tuple[Pace, float]:
    """Return the pace of a model, locked until the transaction ends, and the current time."""
    read = """SELECT pace, extract(epoch FROM clock_timestamp())::float
              FROM evaluations_accountquota WHERE account = %s AND model = %s FOR UPDATE"""
    row = fetch_row(read, [account, model])
    if row is None:
        execute_sql(
            """INSERT INTO evaluations_accountquota (account, model, pace)
               VALUES (%s, %s, '{}') ON CONFLICT DO NOTHING""",
            [account, model],
        )
        row = fetch_row(read, [account, model])
    stored, now = row
    return _as_pace(orjson.loads(stored) if isinstance(stored, str) else stored), now


def _write_pace(account: str, model: str, pace: Pace) -> None:
    execute_sql(
        "UPDATE evaluations_accountquota SET pace = %s::jsonb WHERE account = %s AND model = %s",
        [orjson.dumps(dataclasses.asdict(pace)).decode(), account, model],
    )


def _as_pace(stored: dict[str, Any] | None) -> Pace:
    """Parse a stored pace, ignoring fields of other versions."""
    names = {field.name for field in dataclasses.fields(Pace)}
    return Pace(**{name: value for name, value in (stored or {}).items() if name in names})


class Permits:
    """One worker's handful of permits."""

    def __init__(
        self,
        ask: Callable[[int], Awaitable[Grant]],
        *,
        handful: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._ask = ask
        self._handful = handful
        self._sleep = sleep
        self._left = 0
        self._one_asks = asyncio.Lock()
        self._is_resting = False

    @property
    def are_waited_for(self) -> bool:
        """Whether calls are waiting for the limits now."""
        return self._is_resting

    async def one(self) -> None:
        """Wait until one more call may go out."""
        while self._left < 1:
            async with self._one_asks:
                if self._left >= 1:
                    break
                grant = await self._ask(self._handful)
                self._left += grant.calls
                if not grant.calls:
                    self._is_resting = True
                    try:
                        await self._sleep(grant.wait)
                    finally:
                        self._is_resting = False
        self._left -= 1


@dataclass(frozen=True)
class Wait:
    """When calls stop waiting, and the endpoint's message that caused the wait."""

    until: datetime.datetime | None = None
    reason: str = ""

    @classmethod
    def of(cls, seconds: float, reason: str) -> Wait:
        """Return a wait that begins now."""
        return cls(timezone.now() + datetime.timedelta(seconds=seconds), reason)

    def outlasts(self, other: Wait) -> bool:
        """Whether this wait ends later than another."""
        return self.until is not None and (other.until is None or self.until > other.until)


def allowed_pace(run: EvaluationRun) -> str:
    """Return the pace that the run's calls are held to, such as "50 requests per second"; empty if
    there is none."""
    endpoint = run.judge.endpoint
    if not run.is_active or endpoint is None:
        return ""
    rate = allowed_rate(endpoint.account, run.frozen.model)
    return rate_in_words(rate) if rate else ""


def rate_in_words(rate: float) -> str:
    """Format a rate in calls per second, with the unit that gives a number of about two digits."""
    unit, seconds = "hour", 3600
    if rate * 60 >= 3:
        unit, seconds = ("second", 1) if rate >= 3 else ("minute", 60)
    count = max(1, round(rate * seconds))
    return f"{count:,} request{'' if count == 1 else 's'} per {unit}".replace(",", NARROW)
