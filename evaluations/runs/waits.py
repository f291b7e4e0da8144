"""What a run's calls wait for, as its page shows it."""

import datetime
from dataclasses import dataclass

# A shorter wait is over before anybody reads of it.
SHOWN_WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class Wait:
    """Until when calls wait, and after what the endpoint said."""

    until: datetime.datetime | None = None
    reason: str = ""
