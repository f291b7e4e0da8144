"""Deliver due messages: a few per project, so that slow receivers delay no others, within ten
seconds each, retried for a day, without redirects.

Many are sent at the same time, and a failure of one does not affect the others. They are signed
according to Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
"""

import asyncio
import base64
import datetime
import hashlib
import hmac
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluations.models import CountedEvent, WebhookDelivery
from evaluations.models.sealing import SealError, unseal
from evaluations.people.counting import count_events
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.network import checked_session
from geval_site.sql import execute_sql, fetch_rows, fetch_value

# Longer than an attempt may take: after this, the worker has died, and the attempt still counts.
LEASE = datetime.timedelta(seconds=60)
# Any constant: messages are claimed under this lock, so that workers share one limit.
_LOCK = 0x77656268
_FREE = """
    SELECT d.id, row_number() OVER (PARTITION BY w.project_id ORDER BY d.next_at, d.id)
         + (SELECT count(*) FROM evaluations_webhookdelivery busy
            JOIN evaluations_webhook its ON its.id = busy.webhook_id
            WHERE its.project_id = w.project_id
                AND busy.sending_until > %(now)s) AS place, d.next_at
    FROM evaluations_webhookdelivery d JOIN evaluations_webhook w ON w.id = d.webhook_id
    WHERE d.state = 'waiting' AND d.next_at <= %(now)s AND (d.sending_until IS NULL
        OR d.sending_until <= %(now)s)
"""
_BUSY = "SELECT count(*) FROM evaluations_webhookdelivery WHERE sending_until > %(now)s"
_CHOSEN = f"""
    SELECT id FROM ({_FREE}) AS free WHERE place <= %(each)s ORDER BY place, next_at
    LIMIT greatest(0, %(all)s - ({_BUSY}))
"""
_TAKE = f"""
    UPDATE evaluations_webhookdelivery SET sending_until = %(until)s, attempts = attempts + 1
    WHERE id IN ({_CHOSEN}) RETURNING id
"""
SIGNING_PREFIX = "whsec_"
TIMEOUT_SECONDS = 10
# The delay before each further attempt, as Standard Webhooks recommends; after the last, none
# follows.
RETRY_SECONDS = (5, 300, 1800, 7200, 18_000, 36_000, 50_400)
log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class DeliveryOutcome:
    """The outcome of one attempt, in words for the page."""

    delivery: WebhookDelivery
    taken: bool
    answer: str
    reason: str = ""  # for the log: `answer` may quote the address or the receiver


def send_due() -> int:
    """Send some of the due messages; return how many their receivers accepted."""
    outcomes = asyncio.run(_send_all(claim_deliveries()))
    for outcome in outcomes:
        _note(outcome)
    return sum(outcome.taken for outcome in outcomes)


async def _send_all(deliveries: Sequence[WebhookDelivery]) -> list[DeliveryOutcome]:
    return list(await asyncio.gather(*map(_send, deliveries)))


async def _send(delivery: WebhookDelivery) -> DeliveryOutcome:
    """Make one attempt; every failure is an outcome."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            url = delivery.webhook.url
            # A name lookup blocks; the other messages continue in the meantime.
            await asyncio.to_thread(
                check_address, url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS
            )
            secret = unseal(delivery.webhook.sealed_secret)
            status = await _post(delivery, secret, int(timezone.now().timestamp()))
        return DeliveryOutcome(
            delivery, 200 <= status < 300, f"status {status}", f"status {status}"
        )
    except TimeoutError:
        late = f"no answer within {TIMEOUT_SECONDS} seconds"
        return DeliveryOutcome(delivery, False, late, late)
    except (ForbiddenAddressError, SealError, aiohttp.ClientError, OSError, ValueError) as error:
        kind = type(error).__name__
        return DeliveryOutcome(delivery, False, str(error) or kind, kind)
    except Exception as error:
        log.exception("unexpected error of a webhook", delivery=delivery.pk)
        unexpected = f"unexpected error ({type(error).__name__})"
        return DeliveryOutcome(delivery, False, unexpected, unexpected)


def _note(outcome: DeliveryOutcome) -> None:
    """Store the outcome of an attempt, unless the message or its webhook has been removed."""
    delivery, state, next_at = outcome.delivery, WebhookDelivery.State.WAITING, timezone.now()
    if outcome.taken:
        state = WebhookDelivery.State.DELIVERED
    elif delivery.attempts > len(RETRY_SECONDS):
        state = WebhookDelivery.State.GIVEN_UP
    else:
        wait = RETRY_SECONDS[delivery.attempts - 1] * random.uniform(1, 1.1)  # noqa: S311 (no secret: spread in time)
        next_at += datetime.timedelta(seconds=wait)
    # If this attempt took too long, another may have begun, whose outcome then counts.
    attempt = WebhookDelivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts)
    attempt.update(state=state, next_at=next_at, answer=outcome.answer[:300], sending_until=None)
    sent = "failed" if state == WebhookDelivery.State.WAITING else state.value
    count_events(CountedEvent.WEBHOOKS, {sent: 1})
    if not outcome.taken:
        log.warning(
            "webhook failed",
            project=delivery.webhook.project.slug,
            webhook=delivery.webhook_id,
            delivery=delivery.pk,
            host=urlsplit(delivery.webhook.url).hostname,
            attempt=delivery.attempts,
            given_up=state == WebhookDelivery.State.GIVEN_UP,
            reason=outcome.reason,
        )


async def _post(delivery: WebhookDelivery, secret: str, timestamp: int) -> int:
    message_id = f"msg_{delivery.message_id.hex}"
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "geval_site",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, message_id, timestamp, delivery.body),
    }
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with (
        checked_session(allow_private=settings.ALLOW_PRIVATE_ENDPOINTS, timeout=timeout) as session,
        session.post(
            delivery.webhook.url,
            data=delivery.body.encode(),
            headers=headers,
            allow_redirects=False,
        ) as got,
    ):
        return got.status


def claim_deliveries() -> list[WebhookDelivery]:
    """Claim due messages for one attempt each. The attempt is counted now, even if it kills its
    worker."""
    with transaction.atomic():
        execute_sql("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        taken = [pk for (pk,) in fetch_rows(_TAKE, _claim_parameters())]
    return list(WebhookDelivery.objects.filter(pk__in=taken).select_related("webhook__project"))


def can_send_more() -> bool:
    """Whether messages are due and within the limits."""
    return bool(fetch_value(f"SELECT EXISTS ({_CHOSEN})", _claim_parameters()))


def _claim_parameters() -> dict[str, Any]:
    now = timezone.now()
    return {
        "now": now,
        "until": now + LEASE,
        "each": settings.WEBHOOKS_AT_ONCE_EACH,
        "all": settings.WEBHOOKS_AT_ONCE,
    }


def new_secret() -> str:
    """A new secret of 24 random bytes."""
    return SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: str) -> str:
    """The value of the header `webhook-signature`: HMAC-SHA256 over id, time (in seconds) and
    body."""
    key = base64.b64decode(secret.removeprefix(SIGNING_PREFIX))
    signed = hmac.new(key, f"{message_id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"
