"""Choose the next messages: a few per project, so that slow receivers delay no others."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from evaluations.models import WebhookDelivery

# Longer than an attempt may take: after this, the worker has died, and the attempt still counts.
LEASE = timedelta(seconds=60)
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


def claim_deliveries() -> list[WebhookDelivery]:
    """Claim due messages for one attempt each. The attempt is counted now, even if it kills its
    worker."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(_TAKE, _bounds())
        taken = [pk for (pk,) in cursor.fetchall()]
    return list(WebhookDelivery.objects.filter(pk__in=taken).select_related("webhook__project"))


def can_send_more() -> bool:
    """Whether messages are due and within the limits."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS ({_CHOSEN})", _bounds())
        return bool(cursor.fetchone()[0])


def _bounds() -> dict[str, Any]:
    now = timezone.now()
    return {
        "now": now,
        "until": now + LEASE,
        "each": settings.WEBHOOKS_AT_ONCE_EACH,
        "all": settings.WEBHOOKS_AT_ONCE,
    }
