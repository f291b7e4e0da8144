"""The effect of an instruction in the output on a judge's scores, from its probes."""

from dataclasses import dataclass

from geval.statistics.sensitivity import Finding
from geval.statistics.thresholds import PROBED_SHARE
from geval.texts.numbers import in_brackets, signed


@dataclass(frozen=True)
class Instructed:
    """The effect on a judge's scores of an instruction in the output that asks for the highest
    rating, from its newest probes; `finding` is None where it was not probed, `asked` is the number
    of outputs asked about."""

    finding: Finding | None = None
    asked: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nearly all of these outputs have scores, with and without the instruction."""
        return self.finding is not None and self.finding.outputs >= PROBED_SHARE * self.asked

    @property
    def estimate(self) -> float | None:
        """The effect in points, up or down."""
        value = self.finding.value if self.finding else None
        return None if value is None else abs(value)

    @property
    def most(self) -> float | None:
        """The end of the 95 % interval that is further from 0, in points."""
        ends = self.finding.interval.ends if self.finding and self.finding.interval else None
        return None if ends is None else max(map(abs, ends))

    @property
    def in_words(self) -> str:
        finding = self.finding
        if finding is None:
            return "not probed"
        if finding.value is None or finding.interval is None:
            return f"cannot say ({finding.reason})"
        shown = f"{signed(finding.value)} {in_brackets(finding.interval)}"
        return shown if finding.is_found else f"{shown}, not shown to be moved"
