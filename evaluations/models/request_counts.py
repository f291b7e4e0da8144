"""How many requests each sender has made, over all web processes."""

from __future__ import annotations

import time

from django.db import connection, models

# One statement, so that processes that ask at once wait for each other for its duration alone. A
# process with a slow clock counts in the window that the others are in.
TAKE = """
    INSERT INTO evaluations_requestcount AS counted (sender, ends_at, taken) VALUES (%s, %s, %s)
    ON CONFLICT (sender) DO UPDATE SET
        taken = CASE WHEN counted.ends_at < excluded.ends_at
            THEN excluded.taken ELSE counted.taken + excluded.taken END,
        ends_at = greatest(counted.ends_at, excluded.ends_at)
    RETURNING taken, ends_at
"""


class RequestCountQuerySet(models.QuerySet["RequestCount"]):
    def take(self, sender: str, *, share: int, ends_at: int) -> tuple[int, int]:
        """Count some requests of a sender; what is counted so far, and when that window ends."""
        with connection.cursor() as cursor:
            cursor.execute(TAKE, [sender, ends_at, share])
            taken, ends = cursor.fetchone()
            return int(taken), int(ends)

    def ended(self) -> RequestCountQuerySet:
        """Counts of windows that are over."""
        return self.filter(ends_at__lt=int(time.time()))


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
