"""Count the requests of each sender over all web processes."""

from __future__ import annotations

import zlib

from django.db import connection, models
from django.db.models.functions import Cast, Extract, Now

NOW = "floor(extract(epoch FROM clock_timestamp()))::bigint"
# A single statement, so that concurrent processes wait only for its duration. The database's clock
# counts: otherwise a machine with a fast clock would open a window that ends too late for all. A
# window too far in the future for any correct clock does not count, nor does one that has ended.
TAKE = f"""
    INSERT INTO evaluations_requestcount AS counted (sender, ends_at, taken)
    SELECT %(sender)s, now - mod(now - %(shift)s, %(seconds)s) + %(seconds)s, %(share)s
    FROM (SELECT {NOW} AS now) AS clock
    ON CONFLICT (sender) DO UPDATE SET
        taken = excluded.taken + CASE
            WHEN counted.ends_at BETWEEN excluded.ends_at AND excluded.ends_at + %(seconds)s
            THEN counted.taken ELSE 0 END,
        ends_at = CASE
            WHEN counted.ends_at BETWEEN excluded.ends_at AND excluded.ends_at + %(seconds)s
            THEN counted.ends_at ELSE excluded.ends_at END
    RETURNING taken, ends_at - extract(epoch FROM clock_timestamp())::double precision
"""


class RequestCountQuerySet(models.QuerySet["RequestCount"]):
    def take(self, sender: str, *, share: int, seconds: int) -> tuple[int, float]:
        """Count some requests of a sender. Return the count so far in the current window of this
        many seconds, and the seconds left in it."""
        # Stagger the ends of different senders' windows.
        shift = zlib.crc32(sender.encode()) % seconds
        values: dict[str, str | int] = {
            "sender": sender,
            "share": share,
            "seconds": seconds,
            "shift": shift,
        }
        with connection.cursor() as cursor:
            cursor.execute(TAKE, values)
            taken, left = cursor.fetchone()
            return int(taken), float(left)

    def ended(self) -> RequestCountQuerySet:
        """Return counts of windows that are over."""
        now = Cast(Extract(Now(), "epoch"), models.BigIntegerField())
        return self.filter(ends_at__lt=now)


class RequestCount(models.Model):
    """The requests of one sender at one rate in the window that ends at a second of the epoch."""

    sender = models.CharField(
        max_length=64, primary_key=True, help_text="A digest of it and the rate."
    )
    ends_at = models.BigIntegerField()
    taken = models.BigIntegerField()

    objects = RequestCountQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=("ends_at",), name="request_counts_ended"),)

    def __str__(self) -> str:
        return f"count {self.sender}"
