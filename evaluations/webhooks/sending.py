"""Sending messages that are due: each signed, at most ten seconds long, tried again over a day, never redirected."""

import asyncio
import datetime
import random

import aiohttp
from django.conf import settings
from django.utils import timezone

from evaluations.judging.addresses import ForbiddenAddressError, check_address
from evaluations.judging.network import checked_session
from evaluations.models import WebhookDelivery
from evaluations.webhooks.signing import signature
from geval_site.sealing import SealError, unseal

TIMEOUT_SECONDS = 10
# After which time each further attempt is made, as Standard Webhooks recommends; then the message is given up.
RETRY_SECONDS = (5, 300, 1800, 7200, 18_000, 36_000, 50_400)
LEASE_SECONDS = 60


def send_due() -> int:
    """Send every message that is due; returns how many were taken by their receivers."""
    return sum(send_delivery(pk) for pk in WebhookDelivery.objects.due().values_list("pk", flat=True)[:100])


def send_delivery(delivery_id: int) -> bool:
    """Send one message, if nobody else does; whether its receiver took it."""
    now = timezone.now()
    # Whoever moves the time sends; if they die, it is due again.
    mine = WebhookDelivery.objects.due().filter(pk=delivery_id)
    if not mine.update(next_at=now + datetime.timedelta(seconds=LEASE_SECONDS)):
        return False
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=delivery_id)
    delivery.attempts += 1
    try:
        check_address(delivery.webhook.url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        secret = unseal(delivery.webhook.sealed_secret)
        status = asyncio.run(_post(delivery, secret, int(now.timestamp())))
        delivery.answer = f"status {status}"
        taken = 200 <= status < 300
    except (ForbiddenAddressError, SealError) as error:
        delivery.answer, taken = str(error)[:300], False
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        delivery.answer, taken = (str(error) or type(error).__name__)[:300], False
    _note(delivery, taken=taken)
    return taken


def _note(delivery: WebhookDelivery, *, taken: bool) -> None:
    if taken:
        delivery.state = WebhookDelivery.State.DELIVERED
    elif delivery.attempts > len(RETRY_SECONDS):
        delivery.state = WebhookDelivery.State.GIVEN_UP
    else:
        wait = RETRY_SECONDS[delivery.attempts - 1] * random.uniform(1, 1.1)  # noqa: S311 (no secret: spread in time)
        delivery.next_at = timezone.now() + datetime.timedelta(seconds=wait)
    delivery.save(update_fields=["state", "attempts", "next_at", "answer"])


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
        session.post(delivery.webhook.url, data=delivery.body.encode(), headers=headers, allow_redirects=False) as got,
    ):
        return got.status
