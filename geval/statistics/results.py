"""What a statistic gives: a value, or the reason why it has none. Never NaN."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A statistic's value, or None with a reason in words."""

    value: float | None
    reason: str = ""

    @staticmethod
    def undefined(reason: str) -> "Estimate":
        return Estimate(None, reason)
