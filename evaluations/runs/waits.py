"""What a run's calls wait for, as its page shows it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.utils import timezone

# A shorter wait is over before anybody reads of it.
SHOWN_WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class Wait:
    """Until when calls wait, and after what the endpoint said."""

    until: datetime.datetime | None = None
    reason: str = ""

    @classmethod
    def of(cls, seconds: float, reason: str) -> Wait:
        """A wait that begins now."""
        return cls(timezone.now() + datetime.timedelta(seconds=seconds), reason)

    def outlasts(self, other: Wait) -> bool:
        """Whether it ends later than another one."""
        return self.until is not None and (other.until is None or self.until > other.until)
