"""The result of a statistic: a value, or the reason why it is undefined. Never NaN."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A statistic's value, or None with a reason."""

    value: float | None
    reason: str = ""

    @staticmethod
    def undefined(reason: str) -> "Estimate":
        return Estimate(None, reason)
